"""Exchanges files between a table and Spark's own Parquet reader and writer, which only use Hadoop."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import SparkSession

from bench.engines.iceberg.delete_files import WrittenFile
from bench.engines.iceberg.table_files import data_folder
from bench.engines.master import parse_master
from bench.engines.spark.session import file_system, has_file_system, java_class
from bench.engines.spark.staging import staging_of
from bench.errors import EngineError


class Exchange:
    """Makes files of one table readable for Spark, and files that Spark has written part of the table.

    If Hadoop has a file system for the table's location, files are read and written in place. Otherwise, as
    with S3FileIO alone, the table's FileIO copies them whole from and to the staging of the session, or a
    folder of this machine. Raises EngineError if tasks on other machines cannot reach either.
    """

    def __init__(self, spark: SparkSession, table: Any) -> None:
        self._spark, self._io = spark, table.io()
        self._data = data_folder(str(table.location()), table.properties())
        self._between: str | None = None  # the folder of the copies; None: files are used in place
        self._copies: dict[str, str] = {}
        self._stored: dict[str, str] = {}  # files of the table, by the location that Spark wrote to
        if not has_file_system(spark, self._data):
            self._between = f"{_place(spark, self._data)}/exchange-{uuid.uuid4()}"

    def scratch(self, name: str) -> str:
        """A location for Spark to write to, which does not exist yet."""
        return f"{self._between or self._data}/{name}-{uuid.uuid4()}"

    def stored(self, file: WrittenFile, target: str | None = None) -> WrittenFile:
        """Make a file that Spark has written part of the table, at `target` or at any location.

        Raises OSError if it cannot be moved there.
        """
        if self._between is None:
            if target is not None:
                move(self._spark, file.location, target)
                self._stored[file.location] = target
            return replace(file, location=target or file.location)
        place = target or f"{self._data}/{uuid.uuid4()}.parquet"
        path, system = file_system(self._spark, file.location)
        self._copy(system.open(path), self._io.newOutputFile(place).createOrOverwrite())
        self._stored[file.location] = place
        return replace(file, location=place)

    def readable(self, locations: Sequence[str]) -> list[str]:
        """Locations at which Spark can read these files of the table."""
        return [self._readable(location) for location in locations]

    def shown(self, location: str) -> str:
        """Its `_metadata.file_path` in Spark: a URI, encoded, with // only before a host."""
        path, system = file_system(self._spark, self._readable(location))
        uri = path.makeQualified(system.getUri(), system.getWorkingDirectory()).toUri()
        host = uri.getRawAuthority()
        return f"{uri.getScheme()}:{f'//{host}' if host else ''}{uri.getRawPath()}"

    def discard(self, scratch: str) -> None:
        """Remove what was written to a scratch location, and the files of the table made from it."""
        for location in [location for location in self._stored if location.startswith(f"{scratch}/")]:
            self._io.deleteFile(self._stored.pop(location))
        self.remove(scratch)

    def remove(self, location: str) -> None:
        path, system = file_system(self._spark, location)
        system.delete(path, True)

    def close(self) -> None:
        if self._between is not None:
            self.remove(self._between)

    def _readable(self, location: str) -> str:
        if self._between is None:
            return location
        if location not in self._copies:
            copy = f"{self._between}/{len(self._copies)}.parquet"
            path, system = file_system(self._spark, copy)
            self._copy(self._io.newInputFile(location).newStream(), system.create(path))
            self._copies[location] = copy
        return self._copies[location]

    def _copy(self, source: Any, target: Any) -> None:
        """Copy all bytes from one Java stream to another, and close both."""
        streams = java_class(self._spark, "org.apache.hadoop.io.IOUtils")
        streams.copyBytes(source, target, self._spark._jsc.hadoopConfiguration(), True)


def _place(spark: SparkSession, location: str) -> str:
    """A folder that the tasks can also reach."""
    staging = staging_of(spark).folder
    if staging is not None:
        return staging
    if parse_master(str(spark.sparkContext.master)).kind == "cluster":
        raise EngineError(
            f"Hadoop has no file system for {location}, so executors of a cluster cannot exchange delete "
            "files with the driver: set spark.staging to a location that both reach",
            code="unsupported",
        )
    first, *_ = str(spark.conf.get("spark.local.dir")).split(",")
    return f"file://{first}"


def move(spark: SparkSession, location: str, target: str) -> None:
    """Rename a file within its file system. Raises OSError if that fails."""
    source, system = file_system(spark, location)
    if not system.rename(source, java_class(spark, "org.apache.hadoop.fs.Path")(target)):
        raise OSError(f"{location} cannot be renamed to {target}")
