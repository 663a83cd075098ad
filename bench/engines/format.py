"""What the bench knows about a table format: one `Format` each, listed in `bench.engines.registry`.

A format's own module builds its value without importing Spark or a metadata reader, which are only needed
once a table is opened (`lazy`).
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from pydantic import JsonValue

from bench.engines.contract import CommitLayout, Engine, EngineSettings, TableSpec
from bench.engines.executor import OWN
from bench.engines.existing import ExistingTables
from bench.engines.keys import TableKeys
from bench.engines.tickets import Planning
from bench.results.records import DELETE_WORDS
from bench.results.values import Cost
from strategies.preview import Preview
from strategies.strategy import Rule
from workloads.commit import CommitSpec
from workloads.schema import Schema

# The bytes of a table's data files: (rows, files) -> bytes.
SizeModel = Callable[[int, int], int]

# How a table's rows differ from what its commits leave, None if they do not. The third argument is True if
# commits also update and delete.
RowCheck = Callable[[Any, Iterable[CommitSpec], bool], str | None]

# What is wrong with setting this one of Spark's settings, and the remedy; None if it may be set.
SettingProblem = Callable[[str], str | None]

# A property or key, and what is wrong with its value.
Problem = tuple[str, str]


def lazy(place: str) -> Callable[..., Any]:
    """The function at "package.module:name", whose module is imported by the first call."""
    module, _, name = place.partition(":")
    return lambda *arguments: getattr(import_module(module), name)(*arguments)


class Estimates(Protocol):
    """What the coefficients of a simulation say of sizes and costs without one."""

    calibrated: bool

    def table_bytes(self, schema: Schema, rows: int, files: int = 1) -> int:
        """The bytes of so many rows in so many data files."""

    def rewrite_cost(self, preview: Preview, cores: int, *, commits_nothing: bool = False) -> Cost:
        """The cost of what was previewed, which writes as many bytes of data files as it reads.

        `commits_nothing`: there is a commit even if no data file is rewritten.
        """


@dataclass(frozen=True, slots=True)
class EngineKind:
    """How a format's tables are run in one mode. A scenario that needs more is refused before it starts.

    `capabilities` are members of `Capability` and names of native commands. An engine whose seconds are
    measured (`is_measured`) is warmed up first, and our planner's forecast is recorded with each compaction.
    `executors` are the capabilities of the executors that a rule can choose in place of the engine's own.
    `options` are the part of its configuration that results show in addition to the table's.
    `setting_problem` refuses a setting of Spark that decides which files there are, and that the engine does
    not heed; `heeded_settings` are those that a simulation heeds. `wrong_rows` and `content_bytes`, the bytes
    of all live rows in one data file, are for engines whose tables cannot be dumped. `executors_memory_bytes`
    is the memory that the executors of an open engine have beside its driver, None where there are none.
    `drop_left` removes what journals note of an interrupted or kept run: tables in a shared catalog and
    staged files. `estimates` reads a coefficients file, or with None the one that ships with the format; it
    raises ScenarioError.
    """

    open: Callable[[EngineSettings], AbstractContextManager[Engine]]
    capabilities: frozenset[str]
    is_measured: bool
    options: Callable[[EngineSettings], Mapping[str, JsonValue]] = lambda settings: {}
    setting_problem: SettingProblem = lambda name: None
    heeded_settings: frozenset[str] = frozenset()
    wrong_rows: RowCheck | None = None
    content_bytes: Callable[[Any], int] | None = None
    executors: Mapping[str, frozenset[str]] = field(default_factory=dict)
    executors_memory_bytes: Callable[[Any], int | None] = lambda engine: None
    drop_left: Callable[[EngineSettings], None] = lambda settings: None
    estimates: Callable[[Path | None], Estimates] | None = None


@dataclass(frozen=True, slots=True)
class TableRules:
    """What tables of a format may be, and what they are if a scenario does not say.

    `keys` is the model of [table]. `own_properties` maps each table property that a key of the scenario sets
    to that key, such as "table.format_version" or "writer.upsert_mode"; a strategy may override the
    `size_properties` among them by a size. `property_name` normalises the spellings of a property's name.
    `codec_setting` is the table property or Spark setting that names the codec of data files.

    `property_problem` judges the values of table properties, `key_problem` keys of [table] that name columns
    (which exist), and `rule_problem` a rule whose delay is set. `initial_order` says how the rows of the
    initial load lie in its files, where the format decides that. `views` are further names by which queries
    may read the table, each with what it shows.
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
        """The key of a scenario that sets a table property."""
        return self.own_properties.get(self.property_name(name))


@dataclass(frozen=True, slots=True)
class WriterRules:
    """How commits are written.

    `upsert_modes` are the ways to update and delete rows, each with what does it ("MERGE INTO"); there are
    none if the engines only append. `needs` gives the capabilities that commits need, by the keys of [table]
    and the upsert mode (None: they only append). `layout` gives the files of a commit with these settings of
    Spark, unless a strategy overrides the number of writers. `files_refused` is why none may, and what to do
    instead; `moves_refused` why no change may put a row into another partition. `metadata_bytes_per_commit`
    is roughly the most that one commit writes.
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

    `problem` gives a property of a catalog with which tables of runs could not be kept apart from others.
    `java_modules` are modules of Java that not every Java has, each with what needs it; `needed_java_modules`
    gives the modules that a catalog needs. The `type` among a catalog's properties is in lower case.
    """

    types: frozenset[str] = frozenset()
    problem: Callable[[Mapping[str, str]], Problem | None] = lambda catalog: None
    java_modules: Mapping[str, str] = field(default_factory=dict)
    needed_java_modules: Callable[[Mapping[str, str]], Iterable[str]] = lambda catalog: ()


@dataclass(frozen=True, slots=True)
class Words:
    """How a format is called and explained.

    `deletes` are its words for delete files and the rows in them, in the plural. `asked_by` names the key
    that requires a capability, `instead` what to use in place of one that the format does not have.
    """

    title: str
    description: str
    deletes: tuple[str, str] = DELETE_WORDS
    asked_by: Mapping[str, str] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Engines:
    """What runs the format's tables, and by which rules they are planned for.

    `metadata_commands` are the native commands that write no data or delete file, `expiry_commands` those
    that drop old versions. `packages` are what a real run uses of Python in addition to the usual packages.
    """

    planning: Planning
    real: EngineKind | None
    simulated: EngineKind | None
    metadata_commands: frozenset[str] = frozenset()
    expiry_commands: frozenset[str] = frozenset()
    packages: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[EngineKind, ...]:
        """The engines that there are."""
        return tuple(kind for kind in (self.real, self.simulated) if kind is not None)

    @property
    def capabilities(self) -> frozenset[str]:
        """What at least one of them can do."""
        return frozenset[str]().union(*(kind.capabilities for kind in self.kinds))

    @property
    def executors(self) -> tuple[str, ...]:
        """The names that a rule may give as its executor."""
        return (OWN, *sorted({name for kind in self.kinds for name in kind.executors}))

    def estimates(self) -> Estimates | None:
        """By the coefficients that ship with the format, if there are any. Raises ScenarioError."""
        kind = self.simulated
        return kind.estimates(None) if kind is not None and kind.estimates is not None else None

    def size_model(self, schema: Schema) -> SizeModel | None:
        """The sizes of data files by the shipped coefficients; None without coefficients."""
        estimates = self.estimates()
        return None if estimates is None else partial(estimates.table_bytes, schema)


@dataclass(frozen=True, slots=True)
class Format:
    """A table format; `name` is what scenarios and results call it, and its entry in `runtime.LINES`."""

    name: str
    words: Words
    table: TableRules
    writer: WriterRules
    engines: Engines
    catalog: CatalogRules = CatalogRules()
    existing: ExistingTables | None = None  # None if existing tables cannot be read
