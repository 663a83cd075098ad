"""DuckDB as the reader and writer of a table's Parquet files: columns by field id, memory bounded."""

import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

# DuckDB writes these types to Parquet as the table spec demands ("Parquet", Appendix A). It writes fixed(n)
# as binary without a length, and nested types are not read by field id below their top level.
_SQL_TYPES: dict[type[IcebergType], str] = {
    BooleanType: "BOOLEAN",
    IntegerType: "INTEGER",
    LongType: "BIGINT",
    FloatType: "FLOAT",
    DoubleType: "DOUBLE",
    DateType: "DATE",
    TimeType: "TIME",
    TimestampType: "TIMESTAMP",
    TimestamptzType: "TIMESTAMPTZ",
    StringType: "VARCHAR",
    UUIDType: "UUID",
    BinaryType: "BLOB",
}
_GLOB = str.maketrans({char: f"[{char}]" for char in "*?["})
# Tables do not show the rows of the file or their order in it; these names are of no column.
FILE, POSITION = "compactbench_file", "compactbench_position"


class MemoryTooSmallError(ValueError):
    """A statement needs more memory than it may have, and cannot spill."""


@dataclass(frozen=True, slots=True)
class Database:
    """A connection that uses at most `cores` and `memory_bytes`, and spills into a folder that ends with it.

    DuckDB counts the memory of its buffers, rows that wait for their row group included; what Parquet makes
    of a row group until it is written comes on top.
    """

    connection: duckdb.DuckDBPyConnection
    spill: Path
    memory_bytes: int

    @classmethod
    def open(cls, folder: Path, cores: int, memory_bytes: int) -> "Database":
        folder.mkdir(parents=True, exist_ok=True)
        spill = Path(tempfile.mkdtemp(prefix="spill-", dir=folder))
        connection = duckdb.connect(
            config={
                "threads": cores,
                "memory_limit": f"{memory_bytes}B",
                "temp_directory": str(spill),
                "autoinstall_known_extensions": False,
                "TimeZone": "UTC",
            }
        )
        return cls(connection, spill, memory_bytes)

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        """Raises ValueError with DuckDB's message for what it cannot do, of it MemoryTooSmallError."""
        try:
            return self.connection.execute(statement).fetchall()
        except duckdb.OutOfMemoryException as error:
            raise MemoryTooSmallError(
                f"set compaction_memory higher: {str(error).splitlines()[0]}"
            ) from error
        except duckdb.Error as error:
            raise ValueError(f"DuckDB: {str(error).splitlines()[0]}") from error

    def close(self) -> None:
        self.connection.close()
        shutil.rmtree(self.spill, ignore_errors=True)


def local_path(location: str) -> str:
    """The path of a file on this machine. Raises ValueError for another location."""
    url = urlsplit(location)
    if url.scheme not in ("", "file") or url.netloc:
        raise ValueError(f"{location} is not a local file, and this executor reads local files only")
    # Iceberg's locations are not encoded: "%20" is part of a name, and so are "?" and "#".
    path = location.removeprefix("file:")
    return re.sub("/+", "/", path)  # DuckDB names files so


def footer(location: str) -> pq.FileMetaData:
    """Raises ValueError for a file that is missing or damaged."""
    try:
        return pq.read_metadata(local_path(location))
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise ValueError(f"{location} cannot be read: {error}") from error


def sql_type(field: NestedField) -> str:
    """Raises ValueError for a type that this executor cannot write."""
    if isinstance(field.field_type, DecimalType):
        return f"DECIMAL({field.field_type.precision}, {field.field_type.scale})"
    name = _SQL_TYPES.get(type(field.field_type))
    if name is None:
        raise ValueError(
            f"column {field.name} is of type {field.field_type}, which this executor cannot write"
        )
    return name


def literal(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def files_sql(locations: Iterable[str], columns: Sequence[NestedField]) -> str:
    """The rows of Parquet files with these columns, and with `FILE` (a local path) and `POSITION` of each.

    Columns are found by their field ids, so that a file from before a rename or an addition reads as the
    table does: its name there counts, and a column that it lacks is null.
    """
    paths = ", ".join(literal(local_path(location).translate(_GLOB)) for location in locations)
    fields = ", ".join(
        f"{column.field_id}: {{name: 'c{column.field_id}', type: {literal(sql_type(column))}, "
        "default_value: NULL}"
        for column in columns
    )
    names = ", ".join(f"c{column.field_id} AS {quoted(column.name)}" for column in columns)
    return (
        f"SELECT {names}, filename AS {FILE}, file_row_number AS {POSITION} "
        f"FROM read_parquet([{paths}], schema = MAP {{{fields}}}, filename = true, file_row_number = true, "
        "hive_partitioning = false)"
    )


def field_ids_sql(schema: Schema) -> str:
    """The option FIELD_IDS of COPY."""
    return ", ".join(f"{quoted(field.name)}: {field.field_id}" for field in schema.fields)
