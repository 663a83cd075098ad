"""Files that go between a table and Spark's own Parquet reader and writer, which know Hadoop alone."""

import shutil
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.engines.iceberg.delete_files import WrittenFile
from bench.engines.iceberg.table_files import data_folder
from bench.engines.spark.session import file_system, has_file_system, java_class
from bench.errors import EngineError
from bench.spark_master import parse_master


class Exchange:
    """Gives Spark the files of one table to read, and takes those that it has written.

    Where Hadoop has a file system for the table's location, files are read and written in place. Otherwise,
    as with S3FileIO alone, they are downloaded whole, and uploaded by the table's FileIO.

    Raises EngineError if the files would have to be carried between machines.
    """

    def __init__(self, spark: SparkSession, table: Any) -> None:
        self._spark, self._io = spark, table.io()
        self._data = data_folder(str(table.location()), table.properties())
        self._local: Path | None = None
        self._copies: dict[str, str] = {}
        self._uploaded: dict[str, str] = {}  # by where Spark had written the file
        if not has_file_system(spark, self._data):
            self._local = Path(_local_folder(spark, self._data)) / f"exchange-{uuid.uuid4()}"
            self._local.mkdir(parents=True)

    def scratch(self, name: str) -> str:
        """A location for Spark to write to, which does not exist yet."""
        where = self._data if self._local is None else f"file://{self._local}"
        return f"{where}/{name}-{uuid.uuid4()}"

    def stored(self, file: WrittenFile, target: str | None = None) -> WrittenFile:
        """A file that Spark has written, as a file of the table: at `target`, or wherever suits.

        Raises OSError if it cannot be moved there.
        """
        if self._local is None:
            if target is not None:
                move(self._spark, file.location, target)
            return replace(file, location=target or file.location)
        place = target or f"{self._data}/{uuid.uuid4()}.parquet"
        stream = self._io.newOutputFile(place).createOrOverwrite()
        try:
            self._files().copy(self._path(file.location.removeprefix("file://")), stream)
        finally:
            stream.close()
        self._uploaded[file.location] = place
        return replace(file, location=place)

    def readable(self, locations: Sequence[str]) -> list[str]:
        """Where Spark can read these files of the table."""
        return [self._readable(location) for location in locations]

    def shown(self, location: str) -> str:
        """Its `_metadata.file_path` in Spark: a URI, encoded, with // only before a host."""
        path, system = file_system(self._spark, self._readable(location))
        uri = path.makeQualified(system.getUri(), system.getWorkingDirectory()).toUri()
        host = uri.getRawAuthority()
        return f"{uri.getScheme()}:{f'//{host}' if host else ''}{uri.getRawPath()}"

    def discard(self, scratch: str) -> None:
        """Remove what was written to a scratch location, and what was made files of the table from it."""
        for location in [location for location in self._uploaded if location.startswith(f"{scratch}/")]:
            self._io.deleteFile(self._uploaded.pop(location))
        self.remove(scratch)

    def remove(self, scratch: str) -> None:
        """Remove a scratch location. Files of the table that are still there go with it."""
        path, system = file_system(self._spark, scratch)
        system.delete(path, True)

    def close(self) -> None:
        """Remove the copies on this machine."""
        if self._local is not None:
            shutil.rmtree(self._local, ignore_errors=True)

    def _readable(self, location: str) -> str:
        if self._local is None:
            return location
        if location not in self._copies:
            copy = self._local / f"{len(self._copies)}.parquet"
            stream = self._io.newInputFile(location).newStream()
            try:
                self._files().copy(stream, self._path(str(copy)), self._no_options())
            finally:
                stream.close()
            self._copies[location] = f"file://{copy}"
        return self._copies[location]

    def _files(self) -> Any:
        return java_class(self._spark, "java.nio.file.Files")

    def _path(self, path: str) -> Any:
        return java_class(self._spark, "java.io.File")(path).toPath()

    def _no_options(self) -> Any:
        gateway: Any = self._spark.sparkContext._gateway
        return gateway.new_array(gateway.jvm.java.nio.file.CopyOption, 0)


def _local_folder(spark: SparkSession, location: str) -> str:
    """A folder that the tasks see too."""
    if parse_master(str(spark.sparkContext.master)).kind != "local":
        raise EngineError(
            f"Hadoop has no file system for {location}, by which the executors of a cluster could exchange "
            'delete files: add one, for S3 by spark."spark.jars.packages" = '
            '"org.apache.hadoop:hadoop-aws:3.3.4" and spark."spark.hadoop.fs.s3.impl" = '
            '"org.apache.hadoop.fs.s3a.S3AFileSystem"'
        )
    return str(spark.conf.get("spark.local.dir"))


def move(spark: SparkSession, location: str, target: str) -> None:
    """Rename a file within its file system. Raises OSError if that fails."""
    source, system = file_system(spark, location)
    if not system.rename(source, java_class(spark, "org.apache.hadoop.fs.Path")(target)):
        raise OSError(f"{location} cannot be renamed to {target}")
