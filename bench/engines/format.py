"""What the bench knows about a table format: one value per format, listed in `bench.engines.registry`.

A format's own module builds its value. It imports what its engines run on (Spark, a metadata reader) only
when one is opened: scenarios are read, formats listed and tables simulated without them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pydantic import JsonValue

from bench.engines.contract import CatalogSettings, CommitLayout, Engine, EngineSettings, TableSpec
from bench.engines.simulated.costs import Coefficients, shipped_file
from bench.engines.simulated.files import table_bytes
from bench.engines.tickets import Planning
from bench.keys import TableKeys
from bench.results.records import DELETE_WORDS
from strategies.plan import Action
from strategies.preview import Preview
from strategies.state import TableState
from strategies.strategy import Planner, Rule
from workloads.commit import CommitSpec
from workloads.schema import Schema

# The bytes of a table's data files: (rows, files) -> bytes.
SizeModel = Callable[[int, int], int]

# How a table's rows differ from what its commits leave, None if they do not. The third argument is True if
# commits also update and delete.
RowCheck = Callable[[Any, Iterable[CommitSpec], bool], str | None]


# What is wrong with setting this one of Spark's settings, and the remedy; None if it may be set.
SettingProblem = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class EngineKind:
    """How a format's tables are run in one mode. A scenario that needs more is refused before it starts.

    `capabilities` are members of `Capability` and names of native commands. An engine whose seconds are
    measured (`is_measured`) is warmed up first, and our planner's forecast is recorded with each compaction.
    `options` are the part of its configuration that results show in addition to the table's.
    `setting_problem` refuses a setting of Spark that decides which files there are, and that the engine does
    not heed; `heeded_settings` are those that a simulation heeds. `wrong_rows` and `content_bytes`, the bytes
    of all live rows in one data file, are for engines whose tables cannot be dumped. `executors_memory_bytes`
    is the memory that the executors of an open engine have beside its driver, None where there are none.
    `drop_left` removes what journals note of an interrupted or kept run: tables in a shared catalog and
    staged files.
    """

    open: Callable[[EngineSettings], AbstractContextManager[Engine]]
    capabilities: frozenset[str]
    is_measured: bool
    options: Callable[[EngineSettings], Mapping[str, JsonValue]] = lambda settings: {}
    setting_problem: SettingProblem = lambda name: None
    heeded_settings: frozenset[str] = frozenset()
    wrong_rows: RowCheck | None = None
    content_bytes: Callable[[Any], int] | None = None
    executors_memory_bytes: Callable[[Any], int | None] = lambda engine: None
    drop_left: Callable[[EngineSettings], None] = lambda settings: None


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

    `metadata` is the file that the state was read from. `version` is the one that was read, as in its state,
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
class NeededClass:
    """A class of Java that a property of a catalog asks for, by its full name.

    `jar` has the coordinates, without a version, of one that is published with the format and has the class.
    """

    property: str
    name: str
    jar: str | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """A table format; `name` is what scenarios and results call it, and its entry in `runtime.LINES`.

    `table_keys` is the model of [table]. `catalog_types` are what `type` of a catalog may be; they are empty
    where tables have no catalog. `catalog_problem` gives a property of a catalog with which tables of runs
    could not be kept apart from others, and what is wrong with it; `catalog_servers` those that name servers
    by URIs, separated by commas, of which one is enough. `upsert_modes` are the ways in which
    commits can update and delete rows, each with what does it ("equality deletes", "MERGE INTO"), as results
    say; they are empty where the format's engines only append. `default_upsert_mode` is one of them.
    `own_properties` maps the table properties that a key of the scenario sets to that key: "table." and the
    key for one of [table], "writer." for one of a strategy's writer. Those in `size_properties` a strategy
    may override by a size. `property_name` gives the name that the format itself has for a property, where it
    reads several spellings. `codec_setting` is the table property or Spark setting that names the codec of
    data files, `default_codec` the codec where it is not set.

    `property_problem` gives a table property whose value the format refuses or does not suit the table, and
    what is wrong with it; None where there is none. `key_problem` does so for a key of [table] that names
    columns; `rule_problem` says why a rule, whose delay is set, does not suit the table. That the columns
    exist is checked for all formats.

    `planning` holds the rules by which plans are previewed and vetoed. `layout` gives the files that the
    format's writers make of a commit with these settings of Spark if no strategy overrides the number of
    writers; `writers_refused` says why none may, and what to do instead, where their number decides nothing.
    `moves_refused` says why a change may not put a row into another partition; None where it may.
    `writing_needs` gives the capabilities that commits in an upsert mode need (None: commits that only
    append), and `asked_by` names the key that requires a capability, and `instead` says what to use in place
    of one that the format does not have. `metadata_bytes_per_commit` is roughly the most that one commit
    writes. `metadata_commands` are the native commands that write no data or delete file, `expiry_commands`
    those that drop old versions.

    `coefficients` reads a coefficients file, or with None the one that ships with the format; it raises
    ScenarioError.

    `initial_order` says how the rows of the initial load lie in its files, where the format decides that.

    `open_existing` opens an existing table. `is_table_at` says whether a name is that of a folder with one of
    the format; False where that cannot be found out.

    `views` are further names by which queries may read the table, each with what it shows.

    `java_modules` are modules of Java that not every Java has, each with what needs it; `needed_java_modules`
    gives those that a catalog with these properties needs, whose `type` is in lower case. `needed_classes`
    gives the classes that it loads by name, and those of other libraries without which they cannot work.

    `delete_words` are what it calls delete files and the rows in them, both in the plural with an s.

    `training` names the shipped scenario from which Java's classes are archived, one that uses as much of the
    format as possible; None for no archive.
    """

    name: str
    title: str
    description: str
    table_keys: type[TableKeys]
    catalog_types: frozenset[str]
    upsert_modes: Mapping[str, str]
    default_upsert_mode: str | None
    own_properties: Mapping[str, str]
    codec_setting: str
    default_codec: str
    metadata_bytes_per_commit: int
    planning: Planning
    layout: Callable[[CommitSpec, Mapping[str, str]], CommitLayout]
    writing_needs: Callable[[Any, str | None], frozenset[str]]
    property_name: Callable[[str], str] = lambda name: name
    catalog_problem: Callable[[Mapping[str, str]], tuple[str, str] | None] = lambda catalog: None
    property_problem: Callable[[TableSpec], tuple[str, str] | None] = lambda spec: None
    key_problem: Callable[[TableSpec], tuple[str, str] | None] = lambda spec: None
    rule_problem: Callable[[TableSpec, Rule], str | None] = lambda spec, rule: None
    initial_order: Callable[[Any], str | None] = lambda keys: None
    real: EngineKind | None = None
    simulated: EngineKind | None = None
    writers_refused: str | None = None
    moves_refused: str | None = None
    size_properties: frozenset[str] = frozenset()
    metadata_commands: frozenset[str] = frozenset()
    expiry_commands: frozenset[str] = frozenset()
    asked_by: Mapping[str, str] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()  # what a real run uses of Python in addition to the usual packages
    coefficients: Callable[[Path | None], Coefficients] | None = None
    views: Mapping[str, str] = field(default_factory=dict)
    java_modules: Mapping[str, str] = field(default_factory=dict)
    needed_java_modules: Callable[[Mapping[str, str]], Iterable[str]] = lambda catalog: ()
    needed_classes: Callable[[Mapping[str, str]], Iterable[NeededClass]] = lambda catalog: ()
    catalog_servers: Callable[[Mapping[str, str]], Iterable[str]] = lambda catalog: ()
    delete_words: tuple[str, str] = DELETE_WORDS
    training: str | None = None
    open_existing: Callable[[TableAddress], ExistingTable] | None = None
    is_table_at: Callable[[str], bool] = lambda name: False
    existing_help: str = ""  # examples for `compactbench plan --help`, and where its catalogs are configured

    @property
    def capabilities(self) -> frozenset[str]:
        """What at least one of its engines can do."""
        kinds = (kind for kind in (self.real, self.simulated) if kind is not None)
        return frozenset[str]().union(*(kind.capabilities for kind in kinds))

    def own_key(self, name: str) -> str | None:
        """The key of a scenario that sets a table property; None if none does."""
        return self.own_properties.get(self.property_name(name))

    def shipped_coefficients(self) -> Coefficients | None:
        """The coefficients that ship with the format, for optional estimates; None where there are none.

        Raises ScenarioError where their file is damaged.
        """
        if self.coefficients is None or not shipped_file(self.name).is_file():
            return None
        return self.coefficients(None)

    def size_model(self, schema: Schema) -> SizeModel | None:
        """The sizes of its data files by the shipped coefficients; None where they cannot be forecast."""
        coefficients = self.shipped_coefficients()
        if coefficients is None:
            return None
        return lambda rows, files: table_bytes(schema, coefficients, rows, files)
