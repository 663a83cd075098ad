"""A scenario: a TOML file that has been read, checked and turned into what a run needs."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from bench.engines.contract import Probe as Probe  # a scenario's probes are what an engine runs
from bench.engines.registry import FORMATS
from bench.errors import ScenarioError
from bench.keys import TableKeys, bytes_text
from bench.scenario import file as scenario_file
from bench.scenario import plugins
from bench.scenario.checks import check_columns, check_keys, check_upsert_modes, missing_columns
from bench.scenario.schema import WARM_UP_ROUNDS, Catalog, Prices, Resources, ScenarioKeys, Spark, parse
from bench.scenario.specs import (
    StrategySpec,
    build_maintenance,
    build_strategies,
    content_hash,
    rule_tables,
    strategy_table,
)
from bench.scenario.values import KeyPath, OptionError
from bench.secrets import Secrets, hidden
from strategies.plan import Capability
from strategies.strategy import Rule, Strategy
from workloads.commit import CommitSpec, Dated, TargetSized, Workload
from workloads.partitioning import Partitioning
from workloads.schema import Schema


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
    the repetitions and the choice of strategies, since a result folder may get more of these. `secrets` are
    the values that must not be written or printed.
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

    @property
    def primary_probe(self) -> Probe:
        """The probe that the latency figures are about."""
        return next(probe for probe in self.probes if probe.primary)

    @property
    def stream_epoch_ms(self) -> int | None:
        """Scenario time 0 in the calendar of the stream's dates, in milliseconds since 1970 UTC.

        None if the workload does not say.
        """
        return self.workload.stream_epoch_ms if isinstance(self.workload, Dated) else None

    def shape(self) -> Iterator[CommitSpec]:
        """The shapes of its stream's commits, which are known without making any rows."""
        return self.workload.shape(
            self.seed, self.commits_count, self.commit_interval_ms, self.table.partitioning
        )

    def needs(self) -> dict[str, frozenset[str]]:
        """The capabilities that each strategy, by label, needs of an engine."""
        own = {spec.label: spec.strategy.needs() | self._writing(spec) for spec in self.strategies}
        delayed = frozenset({Capability.DELAYED_COMMIT} if self.compaction_delay_ms > 0 else ())
        return {
            spec.label: own[spec.label].union(*(own[label] for _, label in spec.switches)) | delayed
            for spec in self.strategies
        }

    def maintenance_needs(self) -> frozenset[str]:
        """The capabilities that the scenario's maintenance needs of an engine."""
        return Strategy("maintenance", self.maintenance).needs()

    def _writing(self, spec: StrategySpec) -> frozenset[str]:
        mode = spec.upsert_mode if self.workload.is_cdc else None
        return FORMATS[self.table.format].writing_needs(self.table.keys, mode)


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
    secrets |= Secrets.of(document)
    try:
        return _scenario(file, parse(document), secrets)
    except OptionError as error:
        blamed = [text for path, text in overridden.items() if _touch(path, error.path)]
        problem = secrets.scrub(f"{''.join(f' with --set {text}' for text in blamed)}: {error}")
        raise ScenarioError(f"{file}{problem}") from error


def check_real_resources(scenario: Scenario) -> None:
    """Refuse resource shares that a single local process, which does everything, cannot honour.

    Raises ScenarioError naming both values. A master that is not local is not checked.
    """
    local = re.fullmatch(r"local(?:\[(\d+|\*)\])?", scenario.spark.master)
    if local is None:
        return
    cores = os.cpu_count() if local[1] == "*" else int(local[1] or 1)
    memory = bytes_text(scenario.spark.driver_memory_bytes)
    for name, share in scenario.resources:
        if share.cores not in (None, cores):
            master = f'spark.master = "{scenario.spark.master}" ({cores} cores)'
            _refuse_share(scenario, f"{name}.cores = {share.cores}", master)
        if share.memory_bytes not in (None, scenario.spark.driver_memory_bytes):
            given = f'{name}.memory = "{bytes_text(share.memory_bytes)}"'
            _refuse_share(scenario, given, f'spark.driver_memory = "{memory}"')


def _refuse_share(scenario: Scenario, given: str, of_process: str) -> NoReturn:
    raise ScenarioError(
        f"{scenario.name}: resources.{given} cannot be honoured with {of_process}: one local process writes, "
        "compacts and reads. Set both to the same value, leave the resource out, or simulate "
        "(`run --simulate`), which honours it"
    )


def _touch(path: KeyPath, other: KeyPath) -> bool:
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter]


def _scenario(file: Path, keys: ScenarioKeys, secrets: Secrets) -> Scenario:
    check_keys(keys)
    workload = _workload(keys, file.parent)
    probes = _probes(keys, workload.schema)
    check_upsert_modes(keys, workload.is_cdc)
    specs = build_strategies(keys, file.parent, workload.schema)
    maintenance = build_maintenance(keys, file.parent, workload.schema)
    resolved = _resolved(keys, workload, probes, specs, maintenance)
    return Scenario(
        name=file.stem, description=keys.description, seed=keys.seed, clock=keys.clock,
        duration_ms=keys.duration_ms,
        commit_interval_ms=keys.commit_interval_ms,
        commits_count=keys.duration_ms // keys.commit_interval_ms,
        repetitions=keys.repetitions,
        probe_every_ms=keys.probe_every_ms or keys.commit_interval_ms,
        compaction_delay_ms=keys.compaction_delay_ms,
        warm_up_rounds=keys.warm_up_rounds,
        table=_table(keys),
        workload=workload, workload_name=keys.workload["type"],
        probes=probes, strategies=specs, maintenance=maintenance,
        resources=keys.resources, prices=keys.prices, spark=keys.spark, catalog=keys.catalog,
        resolved=resolved, hash=_scenario_hash(resolved, workload), secrets=secrets,
    )  # fmt: skip


def _workload(keys: ScenarioKeys, folder: Path) -> Workload:
    """The workload, its initial files sized for the table; refused if no engine can write its commits."""
    workload = plugins.build(plugins.WORKLOAD, keys.workload, ("workload",), folder)
    if workload.is_cdc and not FORMATS[keys.table.format].upsert_modes:
        raise OptionError(
            ("workload", "type"),
            f"updates and deletes rows, which no engine of format {keys.table.format!r} can write yet; "
            'use type = "append"',
            keys.workload["type"],
        )
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


def _probes(keys: ScenarioKeys, schema: Schema) -> tuple[Probe, ...]:
    """The standard probes whose columns exist, or the scenario's of the same name, then its other probes."""
    check_columns(keys.probes, schema)
    given = {probe.name: probe for probe in keys.probes}
    primary = next((probe.name for probe in keys.probes if probe.primary), _STANDARD_PROBES[0].name)
    if primary in given and given[primary].primary is False:
        raise OptionError(
            ("probes",), f"no probe is primary: {primary} says primary = false; set primary = true at another"
        )
    sql = {p.name: p.sql for p in _STANDARD_PROBES if not missing_columns(p.sql, schema)}
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
    resolved["probe_every"] = resolved.get("probe_every", resolved["commit_interval"])
    if keys.table.partitioning == "bucket":
        resolved["table"].setdefault("buckets", Partitioning().buckets)
    resolved["workload"] = plugins.to_table(workload)
    resolved["strategies"] = [strategy_table(spec) for spec in specs]
    resolved["maintenance"] = rule_tables(maintenance)
    # Probes keep their SQL, which the hash covers: a literal compared with a column `token` is no secret.
    return {**hidden(resolved), "probes": [asdict(probe) for probe in probes]}


def _scenario_hash(resolved: Mapping[str, Any], workload: Workload) -> str:
    """The workload is hashed by its repr, which depends on a trace's content and not on its path.

    Empty maintenance is hashed as the empty table that it was before it became a list of rules, so that older
    runs can still be continued and compared. So is the usual number of warm-up rounds, which was not a key.
    """
    ignored = ["description", "repetitions", "strategies"]
    if resolved["warm_up_rounds"] == WARM_UP_ROUNDS:
        ignored.append("warm_up_rounds")
    content = {key: value for key, value in resolved.items() if key not in ignored}
    maintenance = resolved["maintenance"] or {}
    return content_hash({**content, "workload": repr(workload), "maintenance": maintenance})
