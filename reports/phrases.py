"""Sentences of the report: our own words, with text from results kept separate until it is escaped.

Every part is escaped for HTML or Markdown when it is printed; `Verbatim` parts are also set as code, so that
a reader sees where a label begins and ends.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import Formatter

from bench.text import counted, human_ratio


class Verbatim(str):
    """Text from results (labels, errors, summaries), which may contain anything."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    parts: tuple[str, ...]

    def __add__(self, other: "Sentence") -> "Sentence":
        return Sentence(self.parts + other.parts)

    def __str__(self) -> str:
        return "".join(self.parts)


def say(*parts: str) -> Sentence:
    return Sentence(parts)


def sentence(template: str, **values: str | Sentence) -> Sentence:
    """The template with its fields, such as {strategy}, replaced by values; verbatim ones stay verbatim."""
    parts: list[str] = []
    for words, name, _, _ in Formatter().parse(template):
        value = values[name] if name else ""
        for part in (words, *(value.parts if isinstance(value, Sentence) else (value,))):
            if parts and not isinstance(part, Verbatim) and not isinstance(parts[-1], Verbatim):
                parts[-1] += part
            elif part:
                parts.append(part)
    return Sentence(tuple(parts))


def listed(labels: list[str]) -> Sentence:
    """Labels from results as "a", "a and b" or "a, b and c"."""
    return joined([say(Verbatim(label)) for label in labels])


def some_of(labels: Sequence[str], at_most: int) -> Sentence:
    """As `listed`, but of more labels than `at_most` only the first ones: "a, b and 7 more"."""
    more = len(labels) - at_most
    if more <= 0:
        return listed([*labels])
    return joined([*(say(Verbatim(label)) for label in labels[:at_most]), say(f"{more:,} more")])


def joined(sentences: list[Sentence]) -> Sentence:
    parts: tuple[str, ...] = ()
    for index, sentence in enumerate(sentences):
        between = () if index == 0 else (" and ",) if index == len(sentences) - 1 else (", ",)
        parts += between + sentence.parts
    return Sentence(parts)


def named_figures(start: str, figures: Iterable[tuple[str, str]]) -> Sentence:
    """A figure for each label, such as "At the end: never 3 s and amoro 1 s."; empty without any."""
    parts = [say(Verbatim(label), f" {figure}") for label, figure in figures]
    return say(start) + joined(parts) + say(".") if parts else say()


def spanned(figures: Iterable[tuple[str, float, str]]) -> Sentence:
    """The least and the greatest figure (label, value, text): "1 (a and 4 others) to 480 (never)"."""
    ranked = sorted(figures, key=lambda figure: figure[1])
    ends = dict.fromkeys(text for _, _, text in (*ranked[:1], *ranked[-1:]))
    return separated(" to ", [_who([label for label, _, text in ranked if text == end], end) for end in ends])


def _who(labels: list[str], text: str) -> Sentence:
    others = "" if len(labels) == 1 else f" and {counted(len(labels) - 1, 'other')}"
    return say(f"{text} (", Verbatim(labels[0]), f"{others})")


def separated(separator: str, sentences: list[Sentence]) -> Sentence:
    """Clauses one after the other, with a separator such as "; " between them."""
    first, *others = sentences
    return sum((say(separator) + other for other in others), start=first)


def format_range(low: float, high: float, between: str = " to ") -> str:
    """Both ends of an interval of a ratio, with a third digit where two digits would make them equal."""
    ends = (human_ratio(low).removesuffix("x"), human_ratio(high).removesuffix("x"))
    return between.join(ends if ends[0] != ends[1] else (f"{low:#.3g}", f"{high:#.3g}"))
