"""What a run ran on: versions, machine, source, and the facts a reader of its figures must know."""

import os
import platform
import subprocess
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import psutil
from pydantic import JsonValue

from bench import runtime
from bench.engines.format import Format
from bench.engines.registry import FORMATS
from bench.results.records import Mode
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec
from workloads.commit import Workload
from workloads.debezium import Debezium

PACKAGES = ("compactbench", "pyspark", "duckdb", "pyarrow", "faker", "numpy")

_REAL_NOTES = {
    "clock": "Virtual: commit, probes, compaction and the probe after it run one after the other, each "
    "timed in real seconds; scenario time moves by one commit interval a tick. Nothing competes for the "
    "machine, so a long compaction is flattered: see overlapped_commits.",
    "cpu": "Process CPU is the kernel's accounting of the JVM and Python around each step, in ticks of 10 "
    "ms; it includes garbage collection and compilation that happened meanwhile.",
    "commit": "Reading, splitting and caching the batch is done before the clock of a commit starts.",
    "storage": "Files are not synced to disk, and reads are served from the page cache: latencies hold for a "
    "warm cache and a file system without a network.",
    "keys": "order_id rises with time, so that file statistics prune key and range probes well.",
    "warm_up": "Each run is a process of its own that first commits, probes and runs every action of the "
    "scenario for some rounds on a throw-away table.",
    "write_amplification": "The change log is Parquet written by Spark from the same rows, a file a writer "
    "task, so that it stands for the bytes an ideal single write takes.",
}  # fmt: skip


_SIMULATED_NOTES = {
    "clock": "Simulated: nothing was measured. Files, bytes and decisions follow from the workload's shape "
    "and the format's planning rules, seconds from the coefficients named under options.",
    "content": "A simulated table has no rows: only their number is checked at the end.",
    "probes": "A probe opens the files whose keys may match its one `order_id = n` or "
    "`order_id BETWEEN n AND m`, and all files where it has none or several.",
    "keys": _REAL_NOTES["keys"],
    "write_amplification": "The change log's bytes are those the workload's shape expects.",
}

NOTES: Mapping[Mode, dict[str, str]] = {"real": _REAL_NOTES, "simulated": _SIMULATED_NOTES}


def versions(table_format: Format, mode: Mode) -> dict[str, str]:
    """Versions of everything that takes part; a simulated run follows the rules of the format's release."""
    line = runtime.current_line()
    if mode == "simulated":
        return {
            "python": platform.python_version(),
            "compactbench": version("compactbench"),
            table_format.name: line.versions[table_format.name],
        }
    packages = {name: version(name) for name in (*PACKAGES, *table_format.packages)}
    return {
        "python": platform.python_version(),
        "java": runtime.java_version(runtime.java_home()),
        "spark": packages.pop("pyspark"),
        "scala": line.scala,
        table_format.name: line.versions[table_format.name],
        **packages,
    }


def dataset(scenario: Scenario, spec: StrategySpec) -> dict[str, JsonValue]:
    """What the rows of one strategy's run are, beyond what the scenario's keys say.

    `key` is the primary key, which equality deletes compare; `initial_order` how the initial load lies in
    its files. Neither is there where the stream has none.
    """
    workload, properties = scenario.workload, {**scenario.table.properties, **spec.properties}
    table_format = FORMATS[scenario.table.format]
    default_codec = f"{table_format.default_codec}, the format's default"
    found: dict[str, JsonValue] = {
        "table": "orders",
        "columns_count": len(workload.schema.names),
        "codec": properties.get(table_format.codec_property, default_codec),
    }
    if workload.is_cdc:
        found["key"] = ["order_id"]
    if next(iter(scenario.shape())).is_initial:
        found["initial_order"] = _initial_order(workload, spec)
    return found


def _initial_order(workload: Workload, spec: StrategySpec) -> str:
    if spec.writer.files_per_commit:
        return f"dealt out to {spec.writer.files_per_commit} files in no order"
    if isinstance(workload, Debezium):
        return "in the order of the recorded events"
    return "by order_id, each file a range of it"


def machine() -> dict[str, JsonValue]:
    """The machine and how busy it was; no name of it."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "ram_bytes": psutil.virtual_memory().total,
        "load_1min": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}",
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def source() -> dict[str, JsonValue]:
    """Commit of the checkout this code runs from and whether it was changed; empty outside one."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return {}
    commit, changes = _git(root, "rev-parse", "HEAD"), _git(root, "status", "--porcelain")
    return {"commit": commit, "dirty": bool(changes)} if commit else {}


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", root, *arguments],  # noqa: S607  git is found on the path, wherever it is
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
