"""Sections with an entry per part of a run group, since a policy is chosen within a part."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from reports.data.formats import format_name, format_version, part_name
from reports.data.group import RunGroup
from reports.page.tables import Table
from reports.phrases import Sentence, Verbatim, joined, say


def format_names(groups: Sequence[RunGroup]) -> Sentence:
    names = dict.fromkeys(format_name(part) for group in groups for part in group.parts)
    return joined([say(Verbatim(name)) for name in names])


def full_format_names(group: RunGroup) -> Sentence:
    """All formats of a group, as manifests name them, with their full versions."""
    names = dict.fromkeys(f"{part.manifest.format} {format_version(part)}".strip() for part in group.parts)
    return joined([say(Verbatim(name)) for name in names])


def sentences_by_part(
    group: RunGroup, make: Callable[[RunGroup], tuple[Sentence, ...]]
) -> tuple[Sentence, ...]:
    """The sentences of each part, the first of which names it, and then those that all parts have."""
    if len(group.parts) == 1:
        return make(group)
    by_part = [(say(Verbatim(part_name(part, group)), ": "), make(part)) for part in group.parts]
    shared = [line for line in by_part[0][1] if all(line in lines for _, lines in by_part)]
    own = (
        name + line if place == 0 else line
        for name, lines in by_part
        for place, line in enumerate(line for line in lines if line not in shared)
    )
    return (*own, *shared)


def tables_by_part(group: RunGroup, make: Callable[[RunGroup], Table | None]) -> tuple[Table, ...]:
    """The table of each part that has one; if there are several parts, each is a table's title.

    A note that several tables have stands below the last of them.
    """
    tables = [(part, table) for part in group.parts if (table := make(part)) is not None]
    if len(group.parts) == 1:
        return tuple(table for _, table in tables)
    last = {table.note: place for place, (_, table) in enumerate(tables)}
    return tuple(
        replace(
            table,
            title=say(Verbatim(part_name(part, group))),
            note=table.note if last[table.note] == place else "",
        )
        for place, (part, table) in enumerate(tables)
    )
