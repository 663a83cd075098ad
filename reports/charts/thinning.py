"""Long lines with fewer points: more than a screen can show only make a page heavy."""

import math

import pandas as pd

MOST_POINTS = 900  # of one line: about one and a half per pixel of a chart


def thinned(line: pd.DataFrame, value: str, most: int = MOST_POINTS) -> pd.DataFrame:
    """The rows of a line that show its shape: of each stretch the first, lowest, highest and last.

    If columns `min` and `max` differ, each row has the extremes of its whole stretch, so that a band never
    hides a value. Lines of at most `most` rows stay as they are.
    """
    if len(line) <= most:
        return line
    stretch = math.ceil(len(line) / (most // 4))
    parts = (line.iloc[start : start + stretch] for start in range(0, len(line), stretch))
    has_band = {"min", "max"} <= set(line) and bool((line["min"] < line["max"]).any())
    return pd.concat([_outline(part, value, has_band) for part in parts], ignore_index=True)


def _outline(part: pd.DataFrame, value: str, has_band: bool) -> pd.DataFrame:
    known = part[value].dropna()
    extremes = [] if known.empty else [known.idxmin(), known.idxmax()]
    outline = part.loc[sorted({part.index[0], *extremes, part.index[-1]})]
    return outline.assign(min=part["min"].min(), max=part["max"].max()) if has_band else outline
