"""Exchanges files between the driver's machine and the tasks: change logs to read, dumps to check.

By default both see the same folders. Executors on other machines do not: their files go through a folder that
every machine reaches by Hadoop (`[spark] staging`).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from bench.engines.journal import Journal
from bench.engines.spark.session import file_system, has_file_system, java_class
from bench.errors import EngineError

STAGED = "staged files"  # as a journal names them
_OPENED: dict[SparkContext, "Staging"] = {}


def staging_of(spark: SparkSession) -> "Staging":
    """The staging of the session's context; without one, files stay in place."""
    return _OPENED.get(spark.sparkContext) or Staging(spark, None)


@contextmanager
def opened_staging(spark: SparkSession, folder: str | None, journal: Journal | None) -> Iterator[None]:
    """The staging of a session, noted in the journal until it is removed. Raises EngineError.

    The folder is deliberately no setting of Spark, since it is deleted at the end.
    """
    staging = Staging(spark, folder)
    if journal is not None:
        journal.note(STAGED)
    _OPENED[spark.sparkContext] = staging
    try:
        yield
    finally:
        del _OPENED[spark.sparkContext]
        staging.close()
        if journal is not None:
            journal.cross_out(STAGED)


class Staging:
    """The folder that driver and tasks share; without one, files stay where they are.

    Raises EngineError if Hadoop has no file system for it.
    """

    def __init__(self, spark: SparkSession, folder: str | None) -> None:
        self._spark = spark
        self.folder = folder
        self._staged: dict[Path, str] = {}
        if folder is not None and not has_file_system(spark, folder):
            raise EngineError(
                f"Hadoop has no file system for {folder}; choose a path that it has one for, or add the file "
                "system to spark.jars",
                code="unsupported",
                path="spark.staging",
            )

    def readable(self, files: Sequence[Path]) -> list[str]:
        """Paths at which tasks can read these local files. Each file is copied at most once."""
        return [self._readable(file) for file in files]

    def _readable(self, file: Path) -> str:
        if self.folder is None:
            return str(file)
        if file not in self._staged:
            target = f"{self.folder}/{len(self._staged)}/{file.name}"
            path, system = file_system(self._spark, target)
            system.copyFromLocalFile(self._path(f"file://{file}"), path)
            self._staged[file] = target
        return self._staged[file]

    def written(self, folder: Path, write: Callable[[str], None]) -> None:
        """Have tasks write files, which are then in `folder` on this machine."""
        if self.folder is None:
            write(f"file://{folder}")
            return
        target = f"{self.folder}/{folder.name}"
        write(target)
        path, system = file_system(self._spark, target)
        system.copyToLocalFile(True, path, self._path(f"file://{folder}"), True)  # moved, without checksums

    def close(self) -> None:
        if self.folder is not None:
            path, system = file_system(self._spark, self.folder)
            system.delete(path, True)
            self._staged.clear()

    def _path(self, location: str) -> Any:
        return java_class(self._spark, "org.apache.hadoop.fs.Path")(location)
