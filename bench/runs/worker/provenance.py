"""The provenance of a run: versions, machine, source, dataset, and how figures were measured."""

import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import psutil
from pydantic import JsonValue

from bench.engines import runtime
from bench.engines.contract import CatalogSettings, SparkSettings
from bench.engines.format import Format
from bench.engines.registry import FORMATS
from bench.results.records import DRIVER_CPU, EXECUTORS_CPU, FEWER_CORES, TASKS_CPU, THREADS_CPU, Mode
from bench.scenario.roles import wanted_cores
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec
from strategies.plan import Capability
from workloads.commit import Workload
from workloads.debezium import Debezium
from workloads.history import History
from workloads.recorded import HistoryFacts, OwnCompactions

PACKAGES = ("compactbench", "pyspark", "duckdb", "pyarrow", "faker", "numpy")

# How figures were measured, by mode. `reports.page.sections.notes` has a sentence for each fact.
_NOTES: Mapping[Mode, Mapping[str, str]] = {
    "real": {
        "commit_time": "without preparation",
        "warm_up": "table per planner",
        "ingested_bytes": "change log",
    },
    "simulated": {
        "clock": "virtual",
        "times": "modelled",
        "content": "row count",
        "ingested_bytes": "expected",
    },
}

# The same of real runs whose roles take turns, and of those whose roles work at the same time.
_IN_TURNS = {"clock": "virtual", "times": "measured", "table_metadata": "read by new sessions"}
_AT_ONCE = {"clock": "real", "times": "measured at the same time"}
_OVERSUBSCRIBED = {"cores": FEWER_CORES}

_OWN = ("bench", "reports", "strategies", "workloads", "pyproject.toml", "constraints.txt")

_FILES_OF_THIS_MACHINE = {"fsync": "off", "page_cache": "warm"}


def notes(mode: Mode, scenario: Scenario, spark: SparkSettings, catalog: CatalogSettings) -> dict[str, str]:
    """Facts about the method that a reader of the figures needs, by topic."""
    workload, page_cache = scenario.workload, scenario.page_cache
    is_recorded = isinstance(workload, Debezium | History)
    common = {} if is_recorded else {"keys": "ascending"}  # of recorded events and files the order is unknown
    if scenario.query_weights is not None:
        common["queries"] = "at a changing rate"
    if mode == "simulated":
        left_out = {} if page_cache is None else {"page_cache": "not modelled"}
        if catalog.is_shared:
            left_out["storage"] = "not modelled"
        pruning = "by partition" if isinstance(workload, History) else "one key condition"
        cores = "of each role" if scenario.resources.shared_cores is None else "shared"
        clock = {"clock": "real", "cores": cores} if scenario.has_real_clock else {}
        speed = {} if scenario.resources.core_speed in (None, 1) else {"core_speed": "given"}
        jvm = {"jvm": scenario.jvm or "new"}
        return {**_NOTES[mode], **clock, **speed, "pruning": pruning, **common, **left_out, **jvm}
    cold = {} if page_cache is None else {"page_cache": page_cache}
    clock, cpu = _IN_TURNS, _cpu(spark)
    if scenario.has_real_clock:
        is_oversubscribed = wanted_cores(scenario) > len(os.sched_getaffinity(0))
        clock = {**_AT_ONCE, **(_OVERSUBSCRIBED if is_oversubscribed else {})}
        cpu = THREADS_CPU if FORMATS[scenario.table.format].engines.roles_are_threads else cpu
    return {**_NOTES[mode], **clock, **_place(spark, catalog), **common, "cpu": cpu, **cold}


def _place(spark: SparkSettings, catalog: CatalogSettings) -> Mapping[str, str]:
    """Where tasks ran and tables were; if both were on this machine, the settings of its file system."""
    if spark.is_on_this_machine and not catalog.is_shared:
        return _FILES_OF_THIS_MACHINE
    machines = {} if spark.is_on_this_machine else {"machines": "a cluster's"}
    storage = {"storage": "of the catalog"} if catalog.is_shared else {}
    return {**machines, **storage}


def _cpu(spark: SparkSettings) -> str:
    if spark.is_local:
        return DRIVER_CPU
    return EXECUTORS_CPU if spark.executor_cpu == "processes" else TASKS_CPU


def versions(table_format: Format, mode: Mode) -> dict[str, str]:
    """Versions of everything involved; in a simulation, the release of the format that is modelled."""
    if mode == "simulated":
        return {
            "python": platform.python_version(),
            "compactbench": version("compactbench"),
            table_format.name: runtime.VERSIONS[table_format.name],
        }
    packages = {name: version(name) for name in (*PACKAGES, *table_format.engines.packages)}
    return {
        "python": platform.python_version(),
        "java": runtime.java_version(runtime.java_home()),
        "spark": packages.pop("pyspark"),
        "scala": runtime.SCALA,
        table_format.name: runtime.VERSIONS[table_format.name],
        **packages,
    }


def dataset(scenario: Scenario, spec: StrategySpec) -> dict[str, JsonValue]:
    """Facts about the rows of one strategy's run that the scenario does not state.

    For streams with updates: the primary `key`, `changes_by` (the statement that changes rows) and `is_merge`
    (whether that is the format's own MERGE). With an initial load: `initial_order`, the order of its rows.
    Of an imported table only what its metadata said, with the `notes` of the import, and what its
    `own_compactions` did.
    """
    workload = scenario.workload
    if isinstance(workload, History):
        return _of_history(workload.facts, workload.own_compactions(scenario.duration_ms))
    set_by_user = {**scenario.spark.settings, **scenario.table.properties, **spec.properties}
    table_format = FORMATS[scenario.table.format]
    default_codec = f"{table_format.table.default_codec} (format default)"
    facts: dict[str, JsonValue] = {
        "table": "orders",
        "columns_count": len(workload.schema.names),
        "codec": set_by_user.get(table_format.table.codec_setting, default_codec),
    }
    if workload.is_cdc:
        facts["key"] = ["order_id"]
        facts["changes_by"] = table_format.writer.upsert_modes.get(spec.upsert_mode or "")
        needed = table_format.writer.needs(scenario.table, spec.upsert_mode)
        facts["is_merge"] = Capability.MERGE in needed
    if next(iter(scenario.shape())).is_initial:
        sorted_by = table_format.table.initial_order(scenario.table)
        facts["initial_order"] = sorted_by or _initial_order(workload, spec)
    return facts


def _of_history(facts: HistoryFacts, own: OwnCompactions | None) -> dict[str, JsonValue]:
    return {
        **({"own_compactions": asdict(own)} if own else {}),
        "table": "an imported table",
        "columns_count": facts.columns_count,
        "partition_columns": list(facts.partition_columns),
        "codec": "as in that table",
        "initial_order": "as in that table",
        "notes": list(facts.notes),
    }


def _initial_order(workload: Workload, spec: StrategySpec) -> str:
    if spec.writer.files_per_commit:
        return f"spread over {spec.writer.files_per_commit} files in no particular order"
    if isinstance(workload, Debezium):
        return "in the order of the recorded events"
    return "ordered by order_id, one range per file"


def machine(load_before_suite: float | None) -> dict[str, JsonValue]:
    """The machine, without its host name, and its load before the suite, if known."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "ram_bytes": psutil.virtual_memory().total,
        "system": f"{platform.system()} {platform.release()}",
        **({} if load_before_suite is None else {"load_before_suite": load_before_suite}),
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def source() -> dict[str, JsonValue]:
    """The commit of this checkout, and whether our own files are changed; empty outside of a checkout."""
    root = Path(__file__).parents[3]
    if not (root / ".git").exists():
        return {}
    commit, changes = _git(root, "rev-parse", "HEAD"), _git(root, "status", "--porcelain", "--", *_OWN)
    return {"commit": commit, "dirty": bool(changes)} if commit else {}


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", root, *arguments],  # noqa: S607  git is looked up on the path
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
