"""Checks of a scenario's keys against each other. Each error names both values and the consequence."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from bench.engines.keys import bytes_text, duration_ms_text, known_text
from bench.engines.master import parse_master
from bench.engines.registry import FORMATS
from bench.engines.sql import code_of, reads
from bench.scenario.catalog import catalog_properties
from bench.scenario.rule_checks import rule_errors
from bench.scenario.schema import OWN_SPARK_KEYS, ProbeKeys, ScenarioKeys, Spark, StrategyKeys, WriterKeys
from bench.scenario.values import KeyPath, OptionError, path_text
from bench.secrets import HIDDEN, Secrets
from workloads.schema import ORDERS, Schema

DRIVER_MEMORY_MIN_BYTES = 512 * 2**20
LABEL_LENGTH_MAX = 60
_ARGUMENTS_OF_JAVA = re.compile(r"spark\.(?:driver|executor|yarn\.am)\.(?:extra|default)JavaOptions")
_SIZE_BYTES = re.compile(r"0*[1-9][0-9]{0,17}")  # fits into the 64 bits that formats read a size into


def check_keys(keys: ScenarioKeys, secrets: Secrets) -> None:
    """Raises OptionError for the first contradiction. `secrets` are the scenario's secrets."""
    for error in _errors(keys, secrets):
        raise error


def _errors(keys: ScenarioKeys, secrets: Secrets) -> Iterator[OptionError]:
    yield from _times(keys)
    yield from _table(keys)
    yield from _workload(keys)
    yield from _probes(keys.probes, keys.workload.schema, FORMATS[keys.table.format].table.views)
    yield from _labels([strategy.label for strategy in keys.strategies])
    for index, strategy in enumerate(keys.strategies):
        path: KeyPath = ("strategies", index)
        yield from _spellings(keys.table.format, strategy.properties, (*path, "properties"))
        yield from _properties(keys.table.format, strategy, (*path, "properties"))
        yield from _switches(keys, strategy, (*path, "switch"))
        yield from _writer(keys, strategy.writer, (*path, "writer"))
    yield from rule_errors(keys)
    yield from _spark(keys.spark, secrets)
    yield from _catalog(keys)


def _is_multiple(value_ms: int, unit_ms: int) -> bool:
    return value_ms >= unit_ms and value_ms % unit_ms == 0


def _times(keys: ScenarioKeys) -> Iterator[OptionError]:
    interval, duration = duration_ms_text(keys.commit_interval_ms), duration_ms_text(keys.duration_ms)
    whole = f"must be a whole number of commit intervals (commit_interval = {interval})"
    if not _is_multiple(keys.duration_ms, keys.commit_interval_ms):
        yield OptionError(("duration",), f"{whole}, at least one", duration)
    every_ms = keys.commit_interval_ms if keys.probe_every_ms is None else keys.probe_every_ms
    every = duration_ms_text(every_ms)
    if not _is_multiple(every_ms, keys.commit_interval_ms) or every_ms > keys.duration_ms:
        problem = f"{whole} and at most duration = {duration}: probes run after a commit"
        yield OptionError(("probe_every",), problem, every)
    side_ms = keys.side_probe_every_ms
    if side_ms is not None and (not _is_multiple(side_ms, every_ms) or side_ms > keys.duration_ms):
        problem = (
            f"must be a whole number of probe_every = {every} and at most duration = {duration}: all probes "
            "run in the same ticks"
        )
        yield OptionError(("side_probe_every",), problem, duration_ms_text(side_ms))


def _table(keys: ScenarioKeys) -> Iterator[OptionError]:
    table = keys.table
    if table.buckets is not None and table.partitioning != "bucket":
        problem = (
            f'only applies to partitioning = "bucket", not {table.partitioning!r}: set that or leave it out'
        )
        yield OptionError(("table", "buckets"), problem, table.buckets)
    path: KeyPath = ("table", "properties")
    for name, value in table.properties.items():
        if own := FORMATS[table.format].table.own_key(name):
            yield OptionError((*path, name), f"is set by {own}: set that instead", value)
    yield from _spellings(table.format, table.properties, path)


def _spellings(format_name: str, properties: Mapping[str, str], path: KeyPath) -> Iterator[OptionError]:
    """A property that is set twice, in two spellings of its name."""
    seen: dict[str, str] = {}
    for name, value in properties.items():
        other = seen.setdefault(FORMATS[format_name].table.property_name(name), name)
        if other != name:
            yield OptionError((*path, name), f"is the same property as {other}: leave one of them out", value)


def _properties(format_name: str, strategy: StrategyKeys, path: KeyPath) -> Iterator[OptionError]:
    """Of the properties that a key sets, a strategy may override sizes only."""
    rules = FORMATS[format_name].table
    for name, value in strategy.properties.items():
        own = rules.own_key(name)
        if own is None:
            continue
        if rules.property_name(name) in rules.size_properties:
            if not _SIZE_BYTES.fullmatch(value):
                yield OptionError((*path, name), 'must be a size > 0, e.g. "64MiB"', value)
        elif own.startswith("table."):
            problem = (
                f"is the same for all strategies: set {own} and leave it out of strategy {strategy.label!r}"
            )
            yield OptionError((*path, name), problem, value)
        else:
            yield OptionError((*path, name), f"is set by {own} of the strategy: set that instead", value)


def _workload(keys: ScenarioKeys) -> Iterator[OptionError]:
    writer, by = FORMATS[keys.table.format].writer, keys.table.partitioning
    if keys.workload.is_cdc and not writer.upsert_modes:
        problem = (
            f"updates and deletes rows, which no engine of format {keys.table.format!r} can write yet; "
            'use type = "append"'
        )
        yield OptionError(("workload", "type"), problem, keys.workload_name)
    if writer.moves_refused is not None and keys.workload.moves_rows and by in ("day", "city"):
        problem = (
            f"changes of this workload may put a row into another partition, and {writer.moves_refused}: set "
            'it to "none" or "bucket", or workload.move_share to 0'
        )
        yield OptionError(("table", "partitioning"), problem, by)


def _probes(probes: tuple[ProbeKeys, ...], schema: Schema, views: Mapping[str, str]) -> Iterator[OptionError]:
    for name, count in Counter(probe.name for probe in probes).items():
        if count > 1:
            yield OptionError(("probes",), f"{count} probes are called {name!r}: rename one", name)
    primaries = [probe.name for probe in probes if probe.primary]
    if len(primaries) > 1:
        yield OptionError(("probes",), "more than one is primary: set primary = true for one only", primaries)
    for index, probe in enumerate(probes):
        path: KeyPath = ("probes", index, "sql")
        if not any(reads(probe.sql, name) for name in ("orders", *views)):
            others = "".join(f", or {view} for {shows}" for view, shows in views.items())
            yield OptionError(path, f"must read the table, which is called orders{others}", probe.sql)
        if missing := missing_columns(probe.sql, schema):
            problem = (
                f"names {', '.join(missing)}, which the table does not have: it has "
                f"{', '.join(schema.names)}. Leave the probe out or set workload.columns = 17"
            )
            yield OptionError(path, problem, probe.sql)


def missing_columns(sql: str, schema: Schema) -> list[str]:
    """The columns of the standard table (17) that a query names and a narrower table does not have."""
    words = set(re.findall(r"\w+", code_of(sql).lower()))
    return [name for name in ORDERS.names if name in words and name not in schema.names]


def _labels(labels: list[str]) -> Iterator[OptionError]:
    for index, label in enumerate(labels):
        path = ("strategies", index, "label")
        if label in labels[:index]:
            problem = f"is also the label of strategies[{labels.index(label)}]: rename one"
            yield OptionError(path, problem, label)
        if not label.isprintable() or label != label.strip() or not 1 <= len(label) <= LABEL_LENGTH_MAX:
            problem = f"must be 1 to {LABEL_LENGTH_MAX} printable characters, without spaces at either end"
            yield OptionError(path, problem, label)
        if set(label) & set("/\\") or label in (".", ".."):
            yield OptionError(path, "must not be or contain a path: it names a result folder", label)


def _switches(keys: ScenarioKeys, strategy: StrategyKeys, path: KeyPath) -> Iterator[OptionError]:
    labels, before_ms = [other.label for other in keys.strategies], 0
    interval, duration = duration_ms_text(keys.commit_interval_ms), duration_ms_text(keys.duration_ms)
    for index, switch in enumerate(strategy.switch):
        at = duration_ms_text(switch.at_ms)
        if switch.strategy not in labels:
            problem = f"no strategy has that label; {known_text(switch.strategy, labels)}"
            yield OptionError((*path, index, "strategy"), problem, switch.strategy)
        if not before_ms < switch.at_ms < keys.duration_ms:
            problem = f"must be after {duration_ms_text(before_ms)} and before duration = {duration}"
            yield OptionError((*path, index, "at"), problem, at)
        if switch.at_ms % keys.commit_interval_ms:
            yield OptionError((*path, index, "at"), f"must be on a commit (commit_interval = {interval})", at)
        before_ms = switch.at_ms


def _writer(keys: ScenarioKeys, writer: WriterKeys, path: KeyPath) -> Iterator[OptionError]:
    rules, modes = FORMATS[keys.table.format].writer, FORMATS[keys.table.format].writer.upsert_modes
    if rules.files_refused is not None and writer.files_per_commit is not None:
        yield OptionError((*path, "files_per_commit"), rules.files_refused, writer.files_per_commit)
    if writer.upsert_mode is not None and not keys.workload.is_cdc:
        problem = (
            f"sets how changes are written, but type {keys.workload_name!r} only appends: leave it out or "
            'use workload.type = "upsert"'
        )
        yield OptionError((*path, "upsert_mode"), problem, writer.upsert_mode)
    if writer.upsert_mode not in (None, *modes):
        yield OptionError(
            (*path, "upsert_mode"), f"unknown mode; {known_text('', modes)}", writer.upsert_mode
        )
    if writer.commit_every_ms is not None:
        yield from _kept_back(keys, writer.commit_every_ms, (*path, "commit_every"))


def _kept_back(keys: ScenarioKeys, every_ms: int, path: KeyPath) -> Iterator[OptionError]:
    """A writer that keeps rows back at times at which the stream has no commit."""
    interval, duration = duration_ms_text(keys.commit_interval_ms), duration_ms_text(keys.duration_ms)
    if keys.workload.is_cdc:
        problem = (
            f"commits several batches as one, but batches of type {keys.workload_name!r} may change the same "
            "row: leave it out, or lengthen commit_interval for all strategies"
        )
        yield OptionError(path, problem, duration_ms_text(every_ms))
    if not _is_multiple(every_ms, keys.commit_interval_ms) or keys.duration_ms % every_ms:
        problem = (
            f"must be a whole number of commit intervals (commit_interval = {interval}) and divide "
            f"duration = {duration}: the rows kept back at the end would never be committed"
        )
        yield OptionError(path, problem, duration_ms_text(every_ms))


def _catalog(keys: ScenarioKeys) -> Iterator[OptionError]:
    types = FORMATS[keys.table.format].catalog.types
    if types:
        yield from _catalog_properties(catalog_properties(keys), types)
    elif keys.catalog is not None:
        problem = f"tables of format {keys.table.format!r} have no catalog: leave it out"
        yield OptionError(("catalog",), problem)


def _catalog_properties(
    properties: Mapping[str, tuple[KeyPath, str]], types: Collection[str]
) -> Iterator[OptionError]:
    kind, implementation = properties.get("type"), properties.get("catalog-impl")
    if kind and kind[1].lower() not in types:
        problem = f"is not a type of catalog: write one of {', '.join(sorted(types))}, or set a catalog-impl"
        yield OptionError(kind[0], problem, kind[1])
    if implementation and not implementation[1].strip():
        problem = "names no class: write its full name, or set a type instead"
        yield OptionError(implementation[0], problem, implementation[1])
    if kind and implementation:
        problem = f"cannot be combined with {path_text(kind[0])}: leave one of them out"
        yield OptionError(implementation[0], problem, implementation[1])


def _spark(spark: Spark, secrets: Secrets) -> Iterator[OptionError]:
    if spark.driver_memory_bytes < DRIVER_MEMORY_MIN_BYTES:
        problem = "must be at least 512MiB: Spark does not start with less"
        yield OptionError(("spark", "driver_memory"), problem, bytes_text(spark.driver_memory_bytes))
    try:
        is_local = parse_master(spark.master).kind == "local"
    except ValueError as error:
        yield OptionError(("spark", "master"), str(error), spark.master)
        return
    if spark.executor_cpu is not None and is_local:
        problem = (
            f'has no effect with spark.master = "{spark.master}", whose tasks run in the driver: remove it'
        )
        yield OptionError(("spark", "executor_cpu"), problem, spark.executor_cpu)
    for key, value in spark.settings.items():
        yield from _spark_setting(key, value, secrets)


def _spark_setting(key: str, value: str, secrets: Secrets) -> Iterator[OptionError]:
    path: KeyPath = ("spark", key)
    if key != key.strip():
        yield OptionError(path, "has a blank at an end of its name: remove it", value)
    if _ARGUMENTS_OF_JAVA.fullmatch(key) and secrets.are_shown_by(key, value):
        problem = (
            "contains a secret, which the command line of the JVM would show to every user of the machine: "
            "set that option in the environment variable JDK_JAVA_OPTIONS instead (of executors by "
            "spark.executorEnv.JDK_JAVA_OPTIONS, on YARN of its application master by "
            "spark.yarn.appMasterEnv.JDK_JAVA_OPTIONS)"
        )
        yield OptionError(path, problem, HIDDEN)
    own = {"spark.driver.memory": "driver_memory", **{f"spark.{name}": name for name in OWN_SPARK_KEYS}}
    if name := own.get(key):
        yield OptionError(path, f"is set by spark.{name}: write `{name} = ...` in [spark] instead", value)
    if not key.startswith("spark."):
        problem = (
            f"unknown key; {known_text(key, OWN_SPARK_KEYS)}, and Spark's own keys, which begin with spark."
        )
        yield OptionError(path, problem, value)
