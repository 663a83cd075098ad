"""What a page says of each table format of a run group apart, so that a choice is one within a format."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from reports.load import RunGroup
from reports.phrases import Sentence, Verbatim, joined, say
from reports.tables import Table


def format_name(group: RunGroup) -> str:
    """The format and the first two parts of its version, as people name it."""
    m = group.manifest
    short = ".".join(_version(group).split(".")[:2])
    return f"{m.format[:1].upper()}{m.format[1:]} {short}".strip()


def format_names(groups: Sequence[RunGroup]) -> Sentence:
    """All formats of the groups, each once."""
    names = dict.fromkeys(format_name(part) for group in groups for part in group.by_format)
    return joined([say(Verbatim(name)) for name in names])


def full_format_names(group: RunGroup) -> Sentence:
    """All formats of a group, as manifests name them, with their whole versions."""
    names = dict.fromkeys(f"{part.manifest.format} {_version(part)}".strip() for part in group.by_format)
    return joined([say(Verbatim(name)) for name in names])


def sentences_by_format(
    group: RunGroup, make: Callable[[RunGroup], tuple[Sentence, ...]]
) -> tuple[Sentence, ...]:
    """What there is to say of each format; where there are several, the first sentence names its format."""
    if len(group.by_format) == 1:
        return make(group)
    made = ((say(Verbatim(format_name(part)), ": "), make(part)) for part in group.by_format)
    return tuple(
        name + sentence if place == 0 else sentence
        for name, sentences in made
        for place, sentence in enumerate(sentences)
    )


def tables_by_format(group: RunGroup, make: Callable[[RunGroup], Table | None]) -> tuple[Table, ...]:
    """The table of each format that has one; where there are several, their titles are the formats."""
    made = [(part, table) for part in group.by_format if (table := make(part)) is not None]
    if len(group.by_format) == 1:
        return tuple(table for _, table in made)
    return tuple(replace(table, title=say(Verbatim(format_name(part)))) for part, table in made)


def _version(group: RunGroup) -> str:
    m = group.manifest
    return m.versions.get("format") or m.versions.get(m.format) or ""
