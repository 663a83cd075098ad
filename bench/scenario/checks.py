"""Checks of a scenario's keys against each other, its table's format and its Spark."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from bench.engines.keys import duration_ms_text, unknown_columns, value_text
from bench.engines.master import parse_master
from bench.engines.registry import FORMATS
from bench.engines.sql import code_of, may_be_query, reads
from bench.names import known_text
from bench.scenario.catalog import catalog_properties
from bench.scenario.plugins import name_of
from bench.scenario.scenario import Scenario
from bench.scenario.schema import (
    OWN_SPARK_KEYS,
    ProbeKeys,
    RuleKeys,
    ScenarioKeys,
    Spark,
    StrategyKeys,
    StrategyRuleKeys,
    WriterKeys,
)
from bench.scenario.values import KeyPath, OptionError, check_all
from bench.secrets import HIDDEN, Secrets
from strategies.plan import Capability
from strategies.planner import traits_of
from strategies.strategy import Rule
from strategies.triggers import trigger_traits
from workloads.history import History
from workloads.schema import ORDERS, Schema

LABEL_LENGTH_MAX = 100
_ARGUMENTS_OF_JAVA = re.compile(r"spark\.(?:driver|executor|yarn\.am)\.(?:extra|default)JavaOptions")
_SIZE_BYTES = re.compile(r"0*[1-9][0-9]{0,17}")  # fits into the 64 bits that formats read a size into
_DELAYABLE = frozenset({
    Capability.COMPACT, Capability.REWRITE, Capability.CONVERT, Capability.DELAYED_COMMIT,
})  # fmt: skip
_NARROWING = frozenset({Capability.ROW_FILTER, Capability.BRANCH})  # options of a command, not commands


def check_keys(keys: ScenarioKeys, secrets: Secrets) -> None:
    """Raises OptionError, for the first contradiction that each check finds.

    `secrets` are the scenario's secrets.
    """
    check_all(_checks_of_keys(keys, secrets))


def _checks_of_keys(keys: ScenarioKeys, secrets: Secrets) -> Iterator[Callable[[], None]]:
    yield partial(_check_times, keys)
    yield partial(_check_table, keys)
    yield partial(_check_workload, keys)
    yield partial(_check_probes, keys.probes)
    for index in range(len(keys.probes)):
        yield partial(_check_probe, keys, index)
    yield partial(_check_labels, [strategy.label for strategy in keys.strategies])
    for index, strategy in enumerate(keys.strategies):
        path: KeyPath = ("strategies", index)
        yield partial(_check_spellings, keys.table.format, strategy.properties, (*path, "properties"))
        yield partial(_check_properties, keys.table.format, strategy, (*path, "properties"))
        yield partial(_check_writer, keys, strategy.writer, (*path, "writer"))
        for number, rule in enumerate(strategy.rules):
            place = (*path, "rules", number)
            yield partial(_check_rule, keys, rule, place)
            yield partial(_check_delay, keys, rule, place)
            yield partial(_check_executor, keys, rule, place)
    for index, maintenance in enumerate(keys.maintenance):
        yield partial(_check_rule, keys, maintenance, ("maintenance", index))
    yield partial(_check_spark, keys.spark, secrets)
    yield partial(_check_catalog, keys)
    yield partial(_check_keys_of_real_clock, keys)


def check_tables(scenario: Scenario) -> None:
    """Let the format judge the properties of each strategy's table, keys that name columns, and the rules.

    Raises OptionError, for the first problem of each strategy.
    """
    check_all(partial(_check_table_of, scenario, index) for index in range(len(scenario.strategies)))


def _check_table_of(scenario: Scenario, index: int) -> None:
    rules_of_format, spec = FORMATS[scenario.table.format].table, scenario.strategies[index]
    own: list[tuple[KeyPath, Rule]] = [
        (("strategies", index, "rules", number), rule) for number, rule in enumerate(spec.strategy.rules)
    ]
    maintenance: list[tuple[KeyPath, Rule]] = [
        (("maintenance", number), replace(rule, delay_ms=0))
        for number, rule in enumerate(scenario.maintenance)
    ]
    table = scenario.table_of(spec)
    if unsuited := rules_of_format.property_problem(table):
        name, problem = unsuited
        place: KeyPath = ("strategies", index) if name in spec.properties else ("table",)
        value = table.properties[name]
        raise OptionError((*place, "properties", name), problem, value, code="unsupported")
    if unsuited := rules_of_format.key_problem(table):
        key, problem = unsuited
        raise OptionError(("table", key), problem, getattr(scenario.table, key), code="unsupported")
    for path, rule in (*own, *maintenance):
        delayed = replace(rule, delay_ms=rule.delay_or(scenario.compaction_delay_ms))
        if refusal := rules_of_format.rule_problem(table, delayed):
            raise OptionError((*path, "planner"), refusal, code="unsupported")


def missing_columns(sql: str, schema: Schema) -> list[str]:
    """The columns of the standard table (17) that a query names and a narrower table does not have."""
    words = set(re.findall(r"\w+", code_of(sql).lower()))
    return [name for name in ORDERS.names if name in words and name not in schema.names]


def _is_multiple(value_ms: int, unit_ms: int) -> bool:
    return value_ms >= unit_ms and value_ms % unit_ms == 0


def _check_times(keys: ScenarioKeys) -> None:
    interval, duration = duration_ms_text(keys.commit_interval_ms), duration_ms_text(keys.duration_ms)
    whole = f"must be a whole number of commit intervals (commit_interval = {interval})"
    if not _is_multiple(keys.duration_ms, keys.commit_interval_ms):
        raise OptionError(("duration",), f"{whole}, at least one", duration, code="not-a-multiple")
    every_ms = keys.commit_interval_ms if keys.probe_every_ms is None else keys.probe_every_ms
    every = duration_ms_text(every_ms)
    if not _is_multiple(every_ms, keys.commit_interval_ms) or every_ms > keys.duration_ms:
        problem = f"{whole} and at most duration = {duration}: probes run after a commit"
        raise OptionError(("probe_every",), problem, every, code="not-a-multiple")
    side_ms = keys.side_probe_every_ms
    if side_ms is not None and (not _is_multiple(side_ms, every_ms) or side_ms > keys.duration_ms):
        raise OptionError(
            ("side_probe_every",),
            f"must be a whole number of probe_every = {every} and at most duration = {duration}: all probes "
            "run in the same ticks",
            duration_ms_text(side_ms),
            code="not-a-multiple",
        )


def _check_table(keys: ScenarioKeys) -> None:
    table, path = keys.table, ("table", "properties")
    if table.buckets is not None and table.partitioning != "bucket":
        raise OptionError(
            ("table", "buckets"),
            f'only applies to partitioning = "bucket", not {table.partitioning!r}: set that or leave it out',
            table.buckets,
            code="no-effect",
        )
    for name, value in table.properties.items():
        if own := FORMATS[table.format].table.own_key(name):
            raise OptionError(
                (*path, name), f"is set by {own}: set that instead", value, code="set-elsewhere"
            )
    _check_spellings(table.format, table.properties, path)


def _check_spellings(format_name: str, properties: Mapping[str, str], path: KeyPath) -> None:
    """Refuse a property that is set twice, in two spellings of its name."""
    seen: dict[str, str] = {}
    for name, value in properties.items():
        other = seen.setdefault(FORMATS[format_name].table.property_name(name), name)
        if other != name:
            raise OptionError(
                (*path, name), f"is the same property as {other}: leave one of them out", value, code="taken"
            )


def _check_properties(format_name: str, strategy: StrategyKeys, path: KeyPath) -> None:
    """Of the properties that a key sets, a strategy may override sizes only."""
    rules = FORMATS[format_name].table
    for name, value in strategy.properties.items():
        own = rules.own_key(name)
        if own is None:
            continue
        if rules.property_name(name) in rules.size_properties:
            if not _SIZE_BYTES.fullmatch(value):
                raise OptionError((*path, name), 'must be a size > 0, e.g. "64MiB"', value, code="invalid")
        elif own.startswith("table."):
            raise OptionError(
                (*path, name),
                f"is the same for all strategies: set {own} and leave it out of strategy {strategy.label!r}",
                value,
                code="set-elsewhere",
            )
        else:
            problem = f"is set by {own} of the strategy: set that instead"
            raise OptionError((*path, name), problem, value, code="set-elsewhere")


def _check_imported(keys: ScenarioKeys, workload: History) -> None:
    """The commits of an imported table are given, and so are its format and its partitions."""
    title = FORMATS[workload.facts.format].words.title
    if keys.table.format != workload.facts.format:
        problem = f"the imported table is in {title}: set it to {value_text(workload.facts.format)}"
        raise OptionError(("table", "format"), problem, keys.table.format, code="mismatch")
    if keys.table.partitioning != "none":
        problem = "an imported table has its own partitions: leave it out"
        raise OptionError(("table", "partitioning"), problem, keys.table.partitioning, code="no-effect")
    for index, strategy in enumerate(keys.strategies):
        if chosen := strategy.writer.model_fields_set:
            problem = "the commits of an imported table are replayed as recorded: leave it out"
            path: KeyPath = ("strategies", index, "writer")
            raise OptionError(path, problem, ", ".join(sorted(chosen)), code="no-effect")


def _check_workload(keys: ScenarioKeys) -> None:
    if isinstance(keys.workload, History):
        _check_imported(keys, keys.workload)
    writer, by = FORMATS[keys.table.format].writer, keys.table.partitioning
    if keys.workload.is_cdc and not writer.upsert_modes:
        raise OptionError(
            ("workload", "type"),
            f"updates and deletes rows, which no engine of format {keys.table.format!r} can write yet; "
            'use type = "append"',
            keys.workload_name,
            code="unsupported",
        )
    if writer.moves_refused is not None and keys.workload.moves_rows and by in ("day", "city"):
        raise OptionError(
            ("table", "partitioning"),
            f"changes of this workload may put a row into another partition, and {writer.moves_refused}: set "
            'it to "none" or "bucket", or workload.move_share to 0',
            by,
            code="unsupported",
        )


def _check_probes(probes: Sequence[ProbeKeys]) -> None:
    for name, count in Counter(probe.name for probe in probes).items():
        if count > 1:
            raise OptionError(("probes",), f"{count} probes have this name: rename one", name, code="taken")
    primaries = [probe.name for probe in probes if probe.primary]
    if len(primaries) > 1:
        problem = "several probes are primary: set primary = true for one only"
        raise OptionError(("probes",), problem, primaries, code="not-one-primary")


def _check_probe(keys: ScenarioKeys, index: int) -> None:
    sql, schema, path = keys.probes[index].sql, keys.workload.schema, ("probes", index, "sql")
    views = FORMATS[keys.table.format].table.views
    if not any(reads(sql, name) for name in ("orders", *views)):
        others = "".join(f", or {view} for {shows}" for view, shows in views.items())
        raise OptionError(
            path, f"must read the table, which is called orders{others}", sql, code="reads-no-table"
        )
    if not may_be_query(sql):
        problem = "must be one query (SELECT, WITH or VALUES), without a command or a write"
        raise OptionError(path, problem, sql, code="not-a-query")
    if missing := missing_columns(sql, schema):
        raise OptionError(
            path,
            f"names {', '.join(missing)}, which the table does not have: it has "
            f"{', '.join(schema.names)}. Leave the probe out or set workload.columns = 17",
            sql,
            code="unknown-column",
        )


def _check_labels(labels: Sequence[str]) -> None:
    for index, label in enumerate(labels):
        path = ("strategies", index, "label")
        if label in labels[:index]:
            problem = f"is also the label of strategies[{labels.index(label)}]: rename one"
            raise OptionError(path, problem, label, code="taken")
        if not _is_label(label):
            problem = (
                f"must be 1 to {LABEL_LENGTH_MAX} printable characters, without slashes or outer spaces: "
                "it names a result folder"
            )
            raise OptionError(path, problem, label, code="bad-name")


def _is_label(text: str) -> bool:
    is_path = bool(set(text) & set("/\\")) or text in (".", "..")
    return 1 <= len(text) <= LABEL_LENGTH_MAX and text.isprintable() and text == text.strip() and not is_path


def _check_writer(keys: ScenarioKeys, writer: WriterKeys, path: KeyPath) -> None:
    rules = FORMATS[keys.table.format].writer
    mode = writer.upsert_mode
    if rules.files_refused is not None and writer.files_per_commit is not None:
        raise OptionError(
            (*path, "files_per_commit"), rules.files_refused, writer.files_per_commit, code="no-effect"
        )
    if mode is not None and not keys.workload.is_cdc:
        raise OptionError(
            (*path, "upsert_mode"),
            f"sets how changes are written, but type {keys.workload_name!r} only appends: leave it out or "
            'use workload.type = "upsert"',
            mode,
            code="no-effect",
        )
    if mode not in (None, *rules.upsert_modes):
        problem = f"unknown mode; {known_text('', rules.upsert_modes)}"
        raise OptionError((*path, "upsert_mode"), problem, mode, code="unknown-name")
    if writer.commit_every_ms is not None:
        _check_commit_every(keys, writer.commit_every_ms, (*path, "commit_every"))


def _check_commit_every(keys: ScenarioKeys, every_ms: int, path: KeyPath) -> None:
    interval, duration = duration_ms_text(keys.commit_interval_ms), duration_ms_text(keys.duration_ms)
    if keys.workload.is_cdc:
        raise OptionError(
            path,
            f"commits several batches as one, but batches of type {keys.workload_name!r} may change the same "
            "row: leave it out, or lengthen commit_interval for all strategies",
            duration_ms_text(every_ms),
            code="unsupported",
        )
    if not _is_multiple(every_ms, keys.commit_interval_ms) or keys.duration_ms % every_ms:
        raise OptionError(
            path,
            f"must be a whole number of commit intervals (commit_interval = {interval}) and divide "
            f"duration = {duration}: the rows kept back at the end would never be committed",
            duration_ms_text(every_ms),
            code="not-a-multiple",
        )


def _check_rule(keys: ScenarioKeys, rule: RuleKeys, path: KeyPath) -> None:
    interval_ms, traits = trigger_traits(rule.trigger).interval_ms, traits_of(rule.planner)
    if interval_ms is not None and interval_ms < keys.commit_interval_ms:
        raise OptionError(
            (*path, "trigger", "interval"),
            f"must be at least commit_interval = {duration_ms_text(keys.commit_interval_ms)}: strategies are "
            "evaluated once per commit",
            duration_ms_text(interval_ms),
            code="out-of-range",
        )
    if refusal := unknown_columns(traits.columns, keys.workload.schema.names):
        raise OptionError((*path, "planner"), refusal, code="unknown-column")
    version, highest = keys.table.version, traits.max_format_version
    if version is not None and highest is not None and version > highest:
        usable = [allowed for allowed in keys.table.versions() if allowed <= highest]
        remedy = f"set table.{keys.table.version_key} = {max(usable)}, or " if usable else ""
        raise OptionError(
            (*path, "planner", "type"),
            f"supports tables up to format version {highest}, and this one has {version}: {remedy}leave the "
            "rule out",
            name_of(type(rule.planner)),
            code="unsupported",
        )


def _check_delay(keys: ScenarioKeys, rule: StrategyRuleKeys, path: KeyPath) -> None:
    delay_ms, needs = rule.rule.delay_or(keys.compaction_delay_ms), traits_of(rule.planner).needs
    native = sorted(needs - _DELAYABLE - _NARROWING)
    if delay_ms > 0 and native and Capability.DELAYED_COMMIT not in needs:
        raise OptionError(
            (*path, "planner", "type"),
            f"cannot be delayed: {', '.join(native)} plans and commits in one call, so no commit of the "
            f'stream can land in between; set compaction_delay, or the delay of the rule, to "0s" and not to '
            f'"{duration_ms_text(delay_ms)}", or use a planner that names its files or schedules first',
            name_of(type(rule.planner)),
            code="cannot-be-delayed",
        )


def _check_executor(keys: ScenarioKeys, rule: StrategyRuleKeys, path: KeyPath) -> None:
    names = FORMATS[keys.table.format].engines.executors
    if rule.executor is not None and rule.executor not in names:
        problem = f"is no executor of {keys.table.format}: choose {' or '.join(names)}"
        raise OptionError((*path, "executor"), problem, rule.executor, code="unknown-name")


def _check_catalog(keys: ScenarioKeys) -> None:
    types = FORMATS[keys.table.format].catalog.types
    if not types and keys.catalog is not None:
        problem = f"tables of format {keys.table.format!r} have no catalog: leave it out"
        raise OptionError(("catalog",), problem, code="no-effect")
    kind = catalog_properties(keys).get("type")
    if types and kind and kind[1].lower() not in types:
        remedy = f"write one of {', '.join(sorted(types))}, or set a catalog-impl"
        raise OptionError(kind[0], f"is not a type of catalog: {remedy}", kind[1], code="unknown-name")


def _check_spark(spark: Spark, secrets: Secrets) -> None:
    try:
        is_local = parse_master(spark.master).kind == "local"
    except ValueError as error:
        raise OptionError(("spark", "master"), str(error), spark.master, code="invalid") from error
    if spark.executor_cpu is not None and is_local:
        raise OptionError(
            ("spark", "executor_cpu"),
            f'has no effect with spark.master = "{spark.master}", whose tasks run in the driver: remove it',
            spark.executor_cpu,
            code="no-effect",
        )
    check_all(partial(_check_spark_setting, key, value, secrets) for key, value in spark.settings.items())


def _check_keys_of_real_clock(keys: ScenarioKeys) -> None:
    if keys.clock == "real":
        return
    of_clock: Mapping[KeyPath, object] = {
        ("resources", "shared_cores"): keys.resources.shared_cores,
        ("speed",): keys.speed,
        ("drain",): keys.drain_ms,
        ("roles",): keys.roles,
    }
    for path, value in of_clock.items():
        if value is not None:
            problem = 'has no effect, because steps take turns: leave it out, or set clock = "real"'
            raise OptionError(path, problem, code="no-effect")


def _check_spark_setting(key: str, value: str, secrets: Secrets) -> None:
    path: KeyPath = ("spark", key)
    if _ARGUMENTS_OF_JAVA.fullmatch(key.strip()) and secrets.are_shown_by(key, value):
        raise OptionError(
            path,
            "contains a secret, which the command line of the JVM would show to every user of the machine: "
            "set that option in the environment variable JDK_JAVA_OPTIONS instead (of executors by "
            "spark.executorEnv.JDK_JAVA_OPTIONS, on YARN of its application master by "
            "spark.yarn.appMasterEnv.JDK_JAVA_OPTIONS)",
            HIDDEN,
            code="secret-exposed",
        )
    own = {"spark.driver.memory": "driver_memory", **{f"spark.{name}": name for name in OWN_SPARK_KEYS}}
    if name := own.get(key.strip()):
        problem = f"is set by spark.{name}: write `{name} = ...` in [spark] instead"
        raise OptionError(path, problem, value, code="set-elsewhere")
    if not key.startswith("spark."):
        raise OptionError(
            path,
            f"unknown key; {known_text(key, OWN_SPARK_KEYS)}, and Spark's own keys, which begin with spark.",
            value,
            code="unknown-name",
        )
