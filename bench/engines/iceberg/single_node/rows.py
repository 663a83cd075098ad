"""The rows of data files in SQL, with the deletes applied that apply to them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pyiceberg.manifest import DataFileContent, ManifestEntry
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.types import DoubleType, FloatType, LongType, NestedField, StringType

from bench.engines.iceberg.single_node.database import (
    FILE,
    POSITION,
    files_sql,
    literal,
    local_path,
    quoted,
)
from bench.engines.iceberg.single_node.live_entries import content_of, scope_of, sequence_number
from strategies.grouping import by_key

# The columns of position delete files. Source: table spec, "Position Delete Files".
POSITION_COLUMNS = (
    NestedField(2147483546, "file_path", StringType(), required=True),
    NestedField(2147483545, "pos", LongType(), required=True),
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A data file, or its rows from position `first_row` to before `end_row`, and the bytes of these."""

    count: ClassVar[int] = 1  # `pack` takes items that may stand for several equal ones

    entry: ManifestEntry
    size_bytes: int
    first_row: int = 0
    end_row: int | None = None

    def slice(self, begin: int, end: int) -> "Piece":
        return self

    @property
    def location(self) -> str:
        return self.entry.data_file.file_path


@dataclass(frozen=True, slots=True)
class Deletes:
    """The delete files that may apply to data files of one partition, by their kind."""

    position: tuple[ManifestEntry, ...] = ()
    equality: tuple[ManifestEntry, ...] = ()

    @classmethod
    def reaching(
        cls,
        files: Iterable[ManifestEntry],
        deletes: Iterable[ManifestEntry],
        specs: Mapping[int, PartitionSpec],
    ) -> "Deletes":
        """The deletes that apply to at least one of the files, all of one partition, by spec "Scan Planning".

        Bounds are not looked at: a delete that they would exclude matches no row.
        """
        chosen = list(files)
        scope, oldest = scope_of(chosen[0].data_file), min(map(sequence_number, chosen))
        position, equality = list[ManifestEntry](), list[ManifestEntry]()
        for delete in deletes:
            file, number = delete.data_file, sequence_number(delete)
            is_in_scope = scope_of(file) == scope
            if content_of(file) is DataFileContent.POSITION_DELETES:
                if is_in_scope and number >= oldest:
                    position.append(delete)
            elif (is_in_scope or specs[file.spec_id].is_unpartitioned()) and number > oldest:
                equality.append(delete)
        return cls(tuple(position), tuple(equality))


def kept_rows(pieces: Sequence[Piece], deletes: Deletes, schema: Schema) -> str:
    """The rows of the pieces that no delete removes."""
    names = ", ".join(f"d.{quoted(field.name)}" for field in schema.fields)
    joins, conditions = _matching(pieces, deletes, schema)
    kept = " AND ".join(["true", *_ranges(pieces), *(f"NOT ({condition})" for condition in conditions)])
    source = files_sql(_locations(pieces), schema.fields)
    return f"SELECT {names} FROM ({source}) AS d{joins} WHERE {kept}"


def deleted_positions(pieces: Sequence[Piece], deletes: Deletes, schema: Schema) -> str:
    """`FILE` and `POSITION` of the rows that a delete removes. Of data files, only key columns are read."""
    keys = {field_id for delete in deletes.equality for field_id in delete.data_file.equality_ids or ()}
    columns = [field for field in schema.fields if field.field_id in keys] or schema.fields[:1]
    joins, conditions = _matching(pieces, deletes, schema)
    source = files_sql(_locations(pieces), columns)
    matched = " OR ".join(["false", *conditions])
    return f"SELECT d.{FILE}, d.{POSITION} FROM ({source}) AS d{joins} WHERE {matched}"


def _locations(pieces: Iterable[Piece]) -> list[str]:
    """Each data file once."""
    return list(dict.fromkeys(piece.location for piece in pieces))


def _matching(pieces: Sequence[Piece], deletes: Deletes, schema: Schema) -> tuple[str, list[str]]:
    """Joins to rows `d` of the pieces, and conditions of which at least one is true for a deleted row."""
    joins, conditions = "", list[str]()
    if deletes.position:
        source = files_sql((delete.data_file.file_path for delete in deletes.position), POSITION_COLUMNS)
        known = ", ".join(f"({literal(one)}, {literal(local_path(one))})" for one in _locations(pieces))
        joins += (
            f" LEFT JOIN (SELECT DISTINCT known.path, pos FROM ({source}) AS deleted"
            f" JOIN (VALUES {known}) AS known(location, path) ON deleted.file_path = known.location) AS p"
            f" ON p.path = d.{FILE} AND p.pos = d.{POSITION}"
        )
        conditions.append("p.pos IS NOT NULL")
    if deletes.equality:
        by_path = {local_path(piece.location): sequence_number(piece.entry) for piece in pieces}
        numbers = ", ".join(f"({literal(path)}, {number})" for path, number in by_path.items())
        joins += f" JOIN (VALUES {numbers}) AS n(path, number) ON n.path = d.{FILE}"
    for number, (ids, files) in enumerate(by_key(deletes.equality, _compared_ids).items()):
        columns = [_compared(field_id, schema) for field_id in ids]
        same = " AND ".join(
            f"e{number}.{quoted(c.name)} IS NOT DISTINCT FROM d.{quoted(c.name)}" for c in columns
        )
        joins += f" LEFT JOIN ({_newest(files, columns)}) AS e{number} ON {same}"
        # Null where no key matches. An equality delete spares rows of its own commit.
        conditions.append(f"coalesce(e{number}.deleted_at > n.number, false)")
    return joins, conditions


def _compared(field_id: int, schema: Schema) -> NestedField:
    """A column that an equality delete compares.

    Raises ValueError for one that the table has dropped, and for floats: DuckDB takes -0.0 for 0.0.
    """
    field = next((field for field in schema.fields if field.field_id == field_id), None)
    if field is None:
        raise ValueError(f"an equality delete compares column {field_id}, which the table does not have")
    if isinstance(field.field_type, FloatType | DoubleType):
        raise ValueError(f"an equality delete compares column {field.name}, which is a {field.field_type}")
    return field


def _compared_ids(delete: ManifestEntry) -> tuple[int, ...]:
    return tuple(sorted(delete.data_file.equality_ids or ()))


def _newest(deletes: Sequence[ManifestEntry], columns: Sequence[NestedField]) -> str:
    """Each deleted key with the sequence number of its newest delete, `deleted_at`."""
    names = ", ".join(quoted(column.name) for column in columns)
    locations = [delete.data_file.file_path for delete in deletes]
    numbers = ", ".join(
        f"({literal(local_path(location))}, {sequence_number(delete)})"
        for location, delete in zip(locations, deletes, strict=True)
    )
    return (
        f"SELECT {names}, max(n.number) AS deleted_at FROM ({files_sql(locations, columns)}) AS k"
        f" JOIN (VALUES {numbers}) AS n(path, number) ON n.path = k.{FILE} GROUP BY {names}"
    )


def _ranges(pieces: Sequence[Piece]) -> list[str]:
    """A condition for the parts of files; none if all pieces are whole files."""
    if all(piece.end_row is None for piece in pieces):
        return []
    ranges = [
        f"d.{FILE} = {literal(local_path(piece.location))}"
        + (
            f" AND d.{POSITION} >= {piece.first_row} AND d.{POSITION} < {piece.end_row}"
            if piece.end_row is not None
            else ""
        )
        for piece in pieces
    ]
    return [f"({' OR '.join(ranges)})"]
