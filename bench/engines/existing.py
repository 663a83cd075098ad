"""An existing table as `compactbench plan` reads it. Each format has a reader of its own."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Protocol

from bench.engines.contract import CatalogSettings
from bench.errors import ScenarioError
from bench.text import utc_text
from strategies.plan import Action
from strategies.planner import Planner
from strategies.preview import Preview
from strategies.state import DeleteFile, TableState
from workloads.history_file import TableHistory
from workloads.recorded import HistoryFacts


@dataclass(frozen=True, slots=True)
class DeleteFacts:
    """Delete files of one kind in an existing table; `rows` is None if that of any file is unknown."""

    kind: str
    files: int
    bytes: int
    rows: int | None

    @classmethod
    def of(cls, kind: str, deletes: Collection[DeleteFile], *, has_rows: bool = True) -> "DeleteFacts":
        rows = sum(file.rows for file in deletes) if has_rows else None
        return cls(kind, len(deletes), sum(file.size_bytes for file in deletes), rows)


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What an existing table's metadata contains beyond its state.

    `metadata` is the file that the state was read from. `committed_at` is the time of `version` in UTC, or
    without an offset if the table does not record its time zone; both are None for a table without commits.
    `partition_spec` is the partitioning of new files, "" for none. `columns` are full names. `size_classes`
    are the upper ends of file size classes, as fractions of the target size.
    """

    location: str
    metadata: str
    format_version: int | None
    version: str | None
    committed_at: str | None
    partition_spec: str
    columns: Sequence[str]
    delete_files: Sequence[DeleteFacts]
    size_classes: Sequence[float] = (0.01, 0.1, 0.5, 1.0)


def committed_text(at_ms: int | None) -> str | None:
    """A `committed_at` in UTC, for a time in milliseconds since 1970."""
    if at_ms is None:
        return None
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a rewrite command leaves a table as it is, and how far its files are from being rewritten.

    `candidates_are` describes the candidates, `needs` what the command requires of them; both are printed.
    `candidates_together_count` is the largest number of candidates in one `together_in`. `thresholds` are the
    figures in these texts, under the format's own names.
    """

    files_count: int
    candidates_count: int
    candidates_together_count: int
    candidates_are: str
    needs: str
    thresholds: Mapping[str, int | float]
    together_in: str = "partition"


class ExistingTable(Protocol):
    """A user's table as it is now. It is never written to."""

    @property
    def state(self) -> TableState: ...

    @property
    def facts(self) -> TableFacts: ...

    def narrowed(self, action: Action) -> tuple[Action, TableState]:
        """The action without arguments that only this table can resolve, such as a row filter, and its files.

        Raises ScenarioError if the table was read at another branch or the filter cannot be evaluated.
        """

    def shortfall(self, action: Action, state: TableState) -> Shortfall | None:
        """The thresholds that exclude every file of the state; None for an action without such thresholds."""

    def planner_problem(self, planner: Planner) -> str | None:
        """Why the format would refuse every plan of the planner for this table, or why it never plans."""

    def dropped_deletes(self, action: Action, preview: Preview) -> Collection[str]:
        """The keys of the delete files that an action may drop because they then apply to no data file."""

    def is_files_out_exact(self, preview: Preview) -> bool:
        """Whether the number of output files follows from metadata."""

    def is_deletes_exact(self) -> bool:
        """Whether metadata determines which delete files apply to a data file, or only an upper bound."""


@dataclass(frozen=True, slots=True)
class TableAddress:
    """Where to find an existing table: its name or path, and the catalog as the user gave it.

    `properties` override those of `scenario_catalog`. `branch` None is the main branch.
    """

    name: str
    catalog: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    scenario_catalog: CatalogSettings | None = None
    branch: str | None = None


def no_commits(newest_ms: int | None, path: str) -> ScenarioError:
    """Of a table without commits (`newest_ms` None), or none as new as those that were to be imported."""
    if newest_ms is None:
        return ScenarioError("has no commits yet: import it after some", code="empty", path=path)
    return ScenarioError(
        f"has no commit in this time: its newest is of {utc_text(newest_ms)} UTC; give a longer --since, or "
        "leave it out",
        code="empty",
        path=path,
    )


@dataclass(frozen=True, slots=True)
class Importing:
    """How histories of existing tables, and streams that users describe, become scenarios.

    `history` reads what a table's metadata records of its past, from a time on (milliseconds since 1970 UTC)
    if one is given; it raises ScenarioError. `planners` are planners to start from, by a short name, each as
    a scenario writes it, given the facts of the history and whether the table has delete files. `table_keys`
    are keys beyond the defaults of a table that such planners suit, given whether its stream changes rows.
    `day_text` is a day as the table's partitions name it.
    """

    history: Callable[[TableAddress, int | None], TableHistory]
    planners: Callable[[HistoryFacts, bool], Mapping[str, str]]
    table_keys: Callable[[bool], Mapping[str, str | int]] = lambda is_upsert: {}
    day_text: Callable[[date], str] = date.isoformat


@dataclass(frozen=True, slots=True)
class ExistingTables:
    """How existing tables of a format are found and opened.

    `is_at` is whether there is such a table in the folder of this name; False if it cannot be read.
    `help` has examples for `compactbench plan --help`, and where catalogs are configured.
    """

    open: Callable[[TableAddress], ExistingTable]
    is_at: Callable[[str], bool]
    help: str
    imports: Importing
