"""`compactbench doctor`: whether this machine is ready, and how noisy its timings are right now."""

import json
import math
import os
import platform
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import psutil
import typer

from bench.cli.output import ERR, print_facts
from bench.cli.results_argument import DEFAULT_OUT
from bench.engines import runtime
from bench.engines.registry import FORMATS
from bench.errors import CompactbenchError, EngineError, MissingRuntimeError
from bench.runs.jobs import NoiseJob
from bench.runs.suite.processes import worker
from bench.runs.suite.run_files import last_line
from bench.text import counted, human_bytes, human_duration, human_percent
from strategies.state import GIB

MEMORY_NEEDED_BYTES = 6 * GIB  # 4 GiB for the Spark driver, 2 GiB for Python and the page cache
DISK_NEEDED_BYTES = 2 * GIB


def _number(seconds: float) -> float:
    """Raises BadParameter for NaN, which passes typer's limits."""
    if math.isnan(seconds):
        raise typer.BadParameter("it is not a number")
    return seconds


def doctor(
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds",
            min=0.0,
            max=3600.0,
            metavar="SECONDS",
            callback=_number,
            help="How long to measure the noise, an hour at most; 0 skips it.",
        ),
    ] = 30.0,
) -> None:
    """Check Python, Java, jars, memory and disk, and measure how noisy this machine is right now.

    * `compactbench doctor`

    * `compactbench doctor --seconds 0`

    Each line is ok, warn (runs work, but their timings may be poor) or MISSING, with the remedy. The noise is
    measured by repeating one query on an empty table.

    Exit codes: 0 ready, 3 something that a run needs is missing.
    """
    checks: list[tuple[str, Callable[[], str]]] = [
        ("Python", _python),
        ("Java", _java),
        ("Spark", lambda: f"{runtime.current_line().spark}, Scala {runtime.current_line().scala}"),
        ("jars", _jars),
        ("memory", _memory),
        ("disk", _disk),
    ]
    problems = []
    statuses = {}
    for name, check in checks:
        try:
            with ERR.status(f"checking {name}"):
                statuses[name] = f"ok: {check()}"
        except CompactbenchError as error:
            statuses[name] = f"MISSING: {error}"
            problems.append(name)
    print_facts({**statuses, **_catalogs(), "load": _load(os.getloadavg()[0], os.cpu_count() or 1)})
    if problems:
        raise MissingRuntimeError(
            f"not ready ({', '.join(problems)}): the remedy is in the lines above", code="not-ready"
        )
    if seconds:
        _print_noise(seconds)


def _python() -> str:
    return f"{platform.python_version()} on {platform.system()} {platform.machine()}"


def _java() -> str:
    home = runtime.java_home()
    return f"{runtime.java_version(home)} at {home}"


def _catalogs() -> dict[str, str]:
    """Whether Java has the modules that some catalogs need; empty without Java."""
    try:
        home = runtime.java_home()
    except MissingRuntimeError:
        return {}
    users = {
        module: user
        for table_format in FORMATS.values()
        for module, user in table_format.catalog.java_modules.items()
    }
    lines = []
    for module, user in users.items():
        modules = runtime.java_modules(home)
        if modules is None:
            lines.append(f"warn: {user} needs the module {module}, which this Java may or may not have")
        elif module in modules:
            lines.append(f"ok: {user} finds the Java module {module}")
        else:
            lines.append(
                f"warn: {user} needs the module {module}, which this Java lacks: {runtime.INSTALL_FULL_JDK}"
            )
    return {"catalogs": "; ".join(lines)}


def _jars() -> str:
    formats = (name for name, table_format in FORMATS.items() if table_format.engines.real is not None)
    paths = [path for name in formats for path in runtime.jars(name)]
    return f"{', '.join(dict.fromkeys(path.name for path in paths))} in {paths[0].parent}"


def _memory() -> str:
    memory = psutil.virtual_memory()
    text = f"{human_bytes(memory.available)} of {human_bytes(memory.total)} available"
    if memory.available < MEMORY_NEEDED_BYTES:
        raise MissingRuntimeError(
            f"{text}; a run needs {human_bytes(MEMORY_NEEDED_BYTES)}: close other programs",
            code="memory-full",
        )
    return text


def _disk() -> str:
    folder = DEFAULT_OUT.absolute().parent
    free_bytes = shutil.disk_usage(folder).free
    text = f"{human_bytes(free_bytes)} free at {folder}"
    if free_bytes < DISK_NEEDED_BYTES:
        raise MissingRuntimeError(
            f"{text}; a run needs {human_bytes(DISK_NEEDED_BYTES)}: free some space", code="disk-full"
        )
    return text


def _load(load: float, cores: int) -> str:
    details = f"{load:.2f} over the last minute, {counted(cores, 'core')}"
    if load <= cores / 2:
        return f"ok: {details}"
    return (
        f"warn: {details}. The machine is busy, which distorts seconds, CPU seconds less so, files and bytes "
        "not at all: wait until it is idle before you compare timings"
    )


def _print_noise(seconds: float) -> None:
    with ERR.status(f"repeating one query for {human_duration(seconds)}"):
        walls = np.array(_query_walls_s(seconds))
    median_s, p95_s = np.median(walls), np.percentile(walls, 95)
    spread = float((np.percentile(walls, 75) - np.percentile(walls, 25)) / median_s)
    print_facts(
        {
            "noise": f"{_verdict(spread)}: {len(walls):,} queries, median "
            f"{human_duration(median_s)}, 95th percentile {human_duration(p95_s)}, interquartile range "
            f"{human_percent(spread)} of the median"
        }
    )


def _verdict(spread: float) -> str:
    """Even if noisy, the means of about ten queries that differ by a factor of two can be distinguished."""
    if spread < 0.1:
        return "ok: quiet"
    if spread < 0.3:
        return "ok: usable with repetitions"
    return "warn: noisy, rely on CPU and bytes rather than on latencies"


def _query_walls_s(seconds: float) -> list[float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        job = NoiseJob(work_folder=folder, seconds=seconds, walls_file=folder / "walls.json")
        with worker(job, folder / "log.txt") as process:
            process.wait()
        if not job.walls_file.exists():
            cause = last_line(folder / "log.txt")
            raise EngineError(f"the query did not run: {cause}", code="query-failed")
        return [float(wall_s) for wall_s in json.loads(job.walls_file.read_text(encoding="utf-8"))]
