"""Writes rows into Parquet files of a table, and describes them as its manifests do."""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet as pq
from pyiceberg.conversions import to_bytes
from pyiceberg.io.pyarrow import (
    MetricModeTypes,
    StatisticsCollector,
    compute_statistics_plan,
    data_file_statistics_from_parquet_metadata,
    parquet_path_to_id_mapping,
)
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.schema import Schema, sanitize_column_names
from pyiceberg.table import Table
from pyiceberg.types import DoubleType, FloatType, LongType, PrimitiveType

from bench.engines.iceberg.single_node.database import (
    POSITION,
    Database,
    field_ids_sql,
    files_sql,
    footer,
    literal,
    local_path,
    quoted,
)
from bench.engines.iceberg.single_node.rows import POSITION_COLUMNS
from bench.engines.iceberg.single_node.settings import compression, row_group_bytes

_UNSORTED = 0  # table spec, "Sorting"
_VECTOR_ROWS = 2048  # of DuckDB; row groups are multiples
_VALUE_BYTES = 16  # of a text in DuckDB's vectors, without its characters; others take at most as much
_ROW_GROUP_SHARE = 1 / 4  # of the memory; with 0.57 merging took as much CPU, with 0.97 three times as much
_DELETE_ROW_GROUP_ROWS = 2**20  # of paths that are all the same, and positions


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes files of one table in its codec and row groups.

    `schema` has the names that columns have in Parquet files. `columns` say which metrics are kept of each.
    """

    database: Database
    table: Table
    schema: Schema
    columns: dict[int, StatisticsCollector]

    @classmethod
    def of(cls, database: Database, table: Table) -> "Writer":
        schema = sanitize_column_names(table.schema())
        return cls(database, table, schema, compute_statistics_plan(schema, dict(table.properties)))

    def data_file(self, rows: str, like: DataFile, bytes_per_row: float) -> DataFile | None:
        """Write rows beside the file `like`, in its partition; None, and no file, without rows.

        `bytes_per_row` is the size of a row in Parquet before compression, which decides how many are in a
        row group.
        """
        location = f"{like.file_path.rpartition('/')[0]}/{uuid.uuid4()}-compacted.parquet"
        with _deleted_if_it_fails(location):
            properties = self.table.properties
            group_rows = row_group_rows(
                row_group_bytes(properties),
                bytes_per_row,
                len(self.schema.fields),
                self.database.memory_bytes,
            )
            self._copy(rows, location, field_ids_sql(self.schema), group_rows, properties)
            metadata = footer(location)
            if metadata.num_rows:
                return self._described(location, metadata, like)
        Path(local_path(location)).unlink()
        return None

    def position_deletes(self, deleted: str, of: DataFile) -> DataFile:
        """Write `deleted`, rows of `POSITION`, at least one, as a position delete file of one data file.

        It is named after its data file: Amoro recognises its own delete files by this.
        """
        stem = of.file_path.rpartition(".")[0]
        location = f"{stem}-delete-{uuid.uuid4()}.parquet"
        columns = f"{literal(of.file_path)} AS file_path, {POSITION} AS pos"
        rows = f"SELECT {columns} FROM ({deleted}) ORDER BY {POSITION}"
        with _deleted_if_it_fails(location):
            field_ids = field_ids_sql(Schema(*POSITION_COLUMNS))
            properties = _of_deletes(self.table.properties)
            self._copy(rows, location, field_ids, _DELETE_ROW_GROUP_ROWS, properties)
            return self._position_file(location, footer(location), of)

    def _copy(
        self, rows: str, location: str, field_ids: str, group_rows: int, properties: Mapping[str, str]
    ) -> None:
        path = Path(local_path(location))
        path.parent.mkdir(parents=True, exist_ok=True)
        self.database.run(
            f"COPY ({rows}) TO {literal(str(path))} (FORMAT parquet, {compression(properties)}, "
            f"FIELD_IDS {{{field_ids}}}, ROW_GROUP_SIZE {group_rows}, "
            "WRITE_BLOOM_FILTER false, USE_TMP_FILE false)"
        )

    def _described(self, location: str, metadata: pq.FileMetaData, like: DataFile) -> DataFile:
        statistics = data_file_statistics_from_parquet_metadata(
            parquet_metadata=metadata,
            stats_columns=self.columns,
            parquet_column_mapping=parquet_path_to_id_mapping(self.schema),
        ).to_serialized_dict()
        self._complete_floats(location, metadata, statistics)
        return _file(DataFileContent.DATA, location, like, sort_order_id=_UNSORTED, **statistics)

    def _complete_floats(self, location: str, metadata: pq.FileMetaData, statistics: dict[str, Any]) -> None:
        """Add counts of NaN, and the bounds of columns with NaN, for which Parquet has none.

        Bounds leave NaN out, and -0.0 is below 0.0, which Parquet's bounds do not tell apart. Source:
        FloatFieldMetrics of Iceberg 1.11.0.
        """
        floats = [
            field
            for field in self.schema.fields
            if isinstance(field.field_type, FloatType | DoubleType)
            and self.columns[field.field_id].mode.type is not MetricModeTypes.NONE
        ]
        places = {field.field_id: place for place, field in enumerate(self.schema.fields)}
        inexact = [field for field in floats if not _has_exact_bounds(metadata, places[field.field_id])]
        statistics["nan_value_counts"] = {field.field_id: 0 for field in floats}
        rows = files_sql([location], inexact)
        for field in inexact:
            name = quoted(field.name)
            numbers, zeros = f"FILTER (NOT isnan({name}))", f"FILTER ({name} = 0)"
            ((nan_count, lowest, highest, is_any_negative, are_all_negative),) = self.database.run(
                f"SELECT count_if(isnan({name})), min({name}) {numbers}, max({name}) {numbers}, "
                f"bool_or(signbit({name})) {zeros}, bool_and(signbit({name})) {zeros} FROM ({rows})"
            )
            statistics["nan_value_counts"][field.field_id] = nan_count
            if lowest is not None and self.columns[field.field_id].mode.type is not MetricModeTypes.COUNTS:
                of_column = cast(PrimitiveType, field.field_type)
                lowest = lowest or (-0.0 if is_any_negative else 0.0)
                highest = highest or (-0.0 if are_all_negative else 0.0)
                statistics["lower_bounds"][field.field_id] = to_bytes(of_column, lowest)
                statistics["upper_bounds"][field.field_id] = to_bytes(of_column, highest)

    def _position_file(self, location: str, metadata: pq.FileMetaData, of: DataFile) -> DataFile:
        path, position = POSITION_COLUMNS
        chunks = [metadata.row_group(group).column(1) for group in range(metadata.num_row_groups)]
        lowest = min(chunk.statistics.min for chunk in chunks)
        highest = max(chunk.statistics.max for chunk in chunks)
        # Equal bounds of file_path, in full length, say that the file is of this data file alone.
        of_path = of.file_path.encode()
        return _file(
            DataFileContent.POSITION_DELETES,
            location,
            of,
            record_count=metadata.num_rows,
            value_counts={column.field_id: metadata.num_rows for column in POSITION_COLUMNS},
            null_value_counts={column.field_id: 0 for column in POSITION_COLUMNS},
            lower_bounds={path.field_id: of_path, position.field_id: to_bytes(LongType(), lowest)},
            upper_bounds={path.field_id: of_path, position.field_id: to_bytes(LongType(), highest)},
        )


def _of_deletes(properties: Mapping[str, str]) -> Mapping[str, str]:
    """The properties of a table with those that it has for delete files alone."""
    own = ((key, value) for key, value in properties.items() if key.startswith("write.delete."))
    return {**properties, **{key.replace(".delete", "", 1): value for key, value in own}}


def row_group_rows(limit_bytes: int, bytes_per_row: float, columns_count: int, memory_bytes: int) -> int:
    """The rows of a row group of at most `limit_bytes` before compression, which wait in memory.

    There they are larger than in Parquet, by an estimate of `_VALUE_BYTES` a value; long texts that repeat
    take more. With row groups of nearly all the memory DuckDB spilled: merging 12.3 million rows of `orders`
    within 1 GiB took 50 s of CPU instead of 15.
    """
    in_memory_bytes = bytes_per_row + _VALUE_BYTES * columns_count
    rows = min(limit_bytes / max(bytes_per_row, 1), memory_bytes * _ROW_GROUP_SHARE / in_memory_bytes)
    return max(int(rows) // _VECTOR_ROWS, 1) * _VECTOR_ROWS


def _has_exact_bounds(metadata: pq.FileMetaData, place: int) -> bool:
    """Whether each row group has bounds of the column at `place` other than 0, or nothing but nulls in it."""
    chunks = (metadata.row_group(number).column(place) for number in range(metadata.num_row_groups))
    return all(chunk.is_stats_set and _is_exact(chunk.statistics) for chunk in chunks)


def _is_exact(found: pq.Statistics) -> bool:
    return bool(found.min and found.max) if found.has_min_max else found.num_values == 0


@contextmanager
def _deleted_if_it_fails(location: str) -> Iterator[None]:
    """Deletes a file if the block fails."""
    try:
        yield
    except Exception:
        Path(local_path(location)).unlink(missing_ok=True)
        raise


def _file(content: DataFileContent, location: str, like: DataFile, **figures: Any) -> DataFile:
    made = DataFile.from_args(
        content=content,
        file_path=location,
        file_format=FileFormat.PARQUET,
        partition=like.partition,
        file_size_in_bytes=Path(local_path(location)).stat().st_size,
        **figures,
    )
    made.spec_id = like.spec_id
    return made
