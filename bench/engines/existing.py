"""A user's table as `compactbench plan` reads it. Each format has a reader of its own."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bench.engines.contract import CatalogSettings
from bench.errors import ScenarioError, first_error
from strategies.plan import Action
from strategies.planner import Planner
from strategies.preview import Preview
from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class DeleteFacts:
    """Delete files of one kind in an existing table; `rows` is None if that is not known of all of them."""

    kind: str
    files: int
    bytes: int
    rows: int | None


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What an existing table's metadata says beyond its state.

    `metadata` is the file that the state was read from. `version` is the version read, as in its state,
    and `committed_at` its time in UTC, or without an offset where the table does not say in which time
    zone it is; both are None for a table that has never been written to.
    `partition_spec` says how new files are partitioned, "" if they are not. `columns` are all columns by
    their full names. `size_classes` are the upper ends of file size classes, as fractions of the target size.
    """

    location: str
    metadata: str
    format_version: int | None
    version: str | None
    committed_at: str | None
    partition_spec: str
    columns: Sequence[str]
    delete_files: Sequence[DeleteFacts]
    size_classes: Sequence[float]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a rewrite command leaves a table as it is, and how far its files are from being rewritten.

    `candidates_are` says in words which files are candidates, `needs` what the command needs of them.
    `candidates_together_count` is the number of candidates in the partition that has most, or in what else a
    command keeps together (`together_in`). `thresholds` are the figures behind the words, by the format's own
    names.
    """

    files_count: int
    candidates_count: int
    candidates_together_count: int
    candidates_are: str
    needs: str
    thresholds: Mapping[str, int | float]
    together_in: str = "partition"


class ExistingTable(Protocol):
    """A user's table as it is now, for `compactbench plan`. It is never written to."""

    @property
    def state(self) -> TableState:
        """The table as a planner sees it."""

    @property
    def facts(self) -> TableFacts:
        """What its metadata says beyond the state."""

    def narrowed(self, action: Action) -> tuple[Action, TableState]:
        """The action without arguments that only this table can resolve, such as a row filter, and its files.

        Raises ScenarioError where the table was read at another branch or the filter cannot be evaluated.
        """

    def shortfall(self, action: Action, state: TableState) -> Shortfall | None:
        """The thresholds that exclude every file of the state; None for an action without such thresholds."""

    def planner_problem(self, planner: Planner) -> str | None:
        """Why the format would refuse all that a planner plans for the table, or why it never plans."""

    def dropped_deletes(self, action: Action, preview: Preview) -> Collection[str]:
        """The most delete files, by key, that an action drops since they apply to no data file afterwards."""

    def is_files_out_exact(self, preview: Preview) -> bool:
        """Whether the number of output files follows from metadata."""

    def is_deletes_exact(self) -> bool:
        """Whether metadata determines which delete files apply to a data file, or only an upper bound."""


@dataclass(frozen=True, slots=True)
class TableAddress:
    """Where to find an existing table: its name or path, and the catalog as the user gave it.

    `scenario_catalog` is the catalog of a scenario, whose properties `properties` override. `branch` None is
    the main branch.
    """

    name: str
    catalog: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    scenario_catalog: CatalogSettings | None = None
    branch: str | None = None


@dataclass(frozen=True, slots=True)
class ExistingTables:
    """How existing tables of a format are found and opened.

    `is_at` says whether a name is that of a folder with such a table; False where that cannot be found out.
    `help` has examples for `compactbench plan --help`, and where catalogs are configured.
    """

    open: Callable[[TableAddress], ExistingTable]
    is_at: Callable[[str], bool]
    help: str


def resolved(name: str) -> str:
    """The absolute path of a folder, or its URI. Raises ScenarioError for a user without a home."""
    if "://" in name:
        return name
    try:
        return str(Path(name).expanduser().absolute())
    except RuntimeError as error:
        raise ScenarioError(f"{name}: {error}: give the table's folder by its path") from error


def table_folder(address: TableAddress, metadata_folder: str, tables: str) -> str:
    """The folder of a table; `tables` is what messages call its kind.

    Raises ScenarioError for an address by a catalog or branch, and for one within the metadata.
    """
    if address.branch is not None:
        raise ScenarioError(f"--branch {address.branch}: {tables} have no branches; leave it out")
    if address.catalog is not None or address.properties:
        raise ScenarioError(
            f"--catalog, --catalog-property: {tables} are found by their folders; give the path or URI"
        )
    location = resolved(address.name)
    folder, within, _ = location.partition(f"/{metadata_folder}")
    if within:
        raise ScenarioError(f"{location}: is in the metadata of a table; give the table's folder, {folder}")
    return location


@contextmanager
def reading(location: str, damaged: type[Exception]) -> Iterator[None]:
    """Turn what reading a table raises into a ScenarioError; `damaged` names the damaged file itself."""
    try:
        yield
    except damaged as error:
        raise ScenarioError(f"{error}; check the table with its own engine") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(
            f"{location}: cannot be read: the name of a file in it is not UTF-8; rename or remove that file"
        ) from error
    except (OSError, ValueError) as error:
        raise ScenarioError(
            f"{location}: cannot be read: {first_error(error)}; check the path and the credentials"
        ) from error
