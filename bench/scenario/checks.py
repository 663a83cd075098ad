"""Checks of a scenario's keys against each other. Each error names both values and the consequence."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from bench.engines.registry import FORMATS
from bench.keys import bytes_text, duration_ms_text, known_text
from bench.scenario.catalog import catalog_properties
from bench.scenario.schema import OWN_SPARK_KEYS, ProbeKeys, ScenarioKeys, Spark, StrategyKeys
from bench.scenario.values import KeyPath, OptionError, path_text
from bench.secrets import HIDDEN, Secrets
from bench.spark_master import parse_master
from bench.sql import code_of, reads
from workloads.commit import files_problem
from workloads.schema import ORDERS, Schema

COMMIT_INTERVAL_MIN_MS = 1
BUCKETS_MAX = 10_000
REPETITIONS_MAX = 1_000
COMMITS_MAX = 1_000_000  # almost two years of a commit per minute; to check so many takes half a minute
DRIVER_MEMORY_MIN_BYTES = 512 * 2**20
LABEL_LENGTH_MAX = 60
_ARGUMENTS_OF_JAVA = re.compile(r"spark\.(?:driver|executor|yarn\.am)\.(?:extra|default)JavaOptions")
_SIZE_BYTES = re.compile(r"0*[1-9][0-9]{0,17}")  # fits into the 64 bits that formats read a size into


def is_multiple(value_ms: int, unit_ms: int) -> bool:
    """Whether `value_ms` is a positive multiple of `unit_ms`."""
    return value_ms >= unit_ms and value_ms % unit_ms == 0


def check_keys(keys: ScenarioKeys, secrets: Secrets) -> None:
    """Raises OptionError for the first contradiction. `secrets` are those of the scenario."""
    _check_times(keys)
    _check_counts(keys)
    _check_table(keys)
    _check_workload(keys)
    _check_probes(keys.probes, FORMATS[keys.table.format].table.views)
    _check_columns(keys.probes, keys.workload.schema)
    _check_labels([strategy.label for strategy in keys.strategies])
    _check_spellings(keys.table.format, keys.table.properties, ("table", "properties"))
    for index, strategy in enumerate(keys.strategies):
        path: KeyPath = ("strategies", index, "properties")
        _check_spellings(keys.table.format, strategy.properties, path)
        _check_properties(keys.table.format, strategy, path)
        _check_switches(keys, strategy, ("strategies", index, "switch"))
    _check_upsert_modes(keys)
    _check_writers(keys)
    _check_moves(keys)
    _check_kept_back(keys)
    _check_spark(keys.spark, secrets)
    if types := FORMATS[keys.table.format].catalog.types:
        _check_catalog(catalog_properties(keys), types)
    elif keys.catalog is not None:
        raise OptionError(
            ("catalog",), f"tables of format {keys.table.format!r} have no catalog: leave it out"
        )


def _check_catalog(given: Mapping[str, tuple[KeyPath, str]], types: Collection[str]) -> None:
    if kind := given.get("type"):
        path, value = kind
        if value.lower() not in types:
            problem = (
                f"is not a type of catalog: write one of {', '.join(sorted(types))}, or set a catalog-impl"
            )
            raise OptionError(path, problem, value)
    if implementation := given.get("catalog-impl"):
        path, value = implementation
        if not value.strip():
            raise OptionError(path, "names no class: write its full name, or set a type instead", value)
        if kind:
            raise OptionError(
                path, f"cannot be combined with {path_text(kind[0])}: leave one of them out", value
            )


def _check_workload(keys: ScenarioKeys) -> None:
    if keys.workload.is_cdc and not FORMATS[keys.table.format].writer.upsert_modes:
        raise OptionError(
            ("workload", "type"),
            f"updates and deletes rows, which no engine of format {keys.table.format!r} can write yet; "
            'use type = "append"',
            keys.workload_name,
        )


def _check_counts(keys: ScenarioKeys) -> None:
    if keys.repetitions > REPETITIONS_MAX:
        raise OptionError(
            ("repetitions",),
            f"must be at most {REPETITIONS_MAX}: a report reads all runs at once",
            keys.repetitions,
        )
    for index, strategy in enumerate(keys.strategies):
        files = strategy.writer.files_per_commit
        problem = None if files is None else files_problem(files)
        if problem is not None:
            raise OptionError(("strategies", index, "writer", "files_per_commit"), problem, files)


def _check_times(keys: ScenarioKeys) -> None:
    if keys.clock == "real":
        raise OptionError(("clock",), 'is not built yet; use clock = "virtual"', "real")
    interval = duration_ms_text(keys.commit_interval_ms)
    if keys.commit_interval_ms < COMMIT_INTERVAL_MIN_MS:
        raise OptionError(
            ("commit_interval",), "must be at least 1ms: order dates are whole milliseconds", interval
        )
    if not is_multiple(keys.duration_ms, keys.commit_interval_ms):
        raise OptionError(
            ("duration",),
            f"must be a whole number of commit intervals (commit_interval = {interval}), at least one",
            duration_ms_text(keys.duration_ms),
        )
    commits_count = keys.duration_ms // keys.commit_interval_ms
    if commits_count > COMMITS_MAX:
        raise OptionError(
            ("duration",),
            f"makes {commits_count} commits (commit_interval = {interval}), and a run has at most "
            f"{COMMITS_MAX}: shorten it or lengthen commit_interval",
            duration_ms_text(keys.duration_ms),
        )
    _check_cadence(keys)


def _check_cadence(keys: ScenarioKeys) -> None:
    interval, duration = duration_ms_text(keys.commit_interval_ms), duration_ms_text(keys.duration_ms)
    probe_every_ms = keys.commit_interval_ms if keys.probe_every_ms is None else keys.probe_every_ms
    if not is_multiple(probe_every_ms, keys.commit_interval_ms) or probe_every_ms > keys.duration_ms:
        raise OptionError(
            ("probe_every",),
            f"must be a whole number of commit intervals (commit_interval = {interval}) and at most "
            f"duration = {duration}: probes run after a commit",
            duration_ms_text(probe_every_ms),
        )
    side_ms = keys.side_probe_every_ms
    if side_ms is not None and (not is_multiple(side_ms, probe_every_ms) or side_ms > keys.duration_ms):
        raise OptionError(
            ("side_probe_every",),
            f"must be a whole number of probe_every = {duration_ms_text(probe_every_ms)} and at most "
            f"duration = {duration}: all probes run in the same ticks",
            duration_ms_text(side_ms),
        )


def _check_table(keys: ScenarioKeys) -> None:
    table = keys.table
    if table.target_file_size_bytes < 1:
        raise OptionError(("table", "target_file_size"), 'must be > 0, e.g. "128MiB"', "0B")
    if table.buckets is not None and table.partitioning != "bucket":
        raise OptionError(
            ("table", "buckets"),
            f'only applies to partitioning = "bucket", not {table.partitioning!r}: set that or leave it out',
            table.buckets,
        )
    if table.buckets is not None and table.buckets > BUCKETS_MAX:
        raise OptionError(
            ("table", "buckets"),
            f"must be at most {BUCKETS_MAX}: each commit writes a file to every bucket",
            table.buckets,
        )
    for name, value in table.properties.items():
        own = FORMATS[table.format].table.own_key(name)
        if own is not None:
            raise OptionError(("table", "properties", name), f"is set by {own}: set that instead", value)


def _check_spellings(format_name: str, properties: Mapping[str, str], path: KeyPath) -> None:
    """Refuse a property that is set twice, in two spellings of its name."""
    seen: dict[str, str] = {}
    for name, value in properties.items():
        other = seen.setdefault(FORMATS[format_name].table.property_name(name), name)
        if other != name:
            raise OptionError((*path, name), f"is the same property as {other}: leave one of them out", value)


def _check_properties(format_name: str, strategy: StrategyKeys, path: KeyPath) -> None:
    """Of the properties that a key sets, a strategy may override sizes only."""
    for name, value in strategy.properties.items():
        own = FORMATS[format_name].table.own_key(name)
        if own is None:
            continue
        if FORMATS[format_name].table.property_name(name) in FORMATS[format_name].table.size_properties:
            if not _SIZE_BYTES.fullmatch(value):
                raise OptionError((*path, name), 'must be a size > 0, e.g. "64MiB"', value)
        elif own.startswith("table."):
            raise OptionError(
                (*path, name),
                f"is the same for all strategies: set {own} and leave it out of strategy {strategy.label!r}",
                value,
            )
        else:
            raise OptionError((*path, name), f"is set by {own} of the strategy: set that instead", value)


def _check_probes(probes: tuple[ProbeKeys, ...], views: Mapping[str, str]) -> None:
    for name, count in Counter(probe.name for probe in probes).items():
        if count > 1:
            raise OptionError(("probes",), f"{count} probes are called {name!r}: rename one", name)
    primaries = [probe.name for probe in probes if probe.primary]
    if len(primaries) > 1:
        raise OptionError(("probes",), "more than one is primary: set primary = true for one only", primaries)
    for index, probe in enumerate(probes):
        if not any(reads(probe.sql, name) for name in ("orders", *views)):
            others = "".join(f", or {view} for {shows}" for view, shows in views.items())
            path: KeyPath = ("probes", index, "sql")
            raise OptionError(path, f"must read the table, which is called orders{others}", probe.sql)


def missing_columns(sql: str, schema: Schema) -> list[str]:
    """The columns of the standard table (17) that a query names and a narrower table does not have."""
    words = set(re.findall(r"\w+", code_of(sql).lower()))
    return [name for name in ORDERS.names if name in words and name not in schema.names]


def _check_columns(probes: tuple[ProbeKeys, ...], schema: Schema) -> None:
    """Refuse a probe that needs columns which the table does not have."""
    for index, probe in enumerate(probes):
        missing = missing_columns(probe.sql, schema)
        if missing:
            raise OptionError(
                ("probes", index, "sql"),
                f"names {', '.join(missing)}, which the table does not have: it has "
                f"{', '.join(schema.names)}. "
                "Leave the probe out or set workload.columns = 17",
                probe.sql,
            )


def _check_labels(labels: list[str]) -> None:
    for index, label in enumerate(labels):
        path = ("strategies", index, "label")
        if label in labels[:index]:
            raise OptionError(
                path, f"is also the label of strategies[{labels.index(label)}]: rename one", label
            )
        if not label.isprintable() or label != label.strip() or not 1 <= len(label) <= LABEL_LENGTH_MAX:
            raise OptionError(
                path,
                f"must be 1 to {LABEL_LENGTH_MAX} printable characters, without spaces at either end",
                label,
            )
        if set(label) & set("/\\") or label in (".", ".."):
            raise OptionError(path, "must not be or contain a path: it names a result folder", label)


def _check_upsert_modes(keys: ScenarioKeys) -> None:
    """Refuse an upsert mode that the format does not have, or that the stream has no use for."""
    modes = FORMATS[keys.table.format].writer.upsert_modes
    for index, strategy in enumerate(keys.strategies):
        mode = strategy.writer.upsert_mode
        path = ("strategies", index, "writer", "upsert_mode")
        if mode is None:
            continue
        if not keys.workload.is_cdc:
            raise OptionError(
                path,
                f"says how changes are written, and type {keys.workload_name!r} only appends: leave "
                'it out or use workload.type = "upsert"',
                mode,
            )
        if mode not in modes:
            raise OptionError(path, f"must be {_one_of(tuple(modes))}", mode)


def _check_writers(keys: ScenarioKeys) -> None:
    """Refuse a number of writer tasks where the format's tables do not depend on it."""
    refusal = FORMATS[keys.table.format].writer.files_refused
    for index, strategy in enumerate(keys.strategies):
        files = strategy.writer.files_per_commit
        if refusal is not None and files is not None:
            raise OptionError(("strategies", index, "writer", "files_per_commit"), refusal, files)


def _check_moves(keys: ScenarioKeys) -> None:
    """Refuse changes that put rows into other partitions where the format loses track of them."""
    refusal, by = FORMATS[keys.table.format].writer.moves_refused, keys.table.partitioning
    if refusal is not None and keys.workload.moves_rows and by in ("day", "city"):
        raise OptionError(
            ("table", "partitioning"),
            f"changes of this workload may put a row into another partition, and {refusal}: set it to "
            '"none" or "bucket", or workload.move_share to 0',
            by,
        )


def _check_kept_back(keys: ScenarioKeys) -> None:
    """Refuse a writer that keeps rows back in a way that cannot be replayed."""
    interval, duration = duration_ms_text(keys.commit_interval_ms), duration_ms_text(keys.duration_ms)
    for index, strategy in enumerate(keys.strategies):
        every_ms = strategy.writer.commit_every_ms
        if every_ms is None:
            continue
        path, every = ("strategies", index, "writer", "commit_every"), duration_ms_text(every_ms)
        if keys.workload.is_cdc:
            raise OptionError(
                path,
                f"commits several batches as one, and those of type {keys.workload_name!r} may change a "
                "row twice: leave it out, or lengthen commit_interval for all strategies",
                every,
            )
        if not is_multiple(every_ms, keys.commit_interval_ms) or keys.duration_ms % every_ms:
            raise OptionError(
                path,
                f"must be a whole number of commit intervals (commit_interval = {interval}) and divide "
                f"duration = {duration}: the rows kept back at the end would never be committed",
                every,
            )


def _one_of(names: Sequence[str]) -> str:
    """The names, listed as pydantic lists the choices of a key."""
    quoted = [repr(name) for name in names]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}" if len(quoted) > 1 else "".join(quoted)


def _check_switches(keys: ScenarioKeys, strategy: StrategyKeys, path: KeyPath) -> None:
    labels = [other.label for other in keys.strategies]
    interval, duration = duration_ms_text(keys.commit_interval_ms), duration_ms_text(keys.duration_ms)
    before_ms = 0
    for index, switch in enumerate(strategy.switch):
        at = duration_ms_text(switch.at_ms)
        if switch.strategy not in labels:
            raise OptionError(
                (*path, index, "strategy"),
                f"no strategy has that label; {known_text(switch.strategy, labels)}",
                switch.strategy,
            )
        if not before_ms < switch.at_ms < keys.duration_ms:
            raise OptionError(
                (*path, index, "at"),
                f"must be after {duration_ms_text(before_ms)} and before duration = {duration}",
                at,
            )
        if not is_multiple(switch.at_ms, keys.commit_interval_ms):
            raise OptionError((*path, index, "at"), f"must be on a commit (commit_interval = {interval})", at)
        before_ms = switch.at_ms


def check_interval(every_ms: int, commit_interval_ms: int, path: KeyPath) -> None:
    """Refuse an interval that is shorter than that of the evaluations, of which each commit has one."""
    if every_ms < commit_interval_ms:
        raise OptionError(
            path,
            f"must be at least commit_interval = {duration_ms_text(commit_interval_ms)}: "
            "strategies are evaluated once per commit",
            duration_ms_text(every_ms),
        )


def _check_spark(spark: Spark, secrets: Secrets) -> None:
    if spark.driver_memory_bytes < DRIVER_MEMORY_MIN_BYTES:
        raise OptionError(
            ("spark", "driver_memory"),
            "must be at least 512MiB: Spark does not start with less",
            bytes_text(spark.driver_memory_bytes),
        )
    try:
        master = parse_master(spark.master)
    except ValueError as error:
        raise OptionError(("spark", "master"), str(error), spark.master) from error
    if spark.executor_cpu is not None and master.kind == "local":
        raise OptionError(
            ("spark", "executor_cpu"),
            f'has no effect with spark.master = "{spark.master}", whose tasks run in the driver: remove it',
            spark.executor_cpu,
        )
    for key, value in spark.settings.items():
        _check_spark_setting(key, value, secrets)


def _check_spark_setting(key: str, value: str, secrets: Secrets) -> None:
    if key != key.strip():
        raise OptionError(("spark", key), "has a blank at an end of its name: remove it", value)
    if _ARGUMENTS_OF_JAVA.fullmatch(key) and secrets.are_shown_by(key, value):
        raise OptionError(
            ("spark", key),
            "contains a secret, which the command line of the JVM would show to every user of the machine: "
            "set that option in the environment variable JDK_JAVA_OPTIONS instead (of executors by "
            "spark.executorEnv.JDK_JAVA_OPTIONS, on YARN of its application master by "
            "spark.yarn.appMasterEnv.JDK_JAVA_OPTIONS)",
            HIDDEN,
        )
    own = {"spark.driver.memory": "driver_memory", **{f"spark.{name}": name for name in OWN_SPARK_KEYS}}
    if name := own.get(key):
        raise OptionError(
            ("spark", key), f"is set by spark.{name}: write `{name} = ...` in [spark] instead", value
        )
    if not key.startswith("spark."):
        known = known_text(key, OWN_SPARK_KEYS)
        raise OptionError(
            ("spark", key), f'unknown key; {known}, and Spark\'s own keys, which begin with "spark."', value
        )
