"""Writes rows into Parquet files of a table, and describes them as its manifests do."""

import uuid
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
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import DoubleType, FloatType, LongType, PrimitiveType

from bench.engines.iceberg.single_node.database import (
    POSITION,
    Database,
    field_ids_sql,
    files_sql,
    literal,
    local_path,
    quoted,
)
from bench.engines.iceberg.single_node.rows import POSITION_COLUMNS

# Table properties with the defaults of Iceberg's TableProperties at 1.11.0.
_CODEC, _DEFAULT_CODEC = "write.parquet.compression-codec", "zstd"
_LEVEL, _DEFAULT_ZSTD_LEVEL = "write.parquet.compression-level", 3  # ZstandardCodec of parquet-java
_ROW_GROUP_BYTES, _DEFAULT_ROW_GROUP_BYTES = "write.parquet.row-group-size-bytes", 128 * 1024 * 1024
_VECTOR_ROWS = 2048  # of DuckDB; row groups are multiples
_CODECS = {
    "zstd": "zstd",
    "snappy": "snappy",
    "gzip": "gzip",
    "lz4": "lz4_raw",
    "uncompressed": "uncompressed",
}


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes files of one table in its codec and row groups. `columns` say which metrics are kept of each."""

    database: Database
    table: Table
    schema: Schema
    columns: dict[int, StatisticsCollector]

    @classmethod
    def of(cls, database: Database, table: Table) -> "Writer":
        schema = table.schema()
        return cls(database, table, schema, compute_statistics_plan(schema, dict(table.properties)))

    def data_file(self, rows: str, like: DataFile, bytes_per_row: float) -> DataFile | None:
        """Write rows beside the file `like`, in its partition; None, and no file, without rows.

        `bytes_per_row` is the size of a row in Parquet before compression, which decides how many are in a
        row group.
        """
        location = f"{like.file_path.rpartition('/')[0]}/{uuid.uuid4()}-compacted.parquet"
        self._copy(rows, location, field_ids_sql(self.schema), bytes_per_row)
        metadata = pq.read_metadata(local_path(location))
        if not metadata.num_rows:
            Path(local_path(location)).unlink()
            return None
        return self._described(location, metadata, like)

    def position_deletes(self, deleted: str, of: DataFile) -> DataFile | None:
        """Write `deleted`, rows of `POSITION`, as a position delete file of one data file; None without rows.

        It is named after its data file: Amoro recognises its own delete files by this.
        """
        stem = of.file_path.rpartition(".")[0]
        location = f"{stem}-delete-{uuid.uuid4()}.parquet"
        columns = f"{literal(of.file_path)} AS file_path, {POSITION} AS pos"
        rows = f"SELECT {columns} FROM ({deleted}) ORDER BY {POSITION}"
        self._copy(rows, location, field_ids_sql(Schema(*POSITION_COLUMNS)), 0)
        metadata = pq.read_metadata(local_path(location))
        if not metadata.num_rows:
            Path(local_path(location)).unlink()
            return None
        return self._position_file(location, metadata, of)

    def _copy(self, rows: str, location: str, field_ids: str, bytes_per_row: float) -> None:
        path = Path(local_path(location))
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.database.run(
                f"COPY ({rows}) TO {literal(str(path))} (FORMAT parquet, {self._compression}, "
                f"FIELD_IDS {{{field_ids}}}, ROW_GROUP_SIZE {self._row_group_rows(bytes_per_row)}, "
                "WRITE_BLOOM_FILTER false, USE_TMP_FILE false)"
            )
        except ValueError:
            path.unlink(missing_ok=True)
            raise

    @property
    def _compression(self) -> str:
        """Raises ValueError for a codec that DuckDB lacks."""
        name = self.table.properties.get(_CODEC, _DEFAULT_CODEC).lower()
        if name not in _CODECS:
            raise ValueError(f"{_CODEC} = {name!r}: this executor writes {', '.join(sorted(_CODECS))}")
        level = self.table.properties.get(_LEVEL, _DEFAULT_ZSTD_LEVEL)
        return f"COMPRESSION {_CODECS[name]}" + (
            f", COMPRESSION_LEVEL {int(level)}" if name == "zstd" else ""
        )

    def _row_group_rows(self, bytes_per_row: float) -> int:
        limit_bytes = int(self.table.properties.get(_ROW_GROUP_BYTES, _DEFAULT_ROW_GROUP_BYTES))
        rows = int(limit_bytes / max(bytes_per_row, 1))
        return max(rows // _VECTOR_ROWS, 1) * _VECTOR_ROWS

    def _described(self, location: str, metadata: pq.FileMetaData, like: DataFile) -> DataFile:
        statistics = data_file_statistics_from_parquet_metadata(
            parquet_metadata=metadata,
            stats_columns=self.columns,
            parquet_column_mapping=parquet_path_to_id_mapping(self.schema),
        ).to_serialized_dict()
        self._complete_floats(location, metadata, statistics)
        return _file(DataFileContent.DATA, location, like, **statistics)

    def _complete_floats(self, location: str, metadata: pq.FileMetaData, statistics: dict[str, Any]) -> None:
        """Add counts of NaN, and the bounds of columns with NaN, for which Parquet has none.

        Bounds leave NaN out. Source: FloatFieldMetrics of Iceberg 1.11.0.
        """
        floats = [
            field
            for field in self.schema.fields
            if isinstance(field.field_type, FloatType | DoubleType)
            and self.columns[field.field_id].mode.type is not MetricModeTypes.NONE
        ]
        places = {field.field_id: place for place, field in enumerate(self.schema.fields)}
        without_bounds = [field for field in floats if not _has_bounds(metadata, places[field.field_id])]
        statistics["nan_value_counts"] = {field.field_id: 0 for field in floats}
        if not without_bounds:
            return
        rows = files_sql([location], without_bounds)
        for field in without_bounds:
            name = quoted(field.name)
            numbers = f"FILTER (NOT isnan({name}))"
            ((nan_count, lowest, highest),) = self.database.run(
                f"SELECT count_if(isnan({name})), min({name}) {numbers}, max({name}) {numbers} FROM ({rows})"
            )
            statistics["nan_value_counts"][field.field_id] = nan_count
            if lowest is not None and self.columns[field.field_id].mode.type is not MetricModeTypes.COUNTS:
                of_column = cast(PrimitiveType, field.field_type)
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


def _has_bounds(metadata: pq.FileMetaData, place: int) -> bool:
    """Whether each row group has bounds of the column at `place`, or nothing but nulls in it."""
    chunks = (metadata.row_group(number).column(place) for number in range(metadata.num_row_groups))
    return all(
        chunk.is_stats_set
        and (chunk.statistics.has_min_max or chunk.statistics.null_count == chunk.num_values)
        for chunk in chunks
    )


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
