"""The stored rounds of `tools.executor_rounds`, and what pages say of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from pydantic import TypeAdapter

from bench.text import MISSING, human_bytes, human_ratio
from reports.verdicts.confidence import reach

FILE = Path(__file__).parent / "published" / "executor-rounds.json"


@dataclass(frozen=True, slots=True)
class Round:
    """CPU seconds of one round, those of Java's compiler included, and the most memory of Python in bytes."""

    cpu_s: float
    jit_cpu_s: float
    peak_bytes: int | None


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds of one size by what made them; the rounds of all kinds took turns.

    `other_cores` is the mean number of cores that other processes used meanwhile; None if it is not known.
    """

    command: str
    by_kind: Mapping[str, tuple[Round, ...]]
    other_cores: float | None = None

    @property
    def count(self) -> int:
        return min(map(len, self.by_kind.values()))

    def ms(self, kind: str) -> str:
        return f"{1000 * fmean(one.cpu_s for one in self.by_kind[kind]):,.0f}"

    def peak(self, kind: str) -> str:
        """The most memory of Python in any round, in which DuckDB works; a dash where it is not known."""
        peaks = [one.peak_bytes for one in self.by_kind[kind] if one.peak_bytes is not None]
        return human_bytes(max(peaks)) if peaks else MISSING

    def ratio(self, kind: str, other: str, *, has_jit: bool = True) -> str:
        """The mean CPU of a kind over that of another: "1.9x (1.8 to 2.0)" with the 95 % interval."""
        mine, theirs = (
            np.array([one.cpu_s - (0.0 if has_jit else one.jit_cpu_s) for one in self.by_kind[name]])
            for name in (kind, other)
        )
        low, middle, high = ratio_of_means(mine, theirs)
        return f"{human_ratio(middle)} ({low:.2g} to {high:.2g})"


def ratio_of_means(mine: np.ndarray, theirs: np.ndarray) -> tuple[float, float, float]:
    """The ratio of the means of paired values, between the ends of its interval.

    By the delta method on the logarithm, with Student's t: the variance of log(a / b) is about that of the
    mean of a_i / a - b_i / b.
    """
    count, middle = len(mine), float(mine.mean() / theirs.mean())
    spread = np.std(mine / mine.mean() - theirs / theirs.mean(), ddof=1) / np.sqrt(count)
    factor = float(np.exp(reach(count - 1) * spread))
    return middle / factor, middle, middle * factor


_STORED: TypeAdapter[dict[str, Rounds]] = TypeAdapter(dict[str, Rounds])


def stored_rounds() -> dict[str, Rounds]:
    """By files and rows of a file, such as "41x10"; empty if none are stored."""
    return _STORED.validate_json(FILE.read_bytes()) if FILE.exists() else {}


def store_rounds(size: str, rounds: Rounds) -> None:
    """Add the rounds of a size, or replace them."""
    FILE.write_bytes(_STORED.dump_json({**stored_rounds(), size: rounds}, indent=1) + b"\n")
