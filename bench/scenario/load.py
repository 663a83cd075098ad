"""Scenario files read, checked and turned into scenarios: defaults filled in, hashed, in each variant."""

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, replace
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import Any

from bench.engines.contract import Probe
from bench.errors import ScenarioError
from bench.scenario import file as scenario_file
from bench.scenario.cadence import default_side_probe_every_ms
from bench.scenario.checks import check_keys, check_tables, missing_columns
from bench.scenario.plugins import in_words
from bench.scenario.price_presets import with_preset
from bench.scenario.query_rate import query_weights
from bench.scenario.scenario import Scenario, partitioning_of
from bench.scenario.schema import DRAIN_MS, Roles, ScenarioKeys, VariantKeys, parse
from bench.scenario.specs import StrategySpec, build_strategies, content_hash, rule_tables, strategy_table
from bench.scenario.values import KeyPath, OptionError, refusals, together
from bench.scenario.variants import Variant, changed, check_variant, spec_in
from bench.secrets import NO_SECRETS, Secrets, hidden
from strategies.strategy import Rule
from workloads.history import History
from workloads.partitioning import Partitioning
from workloads.upsert import Upsert

_STANDARD_PROBES = (
    Probe("min_order", "SELECT order_id FROM orders ORDER BY order_id LIMIT 1", primary=True),
    Probe("key_lookup", "SELECT * FROM orders WHERE order_id = 42"),
    Probe("range", "SELECT count(*), sum(product_prices) FROM orders WHERE order_id BETWEEN 100 AND 400"),
    Probe("aggregate", "SELECT user_city, count(*), avg(product_prices) FROM orders GROUP BY user_city"),
)


# An imported table has other columns, so only the files that a query opens are modelled.
_IMPORTED_PROBES = (Probe("whole_table", "SELECT * FROM orders", primary=True),)


def load_scenario(name_or_path: str, overrides: Sequence[str] = ()) -> Scenario:
    """The scenario of a .toml file or of a shipped name, with each `key=value` of `overrides` applied.

    Raises ScenarioError naming the file, the key, its value and the remedy.
    """
    file = scenario_file.find(name_or_path)
    document = scenario_file.read(file)
    secrets = Secrets.of_arguments(overrides)
    settings: dict[KeyPath, str] = {}
    for setting in overrides:
        try:
            settings[scenario_file.override(document, setting)] = setting
        except ScenarioError as error:
            raise error.within(file, secrets.scrub) from None
    return scenario_of(file, document, settings, secrets)


def scenario_of(
    file: Path,
    document: Mapping[str, Any],
    settings: Mapping[KeyPath, str] | None = None,
    secrets: Secrets = NO_SECRETS,
) -> Scenario:
    """The scenario of a file's document, overrides included. `settings` are the overrides, by their keys.

    Of `file` only the name and the folder are used. Raises ScenarioError.
    """
    priced, wrong = with_preset(document, file.parent)
    try:
        _check_finite(document, ())
        filled = deepcopy(dict(priced))  # variants start from the file: a secret may look like a variable
        secrets |= Secrets.of_values(scenario_file.fill_in(filled)) | Secrets.of(filled)
        keys = parse(filled, file.parent)
        base = _scenario(file, document, keys, secrets)
    except OptionError as error:
        wrong = [*wrong, error]
    if wrong:
        refused = together(wrong)
        blamed = [
            f" with --set {text}"
            for path, text in (settings or {}).items()
            if any(_touch(path, one.keys) for one in refused.each)
        ]
        raise refused.within(f"{file}{''.join(blamed)}", secrets.scrub)
    labels = [spec.label for spec in base.strategies]
    wrong = refusals(
        partial(check_variant, keys.variants, index, labels) for index in range(len(keys.variants))
    )
    variants: list[Scenario] = []
    for index, variant in enumerate(keys.variants):
        try:
            variants.append(_in_variant(file, document, priced, base, index, variant))
        except OptionError as error:
            wrong.append(error)
    if wrong:
        raise together(wrong).within(file, base.secrets.scrub)
    secrets = reduce(or_, (variant.secrets for variant in variants), base.secrets)
    return replace(base, variants=tuple(variants), secrets=secrets)


def _check_finite(value: object, path: KeyPath) -> None:
    """Refuse nan and inf, which no key can mean and manifests cannot hold."""
    if isinstance(value, float) and not math.isfinite(value):
        raise OptionError(path, "must be a finite number", value, code="finite-number")
    if isinstance(value, Mapping | list):
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            _check_finite(item, (*path, key))


def _in_variant(
    file: Path,
    document: Mapping[str, Any],
    priced: Mapping[str, Any],
    base: Scenario,
    index: int,
    keys: VariantKeys,
) -> Scenario:
    """The scenario in one of its variants. Raises OptionError, which names the variant.

    `priced` is the document with the prices of its preset.
    """
    path: KeyPath = ("variants", index)
    try:
        changed_document, variant = changed(priced, keys, path)
        secrets = base.secrets | Secrets.of_values(scenario_file.fill_in(changed_document))
        scenario = _scenario(file, document, parse(changed_document, file.parent), secrets, variant)
        _check_comparable(base, scenario, (*path, "set"))
    except OptionError as error:
        raise together(
            one if one.keys[:1] == path[:1] else one.within(f"in variant {keys.label!r}")
            for one in error.each
        ) from error
    return replace(scenario, hash=base.hash)


def _check_comparable(base: Scenario, scenario: Scenario, path: KeyPath) -> None:
    """Refuse a variant that replays other files, or that counts CPU differently: costs would not compare."""
    if repr(scenario.workload) != repr(base.workload):
        raise OptionError(
            path,
            "changes the files of the initial load, which are sized for the table, and all variants share "
            "one stream: set workload.initial_files in the scenario, or make it a scenario of its own",
            code="shared-by-variants",
        )
    if (base.spark.executor_cpu == "tasks") != (scenario.spark.executor_cpu == "tasks"):
        problem = 'counts CPU differently: set spark.executor_cpu = "tasks" in all variants or in none'
        raise OptionError(path, problem, code="shared-by-variants")


def _touch(path: KeyPath, other: KeyPath) -> bool:
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter]


def _scenario(
    file: Path,
    document: Mapping[str, Any],
    keys: ScenarioKeys,
    secrets: Secrets,
    variant: Variant | None = None,
) -> Scenario:
    check_keys(keys, secrets)
    keys = _completed(keys)
    probes = _probes_of(keys)
    specs = build_strategies(keys)
    if variant is not None:
        specs = tuple(spec_in(spec, variant.label) for spec in specs)
    maintenance = tuple(rule.rule for rule in keys.maintenance)
    resolved = _resolved(keys, probes, specs, maintenance)
    probe_every_ms, side_probe_every_ms = _cadences_ms(keys)
    scenario = Scenario(
        file=file, document=document, description=keys.description, seed=keys.seed,
        duration_ms=keys.duration_ms,
        commit_interval_ms=keys.commit_interval_ms,
        commits_count=keys.duration_ms // keys.commit_interval_ms,
        repetitions=keys.repetitions,
        probe_every_ms=probe_every_ms, side_probe_every_ms=side_probe_every_ms,
        probe_phase=keys.probe_phase,
        page_cache=keys.page_cache, jvm=keys.jvm, has_real_clock=keys.clock == "real",
        speed=keys.speed or 1.0, drain_ms=DRAIN_MS if keys.drain_ms is None else keys.drain_ms,
        compaction_delay_ms=keys.compaction_delay_ms,
        compaction_memory_bytes=keys.compaction_memory_bytes,
        warm_up_rounds=keys.warm_up_rounds,
        table=keys.table,
        workload=keys.workload, workload_name=keys.workload_name,
        probes=probes, strategies=specs, maintenance=maintenance,
        resources=keys.resources, roles=keys.roles or Roles(), prices=keys.prices, spark=keys.spark,
        catalog=keys.catalog,
        resolved=resolved, hash=_hash(resolved, keys), secrets=secrets,
        query_weights=_query_weights(keys),
        variant=variant,
    )  # fmt: skip
    check_tables(scenario)
    return scenario


def _completed(keys: ScenarioKeys) -> ScenarioKeys:
    """The keys with the defaults that depend on other keys, the initial load sized for the table."""
    probe_every_ms, side_probe_every_ms = _cadences_ms(keys)
    table, workload = keys.table, keys.workload
    if table.partitioning == "bucket" and table.buckets is None:
        table = table.model_copy(update={"buckets": Partitioning().buckets})
    if isinstance(workload, Upsert):
        workload = workload.sized_for(table.target_file_size_bytes, keys.seed, partitioning_of(table))
    return keys.model_copy(
        update={
            "probe_every_ms": probe_every_ms, "side_probe_every_ms": side_probe_every_ms,
            "table": table, "workload": workload,
        }
    )  # fmt: skip


def _cadences_ms(keys: ScenarioKeys) -> tuple[int, int]:
    """The intervals of the primary probe and of the others."""
    every_ms = keys.probe_every_ms or keys.commit_interval_ms
    return every_ms, keys.side_probe_every_ms or default_side_probe_every_ms(every_ms, keys.duration_ms)


def _probes_of(keys: ScenarioKeys) -> tuple[Probe, ...]:
    """The standard probes whose columns exist, or the scenario's of the same name, then its other probes.

    Raises OptionError if none is primary.
    """
    own = {probe.name: probe for probe in keys.probes}
    standard = _IMPORTED_PROBES if isinstance(keys.workload, History) else _STANDARD_PROBES
    primary = next((probe.name for probe in keys.probes if probe.primary), standard[0].name)
    if primary in own and own[primary].primary is False:
        problem = f"no probe is primary: {primary} has primary = false; set primary = true for another"
        raise OptionError(("probes",), problem, code="not-one-primary")
    sql = {p.name: p.sql for p in standard if not missing_columns(p.sql, keys.workload.schema)}
    sql |= {p.name: p.sql for p in keys.probes}
    return tuple(Probe(name, sql[name], name == primary) for name in sql)


def _resolved(
    keys: ScenarioKeys,
    probes: Iterable[Probe],
    strategies: Iterable[StrategySpec],
    maintenance: Iterable[Rule],
) -> dict[str, Any]:
    """The completed keys in the form of a file, secrets hidden."""
    resolved: dict[str, Any] = keys.model_dump(mode="json", by_alias=True, exclude_none=True)
    resolved["strategies"] = [strategy_table(spec) for spec in strategies]
    resolved["maintenance"] = rule_tables(maintenance)
    # Probes keep their SQL, which the hash covers: a literal compared with a column `token` is no secret.
    return {**hidden(resolved), "probes": [asdict(probe) for probe in probes]}


def _query_weights(keys: ScenarioKeys) -> tuple[float, ...] | None:
    """Raises OptionError."""
    if keys.queries is None:
        return None
    arrival, ticks_count = keys.queries.arrival, keys.duration_ms // keys.commit_interval_ms
    try:
        return query_weights(arrival, keys.seed, ticks_count, keys.commit_interval_ms)
    except ValueError as error:
        raise OptionError(("queries", "arrival"), str(error), in_words(arrival), code="empty") from None


def _hash(resolved: Mapping[str, Any], keys: ScenarioKeys) -> str:
    """Workload and arrival of queries by their repr, which has the content of a trace and not its path."""
    ignored = ("description", "repetitions", "strategies", "variants")
    content = {key: value for key, value in resolved.items() if key not in ignored}
    by_repr = {"workload": repr(keys.workload)}
    if keys.queries is not None:
        by_repr["queries"] = repr(keys.queries.arrival)
    return content_hash({**content, **by_repr})
