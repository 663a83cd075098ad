"""Executes explicit rewrites without Spark; see the package."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import ClassVar

from pyiceberg.manifest import DataFile, ManifestEntry
from pyiceberg.table import Table

from bench.engines.contract import Tag
from bench.engines.iceberg.ledger import PLANNING
from bench.engines.iceberg.single_node.database import (
    FILE,
    POSITION,
    Database,
    MemoryTooSmallError,
    files_sql,
    footer,
    literal,
    local_path,
)
from bench.engines.iceberg.single_node.live_entries import EntryReader, LiveEntries, scope_of
from bench.engines.iceberg.single_node.replace_files import Replacement, commit_replacement, delete_files
from bench.engines.iceberg.single_node.rows import (
    POSITION_COLUMNS,
    Deletes,
    Piece,
    deleted_positions,
    kept_rows,
)
from bench.engines.iceberg.single_node.settings import check_properties
from bench.engines.iceberg.single_node.written_files import Writer
from bench.engines.iceberg.table_keys import SINGLE_NODE_CAPABILITIES
from bench.engines.tickets import Planning
from bench.errors import first_error
from strategies.iceberg.packing import pack
from strategies.iceberg.scan_tasks import lookback_of
from strategies.plan import Action, FileGroup, Rewrite

DEFAULT_MEMORY_BYTES = 2**30
_FORMAT_VERSION = 2  # the only one that PyIceberg 0.12 writes and that has delete files


@dataclass(frozen=True)
class SingleNode:
    """Executes `Rewrite` on one table; see `Executor`.

    `load` loads the table with a catalog that commits. DuckDB uses the number of `cores` that Spark has, and
    `memory_bytes`; it spills below `folder`. The idle JVM's CPU is counted too.
    """

    load: Callable[[], Table]
    folder: Path
    cores: int
    memory_bytes: int
    capabilities: ClassVar[frozenset[str]] = SINGLE_NODE_CAPABILITIES
    planning: ClassVar[Planning] = PLANNING
    _entries: EntryReader = field(default_factory=EntryReader)

    @cached_property
    def _database(self) -> Database:
        return Database.open(self.folder, self.cores, self.memory_bytes)

    def stage(self, action: Action, at_ms: int) -> Replacement:
        """Write the files of a rewrite; those of a rewrite that fails are deleted."""
        if not isinstance(action, Rewrite):
            raise ValueError("this executor runs explicit rewrites only")
        table = self.load()
        _check_supported(table)
        live = self._entries.read(table)
        writer, added = Writer.of(self._database, table), list[DataFile]()
        try:
            for group in action.groups:
                for file in _written(writer, live, group, action.target_file_size_bytes):
                    added.append(file)
        except Exception as error:
            delete_files(table, (file.file_path for file in added))
            raise ValueError(first_error(error)) from error
        replaced = frozenset(path for group in action.groups for path in group.paths)
        converted = frozenset(path for group in action.groups for path in group.convert_paths)
        removed = replaced | frozenset(action.removed_deletes)
        return Replacement(table, live.snapshot, removed, tuple(added), converted)

    def execute(self, action: Action, prepared: Replacement | None, tag: Tag) -> None:
        if prepared is None:
            raise ValueError("an explicit rewrite has to be staged before it is committed")
        commit_replacement(prepared, self._entries, tag)

    def close(self) -> None:
        database = self.__dict__.pop("_database", None)
        if database is not None:
            database.close()


def _check_supported(table: Table) -> None:
    """Raises ValueError for a table that this executor would damage or cannot read."""
    version = table.metadata.format_version
    if version != _FORMAT_VERSION:
        raise ValueError(f"format version {version}: this executor writes version {_FORMAT_VERSION} only")
    check_properties(table.properties)
    repeated = [
        name for name, count in Counter(map(str.lower, table.schema().column_names)).items() if count > 1
    ]
    if repeated:
        raise ValueError(f"columns {repeated[0]!r} differ in case only, and DuckDB does not tell them apart")


def _written(writer: Writer, live: LiveEntries, group: FileGroup, target_bytes: int) -> Iterator[DataFile]:
    """The new data files and delete files of one group. Raises ValueError if a file of it is not live."""
    replaced = _entries_of(group.paths, live, writer)
    converted = _entries_of(group.convert_paths, live, writer)
    deletes, specs = live.deletes.values(), writer.table.specs()
    for pieces in _tasks(replaced, target_bytes, lookback_of(writer.table.properties)):
        entries = [piece.entry for piece in pieces]
        applied = Deletes.reaching(entries, deletes, specs)
        with _naming_damaged_files(writer, entries, applied):
            rows = kept_rows(pieces, applied, writer.schema)
            file = writer.data_file(rows, entries[0].data_file, _bytes_per_row(pieces[0]))
        if file is not None:
            yield file
    if converted:
        applied = Deletes.reaching(converted, deletes, specs)
        with _naming_damaged_files(writer, converted, applied):
            yield from _conversion(writer, converted, applied)


@contextmanager
def _naming_damaged_files(
    writer: Writer, entries: Iterable[ManifestEntry], applied: Deletes
) -> Iterator[None]:
    """If the block fails, names the first file that cannot be read: DuckDB names those with bad footers."""
    try:
        yield
    except MemoryTooSmallError:
        raise
    except ValueError as error:
        columns = (*writer.schema.fields, *POSITION_COLUMNS)  # those that a file lacks are null
        for entry in (*entries, *applied.position, *applied.equality):
            location = entry.data_file.file_path
            try:
                writer.database.run(f"SELECT count(COLUMNS(*)) FROM ({files_sql([location], columns)})")
            except ValueError:
                raise ValueError(f"{location} cannot be read: {error}") from error
        raise


def _entries_of(paths: Iterable[str], live: LiveEntries, writer: Writer) -> list[ManifestEntry]:
    spec_id, chosen = writer.table.spec().spec_id, list[ManifestEntry]()
    for path in paths:
        entry = live.data.get(path)
        if entry is None:
            raise ValueError(f"{path} is no longer live")
        if entry.data_file.spec_id != spec_id:
            raise ValueError(
                f"{path} is of partition spec {entry.data_file.spec_id}, the table of {spec_id}: this "
                "executor does not move rows to other partitions"
            )
        if entry.data_file.key_metadata is not None:
            raise ValueError(f"{path} is encrypted, and this executor cannot decrypt it")
        chosen.append(entry)
    if len({scope_of(entry.data_file) for entry in chosen}) > 1:
        raise ValueError(f"{chosen[0].data_file.file_path} and others of its group are of several partitions")
    return chosen


def _tasks(entries: Sequence[ManifestEntry], target_bytes: int, lookback: int) -> Iterator[list[Piece]]:
    """Pieces of at most `target_bytes` together, each for one new file, packed as Iceberg packs scan tasks.

    Delete files do not count: here each is read once, not with every data file that it applies to.
    """
    pieces = [piece for entry in entries for piece in _pieces(entry, target_bytes)]
    return pack(pieces, lambda piece: piece.size_bytes, target_bytes, lookback, largest_first=True)


def _pieces(entry: ManifestEntry, target_bytes: int) -> list[Piece]:
    """The whole file, or its row groups if it is larger than `target_bytes`."""
    file = entry.data_file
    if file.file_size_in_bytes <= target_bytes:
        return [Piece(entry, file.file_size_in_bytes)]
    metadata = footer(file.file_path)
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    ends = pairwise(accumulate((group.num_rows for group in groups), initial=0))
    sizes = [sum(group.column(c).total_compressed_size for c in range(group.num_columns)) for group in groups]
    return [Piece(entry, size_bytes, *rows) for rows, size_bytes in zip(ends, sizes, strict=True)]


def _bytes_per_row(piece: Piece) -> float:
    """The size of a row before compression, by the footer of the file."""
    metadata = footer(piece.location)
    size_bytes = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    return float(size_bytes / max(metadata.num_rows, 1))


def _conversion(writer: Writer, entries: Sequence[ManifestEntry], deletes: Deletes) -> Iterator[DataFile]:
    """A position delete file for each data file with a deleted row."""
    database = writer.database
    pieces = [Piece(entry, entry.data_file.file_size_in_bytes) for entry in entries]
    found = deleted_positions(pieces, deletes, writer.schema)
    database.run(f"CREATE OR REPLACE TEMP TABLE converted AS {found}")
    by_path = {local_path(entry.data_file.file_path): entry.data_file for entry in entries}
    for (path,) in database.run(f"SELECT DISTINCT {FILE} FROM converted ORDER BY 1"):
        of_file = f"SELECT {POSITION} FROM converted WHERE {FILE} = {literal(str(path))}"
        yield writer.position_deletes(of_file, by_path[str(path)])
    database.run("DROP TABLE converted")
