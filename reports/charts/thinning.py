"""Long lines with fewer points: more than a screen can show make a page heavy and a chart no better."""

import math

import pandas as pd

MOST_POINTS = 900  # of one line: about one and a half per pixel of a chart


def thinned(found: pd.DataFrame, value: str, most: int = MOST_POINTS) -> pd.DataFrame:
    """The rows of a line that show its shape: of each stretch the first, lowest, highest and last.

    Where there are columns `min` and `max`, each row that is kept has those of its whole stretch, so that a
    band never hides a value. Lines of at most `most` rows stay as they are.
    """
    if len(found) <= most:
        return found
    stretch = math.ceil(len(found) / (most // 4))
    parts = (found.iloc[start : start + stretch] for start in range(0, len(found), stretch))
    return pd.concat([_outline(part, value) for part in parts], ignore_index=True)


def _outline(part: pd.DataFrame, value: str) -> pd.DataFrame:
    known = part[value].dropna()
    extremes = [] if known.empty else [known.idxmin(), known.idxmax()]
    kept = part.loc[sorted({part.index[0], *extremes, part.index[-1]})]
    bounds = {name: getattr(part[name], name)() for name in ("min", "max") if name in part}
    return kept.assign(**bounds)
