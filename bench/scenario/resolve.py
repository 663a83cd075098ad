"""A scenario's keys with every default filled in, the same in the form of a file, and its hash."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from bench.engines.contract import Probe
from bench.engines.keys import TableKeys
from bench.scenario.cadence import default_side_probe_every_ms
from bench.scenario.checks import missing_columns
from bench.scenario.schema import ScenarioKeys
from bench.scenario.specs import StrategySpec, content_hash, rule_tables, strategy_table
from bench.scenario.values import OptionError
from bench.secrets import hidden
from strategies.strategy import Rule
from workloads.commit import TargetSized, Workload
from workloads.partitioning import Partitioning

_STANDARD_PROBES = (
    Probe("min_order", "SELECT order_id FROM orders ORDER BY order_id LIMIT 1", primary=True),
    Probe("key_lookup", "SELECT * FROM orders WHERE order_id = 42"),
    Probe("range", "SELECT count(*), sum(product_prices) FROM orders WHERE order_id BETWEEN 100 AND 400"),
    Probe("aggregate", "SELECT user_city, count(*), avg(product_prices) FROM orders GROUP BY user_city"),
)


def completed(keys: ScenarioKeys) -> ScenarioKeys:
    """The keys with the defaults that depend on other keys, the initial load sized for the table."""
    probe_every_ms, side_probe_every_ms = cadences_ms(keys)
    table = keys.table
    if table.partitioning == "bucket" and table.buckets is None:
        table = table.model_copy(update={"buckets": Partitioning().buckets})
    workload = keys.workload
    if isinstance(workload, TargetSized):
        workload = workload.sized_for(table.target_file_size_bytes, keys.seed, partitioning_of(table))
    return keys.model_copy(
        update={
            "probe_every_ms": probe_every_ms, "side_probe_every_ms": side_probe_every_ms,
            "table": table, "workload": workload,
        }
    )  # fmt: skip


def cadences_ms(keys: ScenarioKeys) -> tuple[int, int]:
    """The intervals of the primary probe and of the others."""
    every_ms = keys.probe_every_ms or keys.commit_interval_ms
    return every_ms, keys.side_probe_every_ms or default_side_probe_every_ms(every_ms, keys.duration_ms)


def partitioning_of(table: TableKeys) -> Partitioning:
    """How the table is partitioned."""
    return Partitioning(table.partitioning, table.buckets or Partitioning().buckets)


def probes_of(keys: ScenarioKeys) -> tuple[Probe, ...]:
    """The standard probes whose columns exist, or the scenario's of the same name, then its other probes.

    Raises OptionError if none is primary.
    """
    own = {probe.name: probe for probe in keys.probes}
    primary = next((probe.name for probe in keys.probes if probe.primary), _STANDARD_PROBES[0].name)
    if primary in own and own[primary].primary is False:
        raise OptionError(
            ("probes",), f"no probe is primary: {primary} has primary = false; set primary = true for another"
        )
    sql = {p.name: p.sql for p in _STANDARD_PROBES if not missing_columns(p.sql, keys.workload.schema)}
    sql |= {p.name: p.sql for p in keys.probes}
    return tuple(Probe(name, sql[name], name == primary) for name in sql)


def resolved_text(
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


def scenario_hash(resolved: Mapping[str, Any], workload: Workload) -> str:
    """The workload is hashed by its repr, which depends on a trace's content and not on its path."""
    ignored = ("description", "repetitions", "strategies", "variants")
    content = {key: value for key, value in resolved.items() if key not in ignored}
    return content_hash({**content, "workload": repr(workload)})
