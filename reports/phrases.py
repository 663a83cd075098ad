"""Sentences of the report: our own words, with text from results kept separate until it is escaped.

Every part is escaped for HTML or Markdown when it is printed; `Verbatim` parts are also set as code, so that
a reader sees where a label begins and ends.
"""

from dataclasses import dataclass

from bench.text import human_ratio
from reports.compare import Comparison


class Verbatim(str):
    """Text from results (labels, errors, summaries), which may contain anything."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """Parts that form one sentence."""

    parts: tuple[str, ...]

    def __add__(self, other: "Sentence") -> "Sentence":
        return Sentence(self.parts + other.parts)

    def __str__(self) -> str:
        return "".join(self.parts)


@dataclass(frozen=True, slots=True)
class Relation:
    """How to say that a figure is larger or smaller than another; `{}` takes the ratio."""

    more: str
    less: str
    same: str
    unclear: str


COST = Relation(
    "uses {} the {cost} of",
    "uses {} of the {cost} of",
    "uses exactly as much {cost} as",
    "does not differ significantly in {cost} from",
)
LATENCY = Relation(  # follows a claim about cost, which names the strategy compared with
    "at {} the mean query latency",
    "at {} of the mean query latency",
    "at the same mean query latency",
    "with no significant difference in mean query latency",
)
LATENCY_WITHOUT_COMPACTION = Relation(
    "is {} that with",
    "is {} of that with",
    "is the same as with",
    "does not differ significantly from that with",
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


def counted(number: int, singular: str, plural: str) -> str:
    """A number with its noun: "1 compaction", "1,440 compactions"."""
    return f"{number:,} {singular if number == 1 else plural}"


def claim(comparison: Comparison, relation: Relation, **words: str) -> str:
    """What a comparison says: "uses 6.1x the CPU of", or "uses 1/6.1 of the CPU of" below 1."""
    ratio = comparison.ratio
    if ratio is None or comparison.verdict == "undecided":
        return relation.unclear.format(**words)
    if comparison.verdict == "equal":
        return relation.same.format(**words)
    if ratio > 1:
        return relation.more.format(human_ratio(ratio), **words)
    return relation.less.format(f"1/{human_ratio(1 / ratio).removesuffix('x')}", **words)


def evidence(comparison: Comparison) -> str:
    """The interval behind a claim, in brackets; its ends are "1/7.2" where the claim says "1/6.1".

    A ratio without noise is exact, or modelled where both figures come from a cost model.
    """
    ratio, low, high = comparison.ratio, comparison.low, comparison.high
    if comparison.method in ("exact", "modelled"):
        return f" ({comparison.method})"
    if ratio is None or low is None or high is None:
        measured = "" if ratio is None else f"ratio {human_ratio(ratio)}, "
        return f" (undecided: {measured}{comparison.reason})"
    undecided = f"undecided: ratio {human_ratio(ratio)}, " if comparison.verdict == "undecided" else ""
    interval = _inverse_range(low, high) if comparison.verdict == "less" else format_range(low, high)
    return f" ({undecided}95 % CI {interval}, n = {comparison.n})"


def format_range(low: float, high: float, between: str = " to ") -> str:
    """Both ends of an interval of a ratio, with a third digit where two digits would make them equal."""
    return between.join(_ends(low, high))


def _inverse_range(low: float, high: float) -> str:
    smallest, largest = _ends(1 / high, 1 / low)
    return f"1/{largest} to 1/{smallest}"


def _ends(low: float, high: float) -> tuple[str, str]:
    ends = (human_ratio(low).removesuffix("x"), human_ratio(high).removesuffix("x"))
    return ends if ends[0] != ends[1] else (f"{low:#.3g}", f"{high:#.3g}")
