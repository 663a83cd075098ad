"""Sentences of the report: our own words, with text from results kept apart until it is escaped.

Every part is escaped for HTML or Markdown when it is shown; `Verbatim` parts are also set as code, so that
a reader sees where a label begins and ends.
"""

from dataclasses import dataclass

from reports.compare import Comparison
from reports.text import format_ratio


class Verbatim(str):
    """Text from results (labels, errors, summaries): anything may stand in it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """Parts that read as one sentence."""

    parts: tuple[str, ...]

    def __add__(self, other: "Sentence") -> "Sentence":
        return Sentence(self.parts + other.parts)

    def __str__(self) -> str:
        return "".join(self.parts)


@dataclass(frozen=True, slots=True)
class Relation:
    """How to say that one thing is more or less than another; `{}` takes the ratio."""

    more: str
    less: str
    same: str
    unclear: str


COST = Relation(
    "costs {} more {cost}",
    "costs {} less {cost}",
    "costs as much {cost}",
    "costs neither clearly more nor clearly less {cost}",
)
QUERIES = Relation(
    "queries are {} slower",
    "queries are {} faster",
    "queries are as fast",
    "queries are neither clearly slower nor clearly faster",
)


def say(*parts: str) -> Sentence:
    """A sentence of these parts."""
    return Sentence(parts)


def listed(labels: list[str]) -> Sentence:
    """Labels from results as "a", "a and b" or "a, b and c"."""
    return joined([say(Verbatim(label)) for label in labels])


def joined(sentences: list[Sentence]) -> Sentence:
    """Several parts of a sentence with commas and a last "and" between them."""
    parts: tuple[str, ...] = ()
    for index, sentence in enumerate(sentences):
        between = () if index == 0 else (" and ",) if index == len(sentences) - 1 else (", ",)
        parts += between + sentence.parts
    return Sentence(parts)


def claim(found: Comparison, relation: Relation, **words: str) -> tuple[str, str]:
    """What a comparison says and its proof in brackets: ("costs 6.1x less CPU", " (95 % interval ...)").

    A single pair of runs is told as it came out, and called undecided in the proof.
    """
    if found.ratio is None or (found.verdict == "undecided" and found.n > 1):
        return relation.unclear.format(**words), proof(found)
    if found.ratio == 1:
        return relation.same.format(**words), proof(found)
    way, ratio = (relation.more, found.ratio) if found.ratio > 1 else (relation.less, 1 / found.ratio)
    return way.format(format_ratio(ratio), **words), proof(found)


def proof(found: Comparison) -> str:
    """The interval behind a claim, turned round where the claim says "less"."""
    if found.method == "exact":
        return " (exact)"
    if found.ratio is None or found.low is None or found.high is None:
        return f" (undecided: {found.reason})"
    low, high = (1 / found.high, 1 / found.low) if found.verdict == "less" else (found.low, found.high)
    interval = f"95 % interval {format_range(low, high)}, n = {found.n}"
    undecided = f"undecided: ratio {format_ratio(found.ratio)}, "
    return f" ({undecided if found.verdict == 'undecided' else ''}{interval})"


def format_range(low: float, high: float, between: str = " to ") -> str:
    """Both ends of an interval of a ratio, with a third digit where two would show them as equal."""
    ends = [format_ratio(end).removesuffix("x") for end in (low, high)]
    return between.join(ends if ends[0] != ends[1] else [f"{low:#.3g}", f"{high:#.3g}"])
