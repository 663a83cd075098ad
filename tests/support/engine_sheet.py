"""What the contract suite has to know of an engine beyond the contract: one sheet each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pyspark.sql import SparkSession

from bench.engines.contract import Engine, SparkSettings
from strategies.plan import Action, Native

UNKNOWN_OPTION = "no-such"  # that no command of any format has


@dataclass(frozen=True)
class Workshop:
    """What one test makes its engine with: the shared session, a folder, and a namespace of its own."""

    spark: Callable[[], SparkSession]
    settings: SparkSettings
    folder: Path  # of the whole test session
    namespace: str


@dataclass(frozen=True)
class EngineSheet:
    """How to make an engine, and its format's own answers to what the suite asks.

    `make` takes fields of a `TableSpec`; without a target file size it is 8 MiB. An answer of None says that
    the format has no such command; the tests that ask for it do not run on the engine.
    """

    make: Callable[..., Engine]

    # Options with which `Compact` merges the files of a partition from two on.
    compact_two: Mapping[str, str]

    # What rewrites all small files, with the deletes that apply to them.
    rewriting: Action

    # Maintenance at minute 5 that deletes all files that left the table before.
    freeing: Native

    # A command that fails because of its option `UNKNOWN_OPTION`.
    faulty: Native

    # What the answer to a `Compact` calls the numbers of data files it removed and added.
    removed_and_added: tuple[str, str]

    # Whether scans report how many metadata files they read.
    reports_metadata_files: bool

    # Whether each task of a commit writes a data file; otherwise rows may go into files that are there.
    writes_a_file_per_task: Literal[True] | None = True

    # A command that merges the small files of a table where there are at least so many, and else none.
    merge_from: Callable[[int], Native] | None = None

    # Maintenance that has work to do after three commits, and writes metadata.
    maintenance: Native | None = None

    # What the shared Spark session has to be configured with, whose tables lie in this folder.
    session_conf: Callable[[Path], Mapping[str, str]] = lambda folder: {}

    # Whether the empty table has a version already.
    is_created_with_a_version: bool = False

    # Of `Compact` and `Native`, those whose input files are settled when they are scheduled, as those of a
    # `Rewrite` always are. The others take on completion what the table has by then.
    settled_on_schedule: frozenset[type[Action]] = frozenset()

    @property
    def commands(self) -> frozenset[str]:
        """The native commands that its answers run."""
        merging = self.merge_from(2) if self.merge_from else None
        answers = (self.faulty, merging, self.maintenance, self.rewriting, self.freeing)
        return frozenset(answer.command for answer in answers if isinstance(answer, Native))
