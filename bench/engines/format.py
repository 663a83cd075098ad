"""What general code knows about a table format: one `Format` each, listed in `bench.engines.registry`.

A format's own module builds its value without importing Spark or a metadata reader (`lazy`); only opening a
table needs them.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from pydantic import JsonValue

from bench.engines.calibrating import Calibrating
from bench.engines.contract import CommitLayout, Engine, EngineSettings, TableSpec
from bench.engines.estimates import cost_priors
from bench.engines.existing import ExistingTables
from bench.engines.keys import TableKeys
from bench.engines.simulated.costs import Coefficients
from bench.engines.simulated.steps import Operation
from bench.engines.tickets import Planning
from bench.results.records import DELETE_WORDS
from bench.results.values import BeyondFit
from strategies.planner import Planner
from strategies.state import OWN_EXECUTOR, CostPriors
from strategies.strategy import Rule
from workloads.commit import CommitSpec
from workloads.partitioning import Partitioning
from workloads.schema import Schema

# The bytes of a table's data files: (rows, files) -> bytes.
SizeModel = Callable[[int, int], int]

# How a table's rows differ from what its commits leave, None if they do not. The third argument is True if
# commits also update and delete.
RowCheck = Callable[[Any, Iterable[CommitSpec], bool], str | None]

# What is wrong with setting this setting of Spark, and the remedy; None if it may be set.
SettingProblem = Callable[[str], str | None]

# Why a query of a table with this partitioning cannot be run; None if it can.
ProbeProblem = Callable[[str, Partitioning], str | None]

# Amounts of work that each step has on a table with these properties, by the name of their coefficient.
TableAmounts = Callable[[Mapping[str, str]], Mapping[str, float]]

# A property or key, and what is wrong with its value.
Problem = tuple[str, str]


def lazy(place: str) -> Callable[..., Any]:
    """The function at "package.module:name"; the first call imports the module."""
    module, _, name = place.partition(":")
    return lambda *arguments: getattr(import_module(module), name)(*arguments)


@dataclass(frozen=True, slots=True)
class EngineKind:
    """How a format's tables are run in one mode. A scenario that needs more is refused before it starts.

    `capabilities` are members of `Capability` and names of native commands. An engine whose seconds are
    measured (`is_measured`) is warmed up first, and our planner's forecast is recorded with each compaction.
    `executors` are the capabilities of the executors that a rule can choose in place of the engine's own.
    `options` is the configuration that results show in addition to the table's. `setting_problem` refuses a
    setting of Spark that would change the files of a table but that the engine ignores; `heeded_settings` are
    those that a simulation applies. `probe_problem` is why a query cannot be simulated. `wrong_rows` and
    `content_bytes`, the bytes of all live rows in one data file, are for engines whose tables cannot be
    dumped. `executors_memory_bytes` is the memory of an open engine's executors, None if tasks run in the
    driver. `drop_left` removes what an interrupted or kept run has noted in its journals: tables in a shared
    catalog and staged files.
    """

    open: Callable[[EngineSettings], AbstractContextManager[Engine]]
    capabilities: frozenset[str]
    is_measured: bool
    options: Callable[[EngineSettings], Mapping[str, JsonValue]] = lambda settings: {}
    setting_problem: SettingProblem = lambda name: None
    probe_problem: ProbeProblem = lambda sql, partitioning: None
    heeded_settings: frozenset[str] = frozenset()
    wrong_rows: RowCheck | None = None
    content_bytes: Callable[[Any], int] | None = None
    executors: Mapping[str, frozenset[str]] = field(default_factory=dict)
    executors_memory_bytes: Callable[[Any], int | None] = lambda engine: None
    beyond_fit: Callable[[Any], BeyondFit] = lambda engine: BeyondFit()
    table_amounts: TableAmounts = lambda properties: {}
    drop_left: Callable[[EngineSettings], None] = lambda settings: None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedKind(EngineKind):
    """How a format's tables are simulated.

    `estimates` reads a coefficients file, None for the one that ships with the format; it raises
    ScenarioError. `calibrating` says how coefficients are found.
    """

    estimates: Callable[[Path | None], Coefficients]
    calibrating: Calibrating


@dataclass(frozen=True, slots=True)
class TableRules:
    """What tables of a format may be, and their defaults.

    `keys` is the model of [table]. `own_properties` maps each table property that a key of the scenario sets
    to that key, such as "table.format_version" or "writer.upsert_mode"; a strategy may override the
    `size_properties` among them with a size. `property_name` normalises the spellings of a property's name.
    `codec_setting` is the table property or Spark setting for the codec of data files.

    `property_problem` judges the values of table properties, `key_problem` keys of [table] that name columns
    (which exist), and `rule_problem` a rule whose delay is set. `initial_order` describes the order of rows
    in the files of the initial load if the format determines it. `views` are further names by which queries
    may read the table, each with a description.
    """

    keys: type[TableKeys]
    own_properties: Mapping[str, str]
    codec_setting: str
    default_codec: str
    size_properties: frozenset[str] = frozenset()
    views: Mapping[str, str] = field(default_factory=dict)
    property_name: Callable[[str], str] = lambda name: name
    property_problem: Callable[[TableSpec], Problem | None] = lambda spec: None
    key_problem: Callable[[TableSpec], Problem | None] = lambda spec: None
    rule_problem: Callable[[TableSpec, Rule], str | None] = lambda spec, rule: None
    initial_order: Callable[[Any], str | None] = lambda keys: None

    def own_key(self, name: str) -> str | None:
        """The key of a scenario that sets this table property."""
        return self.own_properties.get(self.property_name(name))


@dataclass(frozen=True, slots=True)
class WriterRules:
    """How commits are written.

    `upsert_modes` are the ways to update and delete rows, each with its mechanism ("MERGE INTO"); empty if
    the engines only append. `needs` gives the capabilities that commits need, by the keys of [table] and the
    upsert mode (None: they only append). `layout` gives the files of a commit with these settings of Spark,
    unless a strategy overrides the number of writers. `files_refused` is why no strategy may override it,
    with a remedy; `moves_refused` is why no change may move a row to another partition.
    `metadata_bytes_per_commit` is a rough upper bound.
    """

    upsert_modes: Mapping[str, str]
    default_upsert_mode: str | None
    needs: Callable[[Any, str | None], frozenset[str]]
    layout: Callable[[CommitSpec, Mapping[str, str]], CommitLayout]
    metadata_bytes_per_commit: int
    files_refused: str | None = None
    moves_refused: str | None = None


@dataclass(frozen=True, slots=True)
class CatalogRules:
    """Which catalogs tables may be in; a format without `types` has none.

    `problem` gives a property of a catalog that would mix the files of a run with those of other tables.
    `java_modules` are modules that some Java distributions lack, each with what needs it;
    `needed_java_modules` are those that a catalog needs. The `type` in a catalog's properties is in lower
    case.
    """

    types: frozenset[str] = frozenset()
    problem: Callable[[Mapping[str, str]], Problem | None] = lambda catalog: None
    java_modules: Mapping[str, str] = field(default_factory=dict)
    needed_java_modules: Callable[[Mapping[str, str]], Iterable[str]] = lambda catalog: ()


@dataclass(frozen=True, slots=True)
class Words:
    """How messages call and explain a format.

    `deletes` are its words for delete files and the rows in them, in the plural. `asked_by` names the key
    that requires a capability, `instead` the replacement for a capability that the format lacks.
    """

    title: str
    description: str
    deletes: tuple[str, str] = DELETE_WORDS
    asked_by: Mapping[str, str] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)


RolesAs = Literal["processes", "threads"]


@dataclass(frozen=True, slots=True)
class Engines:
    """What runs the format's tables, and the rules for planning on them.

    `roll_out` gives the statements of Spark SQL that do what a planner plans, for a table of a name and a
    target file size in bytes; none if there is no fixed statement for it. `properties_are_options`: table
    properties of a scenario are options of each write, and not stored with the table.

    `metadata_commands` are the native commands that write no data or delete file, `expiry_commands` those
    that drop old versions. `packages` are the Python packages that only real runs of this format use.

    `roles_as` is what the roles of a run with a real clock are on real tables, on which the real engine is
    then a `SharedEngine`: processes, or threads of one process with one JVM. `at_once_problem` judges
    a table and the settings of Spark for roles that work at the same time. `shares_compaction`: several
    compactors may plan on one table at the same time.
    """

    planning: Planning
    real: EngineKind
    simulated: SimulatedKind
    roll_out: Callable[[Planner, str, int], tuple[str, ...]]
    roles_as: RolesAs
    metadata_commands: frozenset[str] = frozenset()
    expiry_commands: frozenset[str] = frozenset()
    packages: tuple[str, ...] = ()
    shares_compaction: bool = True
    properties_are_options: bool = False
    at_once_problem: Callable[[TableSpec, Mapping[str, str]], str | None] = lambda spec, settings: None

    @property
    def roles_are_threads(self) -> bool:
        return self.roles_as == "threads"

    @property
    def capabilities(self) -> frozenset[str]:
        """What at least one of the engines can do."""
        return self.real.capabilities | self.simulated.capabilities

    @property
    def executors(self) -> tuple[str, ...]:
        """The names that a rule may give as its executor."""
        return (OWN_EXECUTOR, *sorted({*self.real.executors, *self.simulated.executors}))

    def estimates(self, coefficients: Path | None = None) -> Coefficients:
        """From a coefficients file, None for the one that ships with the format. Raises ScenarioError."""
        return self.simulated.estimates(coefficients)

    def cost_priors(
        self,
        schema: Schema,
        properties: Mapping[str, str],
        reader_cores: int,
        coefficients: Path | None = None,
    ) -> Mapping[str, CostPriors]:
        """What planners of a table with these properties may expect of executors.

        An executor without coefficients is left out.
        """
        estimates, amounts = self.estimates(coefficients), self.simulated.table_amounts(properties)
        names: dict[str, str | None] = {OWN_EXECUTOR: None}
        if Operation.SINGLE_NODE in estimates.operations:
            names |= {name: name for name in self.simulated.executors}
        return {
            name: cost_priors(estimates, schema, reader_cores, executor, amounts)
            for name, executor in names.items()
        }

    def size_model(self, schema: Schema) -> SizeModel:
        return partial(self.estimates().table_bytes, schema)


@dataclass(frozen=True, slots=True)
class Format:
    """A table format; `name` is what scenarios and results call it, and its entry in `runtime.JARS`."""

    name: str
    words: Words
    table: TableRules
    writer: WriterRules
    engines: Engines
    existing: ExistingTables
    catalog: CatalogRules = CatalogRules()
