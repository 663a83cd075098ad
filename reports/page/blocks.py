"""What a section of a report is made of, apart from tables (`reports.page.tables`)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from reports.charts.registry import Chart
from reports.data.group import RunGroup
from reports.page.tables import Table
from reports.phrases import Sentence, Verbatim


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph: a headline, or a note in small type."""

    kind: ClassVar = "prose"
    text: Sentence
    style: Literal["headline", "note"] = "note"


@dataclass(frozen=True, slots=True)
class Listing:
    kind: ClassVar = "listing"
    lines: tuple[Sentence, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms, such as strategies or topics of the method, each with what it means."""

    kind: ClassVar = "terms"
    entries: tuple[tuple[str, str | Sentence], ...]
    style: Literal["strategies", "method"]


@dataclass(frozen=True, slots=True)
class Code:
    kind: ClassVar = "code"
    text: Verbatim
    title: Sentence | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart of a run group, or of one format of it, which `title` then names.

    `stem` names its files and contains no text from results.
    """

    kind: ClassVar = "picture"
    chart: Chart
    group: RunGroup
    title: Sentence
    stem: str
    finding: Sentence


Block = Prose | Listing | Terms | Code | Picture | Table
