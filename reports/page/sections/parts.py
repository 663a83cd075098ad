"""Sections with an entry per part of a run group, since a policy is chosen within a part."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from reports.data.group import RunGroup
from reports.page.tables import Table
from reports.phrases import Sentence, Verbatim, joined, say


def format_name(group: RunGroup) -> str:
    """The format with major and minor version, such as "Iceberg 1.9"."""
    m = group.manifest
    short = ".".join(_version(group).split(".")[:2])
    title = m.format_title or f"{m.format[:1].upper()}{m.format[1:]}"  # older manifests have no title
    return f"{title} {short}".strip()


def part_name(part: RunGroup, group: RunGroup) -> str:
    """The format of a part of the group, with its variant where several parts have that format."""
    name, table_format = format_name(part), part.manifest.format
    is_alone = [other.manifest.format for other in group.parts].count(table_format) == 1
    return name if is_alone else f"{name}, variant {part.rows[0].variant}"


def format_names(groups: Sequence[RunGroup]) -> Sentence:
    names = dict.fromkeys(format_name(part) for group in groups for part in group.parts)
    return joined([say(Verbatim(name)) for name in names])


def full_format_names(group: RunGroup) -> Sentence:
    """All formats of a group, as manifests name them, with their full versions."""
    names = dict.fromkeys(f"{part.manifest.format} {_version(part)}".strip() for part in group.parts)
    return joined([say(Verbatim(name)) for name in names])


def sentences_by_part(
    group: RunGroup, make: Callable[[RunGroup], tuple[Sentence, ...]]
) -> tuple[Sentence, ...]:
    """The sentences of each part; if there are several parts, the first sentence names its part."""
    if len(group.parts) == 1:
        return make(group)
    by_part = ((say(Verbatim(part_name(part, group)), ": "), make(part)) for part in group.parts)
    return tuple(
        name + sentence if place == 0 else sentence
        for name, sentences in by_part
        for place, sentence in enumerate(sentences)
    )


def tables_by_part(group: RunGroup, make: Callable[[RunGroup], Table | None]) -> tuple[Table, ...]:
    """The table of each part that has one; if there are several parts, each is a table's title."""
    tables = [(part, table) for part in group.parts if (table := make(part)) is not None]
    if len(group.parts) == 1:
        return tuple(table for _, table in tables)
    return tuple(replace(table, title=say(Verbatim(part_name(part, group)))) for part, table in tables)


def _version(group: RunGroup) -> str:
    m = group.manifest
    return m.versions.get("format") or m.versions.get(m.format) or ""
