"""What the bench knows of a table format: one value a format, listed in `bench.engines.registry`.

A format's own module makes its value and imports what it runs on (Spark, a reader of metadata) only when it
is asked: reading scenarios, listing formats and simulating do without.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pydantic import JsonValue

from bench.engines.contract import CatalogSettings, CommitLayout, Engine, EngineSettings
from bench.engines.simulated.costs import Coefficients, shipped_file
from bench.engines.tickets import Planning
from bench.keys import TableKeys
from strategies.plan import Action
from strategies.preview import Preview
from strategies.state import TableState
from workloads.commit import CommitSpec
from workloads.schema import Schema

# Bytes of the files that rows of a table make: (rows, files) -> bytes.
SizeModel = Callable[[int, int], int]

# How the rows of a table differ from those that commits leave (True: commits that also update and delete).
RowCheck = Callable[[Any, Iterable[CommitSpec], bool], str | None]


@dataclass(frozen=True, slots=True)
class EngineKind:
    """How tables of a format are run in one mode; a scenario that asks for more is refused before it starts.

    `capabilities` are members of `Capability` and names of native commands. Where the seconds of an engine
    are measured (`is_measured`) it is warmed up first, and the forecast of our planner stands beside each
    compaction. `options` are what results show of its configuration beside the table's. `wrong_rows`
    is for engines whose tables cannot be dumped.
    """

    open: Callable[[EngineSettings], AbstractContextManager[Engine]]
    capabilities: frozenset[str]
    is_measured: bool
    options: Callable[[EngineSettings], Mapping[str, JsonValue]] = lambda settings: {}
    wrong_rows: RowCheck | None = None


@dataclass(frozen=True, slots=True)
class DeleteFacts:
    """Delete files of one kind in an existing table."""

    kind: str
    files: int
    bytes: int
    rows: int


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What an existing table's metadata says beyond its state.

    `metadata` is where the state was read from, `snapshot` the version read and `committed_at` its time in
    UTC, both None for a table nothing was written to yet. `partition_spec` says how new files are
    partitioned, "" for not at all. `size_classes` are upper ends of classes of file sizes, as shares of the
    target size.
    """

    location: str
    metadata: str
    format_version: int | None
    snapshot: int | None
    committed_at: str | None
    partition_spec: str
    delete_files: Sequence[DeleteFacts]
    size_classes: Sequence[float]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a rewrite command leaves a table as it is: its thresholds, and how far the files are from them.

    A candidate is below `min_bytes` or above `max_bytes`; `candidates_together_count` are in the partition
    that has most. A group needs `needed_count` of them, or 2 of more than `target_bytes`.
    """

    files_count: int
    candidates_count: int
    candidates_together_count: int
    needed_count: int
    needed_option: str  # the command's own name for `needed_count`
    min_bytes: int
    max_bytes: int
    target_bytes: int


class ExistingTable(Protocol):
    """A table of the user's as it stands, for `compactbench plan`. Nothing is written."""

    @property
    def state(self) -> TableState:
        """The table as a planner may see it."""

    @property
    def facts(self) -> TableFacts:
        """What else is told of it."""

    def narrowed(self, action: Action) -> tuple[Action, TableState]:
        """An action without what only this table can tell, such as a row filter, and the files it concerns.

        Raises ScenarioError where the table was read at another branch or the filter cannot be evaluated.
        """

    def shortfall(self, action: Action, state: TableState) -> Shortfall | None:
        """The thresholds that kept every file out; None where the action has no such thresholds."""

    def is_files_out_exact(self, preview: Preview) -> bool:
        """Whether metadata tells how many data files come out."""

    def is_deletes_exact(self) -> bool:
        """Whether metadata tells which delete files apply to a data file; else it is an upper bound."""


@dataclass(frozen=True, slots=True)
class TableAddress:
    """Where to find an existing table: a name or a path, and the catalog as the user gave it.

    `scenario_catalog` is the catalog of a scenario. `properties` win over its own. `branch` None is the
    main one.
    """

    name: str
    catalog: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    scenario_catalog: CatalogSettings | None = None
    branch: str | None = None


def _no_size_model(schema: Schema) -> SizeModel | None:
    return None


@dataclass(frozen=True, slots=True)
class Format:
    """A table format; `name` is what scenarios and results call it, and its entry in `runtime.LINES`.

    `table_keys` is the model of [table]. `upsert_modes` are the ways commits can update and delete rows,
    none where the format's engines only append; `default_upsert_mode` is one of them. `own_properties` are
    table properties that a key of [table] sets, by that key. `codec_property` names the codec of data files,
    `default_codec` the one of tables that do not set it.

    `planning` are the rules by which plans are previewed and vetoed. `layout` gives the files that the
    format's writers make of a commit, where no strategy overrides how many writers there are.
    `writing_needs` are the capabilities that commits in an upsert mode (None: commits that only append)
    need, and `asked_by` names, for a capability, the key that asks for it. `metadata_bytes_per_commit` is
    about the most that one commit writes.

    `coefficients` reads those of a file, or with None those that come with the format; it raises
    ScenarioError. `size_model` gives None where file sizes cannot be forecast.
    """

    name: str
    title: str
    description: str
    table_keys: type[TableKeys]
    takes_catalog: bool
    upsert_modes: tuple[str, ...]
    default_upsert_mode: str | None
    own_properties: Mapping[str, str]
    codec_property: str
    default_codec: str
    metadata_bytes_per_commit: int
    planning: Planning
    layout: Callable[[CommitSpec], CommitLayout]
    writing_needs: Callable[[Any, str | None], frozenset[str]]
    real: EngineKind | None = None
    simulated: EngineKind | None = None
    asked_by: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()  # Python packages that take part in a real run, beyond those of every run
    coefficients: Callable[[Path | None], Coefficients] | None = None
    size_model: Callable[[Schema], SizeModel | None] = _no_size_model
    open_existing: Callable[[TableAddress], ExistingTable] | None = None
    existing_help: str = ""  # examples for `compactbench plan --help`, and where its catalogs are configured

    @property
    def capabilities(self) -> frozenset[str]:
        """What any of its engines can do."""
        kinds = (kind for kind in (self.real, self.simulated) if kind is not None)
        return frozenset[str]().union(*(kind.capabilities for kind in kinds))

    def shipped_coefficients(self) -> Coefficients | None:
        """The coefficients that come with it, for estimates that a run can do without; None without any.

        Raises ScenarioError where their file is damaged.
        """
        if self.coefficients is None or not shipped_file(self.name).is_file():
            return None
        return self.coefficients(None)
