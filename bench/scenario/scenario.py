"""A scenario: a TOML file that has been read, checked and turned into what a run needs."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, NoReturn

from bench.engines.contract import Batch, TableSpec
from bench.engines.contract import Probe as Probe  # a scenario's probes are what an engine runs
from bench.engines.registry import FORMATS
from bench.errors import ScenarioError
from bench.keys import TableKeys, bytes_text, duration_ms_text
from bench.scenario import file as scenario_file
from bench.scenario import plugins
from bench.scenario.cadence import Cadence, Phase, default_side_probe_every_ms
from bench.scenario.checks import check_keys, missing_columns
from bench.scenario.environment import fill_in
from bench.scenario.kept_back import kept_back
from bench.scenario.schema import (
    Catalog,
    Prices,
    Resources,
    ScenarioKeys,
    Spark,
    VariantKeys,
    parse,
)
from bench.scenario.specs import (
    StrategySpec,
    build_maintenance,
    build_strategies,
    content_hash,
    rule_tables,
    strategy_table,
)
from bench.scenario.values import KeyPath, OptionError
from bench.scenario.variants import Variant, changed, check_variants, check_versions, spec_in
from bench.secrets import Secrets, hidden
from bench.spark_master import parse_master
from strategies.plan import Capability
from strategies.strategy import Rule, Strategy
from workloads.commit import CommitSpec, Dated, TargetSized, Workload
from workloads.partitioning import Partitioning


@dataclass(frozen=True, slots=True)
class Table:
    """The table that every run creates; `keys` is [table] of the file, with the keys of its format."""

    format: str
    keys: TableKeys
    target_file_size_bytes: int
    partitioning: Partitioning
    properties: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario with its defaults and overrides applied.

    `resolved` is the same in the form of a file, secrets hidden. `hash` covers it except for the description,
    the repetitions and the choice of strategies and variants, since a result folder may get more of these.
    `secrets` are the values that must not be written or printed, those of all variants among them.

    `variants` are the same scenario in each of its variants, with the same `hash`, and `variant` is what such
    a one changes; its strategies have labels of their own (`records.label_in`).
    """

    name: str
    description: str
    seed: int
    duration_ms: int
    commit_interval_ms: int
    commits_count: int
    clock: str
    repetitions: int
    probe_every_ms: int
    side_probe_every_ms: int
    probe_phase: Phase
    compaction_delay_ms: int
    warm_up_rounds: int
    table: Table
    workload: Workload
    workload_name: str
    probes: tuple[Probe, ...]
    strategies: tuple[StrategySpec, ...]
    maintenance: tuple[Rule, ...]
    resources: Resources
    prices: Prices
    spark: Spark
    catalog: Catalog | None
    resolved: Mapping[str, Any]
    hash: str
    secrets: Secrets = field(repr=False)
    variant: Variant | None = None
    variants: tuple["Scenario", ...] = ()

    @property
    def variant_label(self) -> str | None:
        """The label of the variant that it is in; None for the scenario as it is."""
        return self.variant.label if self.variant else None

    @property
    def versions(self) -> str | None:
        """The name of its line of versions (`bench.runtime.LINES`); None for the default one."""
        return self.variant.versions if self.variant else None

    def in_variant(self, label: str | None) -> "Scenario":
        """The scenario in the variant of this label; None is the scenario as it is.

        Raises ScenarioError if it has none.
        """
        if label is None:
            return self
        found = [one for one in self.variants if one.variant_label == label]
        if not found:
            raise ScenarioError(f"{self.name}: has no variant {label!r}")
        return found[0]

    def with_strategy(self, label: str) -> "Scenario":
        """The scenario in the variant that has a strategy of this label; as it is, if none has."""
        having = (one for one in self.variants if any(spec.label == label for spec in one.strategies))
        return next(having, self)

    @property
    def primary_probe(self) -> Probe:
        """The probe that the latency figures are about."""
        return next(probe for probe in self.probes if probe.primary)

    def cadence(self, repetition: int) -> Cadence:
        """When the probes of a repetition run, counted from 1."""
        return Cadence(
            self.seed, self.commits_count, self.commit_interval_ms, self.probe_every_ms,
            self.side_probe_every_ms, self.probe_phase, repetition,
        )  # fmt: skip

    @property
    def stream_epoch_ms(self) -> int | None:
        """Scenario time 0 in the calendar of the stream's dates, in milliseconds since 1970 UTC.

        None if the workload does not say.
        """
        return self.workload.stream_epoch_ms if isinstance(self.workload, Dated) else None

    def placed_rules(self, spec: StrategySpec) -> Iterator[tuple[KeyPath, Rule]]:
        """The rules of a strategy and of all that it switches to, each with its place in the file."""
        labels = {spec.label, *(label for _, label in spec.switches)}
        for index, other in enumerate(self.strategies):
            for number, rule in enumerate(other.strategy.rules if other.label in labels else ()):
                yield ("strategies", index, "rules", number), rule

    def rules_of(self, spec: StrategySpec) -> tuple[Rule, ...]:
        """The rules of a strategy and of all that it switches to."""
        return tuple(rule for _, rule in self.placed_rules(spec))

    def table_of(self, spec: StrategySpec) -> TableSpec:
        """The table that the runs of a strategy create."""
        return TableSpec(
            target_file_size_bytes=self.table.target_file_size_bytes,
            partitioning=self.table.partitioning,
            keys=self.table.keys,
            properties={**self.table.properties, **spec.properties},
            files_per_commit=spec.writer.files_per_commit,
            upsert_mode=spec.upsert_mode,
            schema=self.workload.schema,
            stream_epoch_ms=self.stream_epoch_ms,
        )

    def shape(self) -> Iterator[CommitSpec]:
        """The shapes of its stream's commits, which are known without making any rows."""
        return self.workload.shape(
            self.seed, self.commits_count, self.commit_interval_ms, self.table.partitioning
        )

    def commit_every_ms(self, spec: StrategySpec) -> int:
        """The interval at which the writer of a strategy commits."""
        return spec.writer.commit_every_ms or self.commit_interval_ms

    def commits_of(self, spec: StrategySpec) -> Iterator[CommitSpec]:
        """What the writer of a strategy commits of the stream: ticks without rows are left out."""
        batches = kept_back(map(Batch, self.shape()), spec.writer.commit_every_ms)
        return (batch.spec for batch in batches if batch.spec.rows)

    def needs(self) -> dict[str, frozenset[str]]:
        """The capabilities that each strategy, by label, needs of an engine."""
        return {
            spec.label: Strategy(spec.label, self.rules_of(spec)).needs()
            | self._writing(spec)
            | frozenset(self._delaying(self.rules_of(spec)))
            for spec in self.strategies
        }

    def _delaying(self, rules: Iterable[Rule]) -> Iterator[str]:
        """The capabilities that rules need whose plans are committed later."""
        for rule in rules:
            if rule.delay_or(self.compaction_delay_ms) > 0:
                yield Capability.DELAYED_COMMIT
            if rule.is_concurrent:
                yield Capability.CONCURRENT

    def maintenance_needs(self) -> frozenset[str]:
        """The capabilities that the scenario's maintenance needs of an engine."""
        return Strategy("maintenance", self.maintenance).needs()

    def _writing(self, spec: StrategySpec) -> frozenset[str]:
        mode = spec.upsert_mode if self.workload.is_cdc else None
        return FORMATS[self.table.format].writer.needs(self.table.keys, mode)


_STANDARD_PROBES = (
    Probe("min_order", "SELECT order_id FROM orders ORDER BY order_id LIMIT 1", primary=True),
    Probe("key_lookup", "SELECT * FROM orders WHERE order_id = 42"),
    Probe("range", "SELECT count(*), sum(product_prices) FROM orders WHERE order_id BETWEEN 100 AND 400"),
    Probe("aggregate", "SELECT user_city, count(*), avg(product_prices) FROM orders GROUP BY user_city"),
)


def load_scenario(name_or_path: str, overrides: Sequence[str] = ()) -> Scenario:
    """The scenario of a .toml file or of a shipped name, with each `key=value` of `overrides` applied.

    Raises ScenarioError naming the file, the key, its value and the remedy.
    """
    file = scenario_file.find(name_or_path)
    document = scenario_file.read(file)
    secrets = Secrets.of_arguments(overrides)
    overridden: dict[KeyPath, str] = {}
    for setting in overrides:
        try:
            overridden[scenario_file.override(document, setting)] = setting
        except ScenarioError as error:
            raise ScenarioError(f"{file}: {secrets.scrub(str(error))}") from None
    try:
        filled = deepcopy(document)  # variants start from the file: a secret may look like a variable itself
        secrets |= Secrets.of_values(fill_in(filled)) | Secrets.of(filled)
        keys = parse(filled, file.parent)
        base = _scenario(file, keys, secrets)
        check_variants(keys.variants, [spec.label for spec in base.strategies])
    except OptionError as error:
        blamed = [text for path, text in overridden.items() if _touch(path, error.path)]
        problem = secrets.scrub(f"{''.join(f' with --set {text}' for text in blamed)}: {error}")
        raise ScenarioError(f"{file}{problem}") from error
    variants = tuple(_in_variant(file, document, base, index, one) for index, one in enumerate(keys.variants))
    return replace(
        base, variants=variants, secrets=reduce(or_, (one.secrets for one in variants), base.secrets)
    )


def _in_variant(
    file: Path, document: Mapping[str, Any], base: Scenario, index: int, keys: VariantKeys
) -> Scenario:
    """The scenario in one of its variants. Raises ScenarioError, which names the variant."""
    path: KeyPath = ("variants", index)
    try:
        changed_document, variant = changed(document, keys, path)
        secrets = base.secrets | Secrets.of_values(fill_in(changed_document))
        scenario = _scenario(file, parse(changed_document, file.parent), secrets, variant)
        check_versions(variant, scenario.table.format, path)
        _check_same_stream(base, scenario, path)
        _check_same_cpu(base, scenario, path)
    except OptionError as error:
        of_variant = "" if error.path[:1] == path[:1] else f" in variant {keys.label!r}"
        raise ScenarioError(f"{file}{of_variant}: {base.secrets.scrub(str(error))}") from error
    return replace(scenario, hash=base.hash)


def _check_same_stream(base: Scenario, scenario: Scenario, path: KeyPath) -> None:
    """Refuse keys that a workload sizes its initial load by: the variant would replay other files."""
    if repr(scenario.workload) != repr(base.workload):
        raise OptionError(
            (*path, "set"),
            "changes the files of the initial load, which are sized for the table, and all variants share "
            "one stream: set workload.initial_files in the scenario, or make it a scenario of its own",
        )


def _check_same_cpu(base: Scenario, scenario: Scenario, path: KeyPath) -> None:
    """Refuse variants of which only one leaves a part of the CPU out: their costs would not compare."""
    if (base.spark.executor_cpu == "tasks") != (scenario.spark.executor_cpu == "tasks"):
        raise OptionError(
            (*path, "set"),
            'counts other CPU than the scenario as it is: set spark.executor_cpu = "tasks" in all variants '
            "or in none",
        )


def check_real_resources(scenario: Scenario) -> None:
    """Refuse resource shares that the scenario's Spark, which does everything, cannot honour.

    Raises ScenarioError naming both values. On a cluster Spark decides what a step gets, so that a share can
    only be honoured where the master says how many cores there are.
    """
    master = parse_master(scenario.spark.master)
    cores = master.cores_on(os.cpu_count())
    has = "as many cores as the cluster gives" if cores is None else f"{cores} cores"
    memory_bytes = scenario.spark.driver_memory_bytes if master.kind == "local" else None
    memory = (
        "the memory of its executors"
        if memory_bytes is None
        else f'spark.driver_memory = "{bytes_text(memory_bytes)}"'
    )
    for name, share in scenario.resources:
        if share.cores not in (None, cores):
            given = f"{name}.cores = {share.cores}"
            _refuse_share(scenario, given, f'spark.master = "{scenario.spark.master}" ({has})')
        if share.memory_bytes not in (None, memory_bytes):
            _refuse_share(scenario, f'{name}.memory = "{bytes_text(share.memory_bytes)}"', memory)


def _refuse_share(scenario: Scenario, given: str, of_spark: str) -> NoReturn:
    raise ScenarioError(
        f"{scenario.name}: resources.{given} cannot be honoured with {of_spark}: one Spark application "
        "writes, compacts and reads. Leave the resource out, set it to what Spark has where that is known, "
        "or simulate (`run --simulate`), which honours it"
    )


def _touch(path: KeyPath, other: KeyPath) -> bool:
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter]


def _scenario(file: Path, keys: ScenarioKeys, secrets: Secrets, variant: Variant | None = None) -> Scenario:
    check_keys(keys, secrets)
    workload = _sized(keys)
    probes = _probes(keys)
    specs = build_strategies(keys)
    if variant is not None:
        specs = tuple(spec_in(spec, variant.label) for spec in specs)
    maintenance = build_maintenance(keys)
    resolved = _resolved(keys, workload, probes, specs, maintenance)
    scenario = Scenario(
        name=file.stem, description=keys.description, seed=keys.seed, clock=keys.clock,
        duration_ms=keys.duration_ms,
        commit_interval_ms=keys.commit_interval_ms,
        commits_count=keys.duration_ms // keys.commit_interval_ms,
        repetitions=keys.repetitions,
        probe_every_ms=_probe_every_ms(keys), side_probe_every_ms=_side_probe_every_ms(keys),
        probe_phase=keys.probe_phase,
        compaction_delay_ms=keys.compaction_delay_ms,
        warm_up_rounds=keys.warm_up_rounds,
        table=_table(keys),
        workload=workload, workload_name=keys.workload_name,
        probes=probes, strategies=specs, maintenance=maintenance,
        resources=keys.resources, prices=keys.prices, spark=keys.spark, catalog=keys.catalog,
        resolved=resolved, hash=_scenario_hash(resolved, workload), secrets=secrets,
        variant=variant,
    )  # fmt: skip
    _check_tables(scenario)
    return scenario


def _check_tables(scenario: Scenario) -> None:
    """Let the format judge the properties of each strategy's table, keys that name columns, and the rules.

    Raises OptionError.
    """
    judge = FORMATS[scenario.table.format].table
    maintenance = [
        (("maintenance", number), replace(rule, delay_ms=0))
        for number, rule in enumerate(scenario.maintenance)
    ]
    for index, spec in enumerate(scenario.strategies):
        table = scenario.table_of(spec)
        unsuited = judge.property_problem(table)
        if unsuited is not None:
            name, problem = unsuited
            place: KeyPath = ("strategies", index) if name in spec.properties else ("table",)
            raise OptionError((*place, "properties", name), problem, table.properties[name])
        found = judge.key_problem(table)
        if found is not None:
            key, problem = found
            raise OptionError(("table", key), problem, getattr(scenario.table.keys, key))
        for path, rule in (*scenario.placed_rules(spec), *maintenance):
            delayed = replace(rule, delay_ms=rule.delay_or(scenario.compaction_delay_ms))
            refusal = judge.rule_problem(table, delayed)
            if refusal is not None:
                is_own = path[0] == "maintenance" or path[1] == index
                of_table = "" if is_own else f" (in strategy {spec.label!r}, which switches to these rules)"
                raise OptionError((*path, "planner"), refusal + of_table)


def _probe_every_ms(keys: ScenarioKeys) -> int:
    return keys.commit_interval_ms if keys.probe_every_ms is None else keys.probe_every_ms


def _side_probe_every_ms(keys: ScenarioKeys) -> int:
    if keys.side_probe_every_ms is not None:
        return keys.side_probe_every_ms
    return default_side_probe_every_ms(_probe_every_ms(keys), keys.duration_ms)


def _sized(keys: ScenarioKeys) -> Workload:
    """The workload, its initial files sized for the table."""
    workload = keys.workload
    if isinstance(workload, TargetSized):
        return workload.sized_for(keys.table.target_file_size_bytes, keys.seed, _partitioning(keys))
    return workload


def _partitioning(keys: ScenarioKeys) -> Partitioning:
    return Partitioning(keys.table.partitioning, keys.table.buckets or Partitioning().buckets)


def _table(keys: ScenarioKeys) -> Table:
    table = keys.table
    return Table(
        format=table.format,
        keys=table,
        target_file_size_bytes=table.target_file_size_bytes,
        partitioning=_partitioning(keys),
        properties=table.properties,
    )


def _probes(keys: ScenarioKeys) -> tuple[Probe, ...]:
    """The standard probes whose columns exist, or the scenario's of the same name, then its other probes."""
    given = {probe.name: probe for probe in keys.probes}
    primary = next((probe.name for probe in keys.probes if probe.primary), _STANDARD_PROBES[0].name)
    if primary in given and given[primary].primary is False:
        raise OptionError(
            ("probes",), f"no probe is primary: {primary} says primary = false; set primary = true at another"
        )
    sql = {p.name: p.sql for p in _STANDARD_PROBES if not missing_columns(p.sql, keys.workload.schema)}
    sql |= {p.name: p.sql for p in keys.probes}
    return tuple(Probe(name, sql[name], name == primary) for name in sql)


def _resolved(
    keys: ScenarioKeys,
    workload: Workload,
    probes: tuple[Probe, ...],
    specs: tuple[StrategySpec, ...],
    maintenance: tuple[Rule, ...],
) -> dict[str, Any]:
    """The scenario in the form of a file, with all defaults written out."""
    resolved: dict[str, Any] = keys.model_dump(mode="json", by_alias=True, exclude_none=True)
    resolved["probe_every"] = duration_ms_text(_probe_every_ms(keys))
    resolved["side_probe_every"] = duration_ms_text(_side_probe_every_ms(keys))
    if keys.table.partitioning == "bucket":
        resolved["table"].setdefault("buckets", Partitioning().buckets)
    resolved["workload"] = plugins.to_table(workload)
    resolved["strategies"] = [strategy_table(spec) for spec in specs]
    resolved["maintenance"] = rule_tables(maintenance)
    # Probes keep their SQL, which the hash covers: a literal compared with a column `token` is no secret.
    return {**hidden(resolved), "probes": [asdict(probe) for probe in probes]}


def _scenario_hash(resolved: Mapping[str, Any], workload: Workload) -> str:
    """The workload is hashed by its repr, which depends on a trace's content and not on its path."""
    ignored = ("description", "repetitions", "strategies", "variants")
    content = {key: value for key, value in resolved.items() if key not in ignored}
    return content_hash({**content, "workload": repr(workload)})
