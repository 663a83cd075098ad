"""Races commits to the same versions of Delta tables on local files: `make torture`.

Two writers are threads of one JVM with a session each, like the roles of a run on a Delta table. Both begin a
transaction on the same version, and then both commit a file. The winner must get the next version, and the
other one has to notice and take the version after that. The log must then have each file in the version that
its writer was told, and nothing else.

What makes this safe is the lock of Delta's log, of which a JVM has one for each path. Delta's LogStore for
local files is not: it looks whether the file of a version exists, and then renames its own to it.
`--without-lock` races without the lock and only counts what is lost.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

from pyspark.sql import SparkSession

from bench.engines import runtime
from bench.engines.contract import SparkSettings
from bench.engines.delta.log import DeltaLog
from bench.engines.delta.properties import session_conf
from bench.engines.spark.session import role_session, start_session, stop_session

WRITERS = ("a", "b")
RACES_A_TABLE = 40  # Delta lists the log for each commit, and reads a long one as a whole
WAIT_S = 60.0  # for the other writer
PROPERTIES = "'delta.checkpointInterval' = '1000'"  # no checkpoint
LOCK = "spark.databricks.delta.commitLock.enabled"

Told = dict[str, int]  # the version that the commit of each file was told


def file_of(writer: str, race: int) -> str:
    return f"{writer}-{race}"


def commits(table: Path, races: range, writer: str, both: Barrier) -> Told:
    """Take part in all races for versions of a table."""
    spark = role_session(writer)
    jvm: Any = spark._jvm
    delta, none = jvm.org.apache.spark.sql.delta, jvm.scala.Option.empty()
    log = delta.DeltaLog.forTable(spark._jsparkSession, str(table))
    # Unlike others, an operation such as ManualUpdate makes Delta read the whole log by a job of Spark.
    append = jvm.org.apache.spark.sql.SaveMode.Append
    operation = getattr(delta, "DeltaOperations$Write")(append, none, none, none)
    action_of = getattr(getattr(delta.actions, "Action$"), "MODULE$").fromJson
    told = {}
    for race in races:
        file = file_of(writer, race)
        fields = {"path": file, "partitionValues": {}, "size": 1, "modificationTime": 0, "dataChange": True}
        actions = jvm.PythonUtils.toSeq([action_of(json.dumps({"add": fields}))])
        both.wait()
        transaction = log.startTransaction()
        both.wait()
        told[file] = transaction.commit(actions, operation)
    return told


def at_once(work: Callable[[str, Barrier], Told], pool: ThreadPoolExecutor) -> Told:
    """What the writers were told. Raises the error of one that fails, which ends the wait of the other."""
    both, told = Barrier(len(WRITERS), timeout=WAIT_S), Told()
    working = [pool.submit(work, writer, both) for writer in WRITERS]
    try:
        for one in as_completed(working):
            told |= one.result()
    finally:
        both.abort()
    return told


def problems_of(table: Path, told: Told) -> list[str]:
    """A line for each commit that is not in its version, and for each version that nobody was told."""
    log = DeltaLog(str(table))
    stored = {commit.version: [file.path for file in commit.added] for commit in log.commits_after(0)}
    lost = [
        f"{table.name}: {file} was told version {version}, which has {stored.get(version)}"
        for file, version in told.items()
        if stored.get(version) != [file]
    ]
    unknown = sorted(stored.keys() - set(told.values()))
    return [*lost, *(f"{table.name}: nobody was told version {version}" for version in unknown)]


def winners(told: Told, races: Iterable[int]) -> Counter[str]:
    """How many races each writer has won: those in which it was told an earlier version than the other."""
    pairs = [{told[file_of(writer, race)]: writer for writer in WRITERS} for race in races]
    return Counter(pair[min(pair)] for pair in pairs if len(pair) == len(WRITERS))


@contextmanager
def session(scratch: Path, *, has_lock: bool) -> Iterator[SparkSession]:
    settings = SparkSettings(master="local[2]", driver_memory_bytes=2**30)
    conf = session_conf() | ({} if has_lock else {LOCK: "false"})
    spark = start_session(settings, runtime.jars("delta"), conf, scratch)
    try:
        yield spark
    finally:
        stop_session(spark)


def main() -> None:
    """Exits with 1 if a commit was lost in spite of the lock."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--races", type=int, default=4_000)
    parser.add_argument("--without-lock", action="store_true", help="only count what is lost")
    options = parser.parse_args()
    runtime.use_java()
    problems, won, started_s = list[str](), Counter[str](), time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="compactbench-races-") as place,
        ThreadPoolExecutor(len(WRITERS)) as pool,  # ends after the session, so that no call can hold it up
        session(Path(place, "scratch"), has_lock=not options.without_lock) as spark,
    ):
        empty = Path(place, "empty")
        spark.sql(f"CREATE TABLE delta.`{empty}` (id BIGINT) USING delta TBLPROPERTIES ({PROPERTIES})")
        for first in range(0, options.races, RACES_A_TABLE):
            races = range(first, min(first + RACES_A_TABLE, options.races))
            table = shutil.copytree(empty, Path(place, f"table-{first}"))
            told = at_once(partial(commits, table, races), pool)
            problems += problems_of(table, told)
            won += winners(told, races)
    took_s, lock = time.monotonic() - started_s, "without" if options.without_lock else "with"
    by_writer = ", ".join(f"{won[writer]:,} won by {writer}" for writer in WRITERS)
    print(f"{options.races:,} races {lock} the lock: {by_writer}, {len(problems)} lost, {took_s:.0f} s")
    if problems and not options.without_lock:
        print(*problems, sep="\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
