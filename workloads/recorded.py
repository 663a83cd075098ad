"""Files and commits of an existing table, as its metadata records them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


class Content(StrEnum):
    """What a recorded file holds."""

    DATA = "data"
    POSITION = "position"  # positions of deleted rows (Iceberg)
    EQUALITY = "equality"  # keys of deleted rows (Iceberg)
    VECTOR = "vector"  # a deletion vector of one data file (Delta, Iceberg 3)
    LOG = "log"  # records that readers merge with a base file (Hudi)


@dataclass(frozen=True, slots=True)
class HistoryFacts:
    """What a table's metadata says beside its files.

    `table_keys` are keys of the [table] of a scenario, as TOML writes them, that describe this table.
    `from_ms` and `until_ms` bound the recorded time, in milliseconds since 1970 UTC. `hit_share` is the share
    (0..1) of the keys in equality deletes that a row of the table had, None if the history does not tell.
    `notes` are sentences about what the history lacks.
    """

    format: str
    table_keys: Mapping[str, str | int]
    columns_count: int
    partition_columns: tuple[str, ...]
    target_file_size_bytes: int
    from_ms: int
    until_ms: int
    hit_share: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnCompactions:
    """What the compactions of a recorded table did, and the files that it had afterwards.

    `added_bytes` are the data and delete files that they wrote.
    """

    count: int
    added_bytes: int
    data_files_end: int
    delete_files_end: int


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """A file of a recorded table; `id` is unique in its history, and nothing else identifies it.

    `rows` are all rows of a data file, the deleted keys or positions of a delete file, the cardinality of a
    vector, or the records of a log file. `targets` are the data files that a delete file applies to, if that
    is known. `keys` are its lowest and highest key as ranks among all bounds of the history: they keep their
    order and say nothing else.

    Hudi only: `group` is the file group, `new_rows` are the inserts and updates in the file, and `hit_rows`
    the rows of older files of its group that it updates or deletes.
    """

    id: int
    content: Content
    size_bytes: int
    rows: int
    partition: str = ""
    targets: tuple[int, ...] = ()
    sequence_number: int = 0
    keys: tuple[int, int] | None = None
    group: int | None = None
    new_rows: int | None = None
    hit_rows: int | None = None

    @property
    def is_data(self) -> bool:
        return self.content is Content.DATA

    def with_volume(self, factor: float) -> RecordedFile:
        """With so many times the rows and bytes, of each at least one if it had any."""

        def times(count: int) -> int:
            return max(1, round(count * factor)) if count else 0

        return replace(
            self,
            size_bytes=times(self.size_bytes),
            rows=times(self.rows),
            new_rows=None if self.new_rows is None else times(self.new_rows),
            hit_rows=None if self.hit_rows is None else times(self.hit_rows),
        )


@dataclass(frozen=True, slots=True)
class RecordedCommit:
    """One version of a recorded table; `added` and `removed` are its files.

    `at_ms` is its time in milliseconds since 1970 UTC, `operation` the format's own word. `wall_s` is how
    long the step took, if the table records that.
    """

    at_ms: int
    version: str
    operation: str
    is_compaction: bool
    added: tuple[RecordedFile, ...]
    removed: tuple[RecordedFile, ...]
    wall_s: float | None = None


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """What a commit of the stream did to files, for a replay with other compactions than the recorded ones.

    Data files are those that the stream itself wrote. All rows of the `removed` ones leave their files, which
    the stream replaced or deleted. `hits` are the rows that the commit newly deletes of a data file, by id;
    the file may be its own. `partition_hits` are expected deletions anywhere in the older files of a
    partition ("" if in any partition), where it is not known which files they are in. `followed` are those of
    its data files of which later commits remove or hit rows.
    """

    operation: str
    added: tuple[RecordedFile, ...]
    removed: tuple[RecordedFile, ...] = ()
    removed_deletes: tuple[RecordedFile, ...] = ()
    hits: Mapping[int, float] = field(default_factory=dict)
    partition_hits: Mapping[str, float] = field(default_factory=dict)
    followed: frozenset[int] = frozenset()

    @property
    def deleted_rows(self) -> float:
        removed = sum(file.rows for file in self.removed)
        return removed + sum(self.hits.values()) + sum(self.partition_hits.values())


NO_RECORDED_CHANGE = RecordedChange("", ())
