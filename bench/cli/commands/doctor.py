"""`compactbench doctor`: whether this machine is ready, and how noisy its timings are right now."""

import json
import math
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import psutil
import typer

from bench.cli.arguments import DEFAULT_OUT
from bench.cli.output import print_facts
from bench.cli.progress import doing
from bench.engines import runtime
from bench.engines.registry import FORMATS
from bench.errors import CompactbenchError, EngineError, MissingRuntimeError
from bench.runs.jobs import NoiseJob
from bench.runs.suite.processes import worker
from bench.runs.suite.run_files import last_message
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
            min=0.0,
            max=3600.0,
            metavar="SECONDS",
            callback=_number,
            help="How long to measure the noise once Spark has started, an hour at most; 0 skips it.",
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
    checks: Mapping[str, Callable[[], str]] = {
        "Python": lambda: f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "Java": _java,
        "Spark": _spark,
        "jars": _jars,
        "memory": _memory,
        "disk": _disk,
    }
    statuses, missing = {}, []
    for name, check in checks.items():
        try:
            with doing(f"checking {name}"):
                statuses[name] = f"ok: {check()}"
        except CompactbenchError as error:
            statuses[name] = f"MISSING: {error}"
            missing.append(name)
    if "Java" not in missing:
        with doing("checking what catalogs need of Java"):
            statuses["catalogs"] = _catalogs()
    print_facts({**statuses, "load": _load(os.getloadavg()[0], os.cpu_count() or 1)})
    if missing:
        raise MissingRuntimeError(
            f"not ready ({', '.join(missing)}): the remedy is in the lines above", code="not-ready"
        )
    if seconds:
        with doing(f"starting Spark, then repeating one query for {human_duration(seconds)}"):
            walls_s = _query_walls_s(seconds)
        print_facts({"noise": _noise(walls_s)})


def _java() -> str:
    home, configured = runtime.java_home(), os.environ.get("JAVA_HOME")
    found = f"{runtime.java_version(home)} at {home}"
    if configured and Path(configured) != home:
        return f"{found}, since JAVA_HOME {runtime.java_problem(Path(configured))}"
    return found


def _catalogs() -> str:
    """Whether Java has the modules that some catalogs need."""
    modules = runtime.java_modules(runtime.java_home())
    lines = []
    for table_format in FORMATS.values():
        for module, user in table_format.catalog.java_modules.items():
            needed = f"warn: {user} needs the module {module}, which this Java"
            if modules is None:
                lines.append(f"{needed} may or may not have")
            elif module in modules:
                lines.append(f"ok: {user} finds the Java module {module}")
            else:
                lines.append(f"{needed} lacks: {runtime.INSTALL_FULL_JDK}")
    return "; ".join(lines)


def _spark() -> str:
    runtime.check_pyspark()
    return f"{runtime.SPARK}, Scala {runtime.SCALA}"


def _jars() -> str:
    paths = [path for name in FORMATS for path in runtime.jars(name)]
    return f"{counted(len(set(paths)), 'jar')} in {paths[0].parent}"


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


def _noise(walls_s: Sequence[float]) -> str:
    """Even if noisy, the means of about ten queries that differ by a factor of two can be distinguished."""
    lower_s, median_s, upper_s, p95_s = np.percentile(walls_s, [25, 50, 75, 95])
    spread = float((upper_s - lower_s) / median_s)
    if spread < 0.1:
        verdict = "ok: quiet"
    elif spread < 0.3:
        verdict = "ok: usable with repetitions"
    else:
        verdict = "warn: noisy, rely on CPU and bytes rather than on latencies"
    return (
        f"{verdict}: {len(walls_s):,} queries, median {human_duration(median_s)}, 95th percentile "
        f"{human_duration(p95_s)}, interquartile range {human_percent(spread)} of the median"
    )


def _query_walls_s(seconds: float) -> list[float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        job = NoiseJob(work_folder=folder, seconds=seconds, walls_file=folder / "walls.json")
        with worker(job, folder / "log.txt") as process:
            process.wait()
        if not job.walls_file.exists():
            cause = last_message(folder / "log.txt")
            raise EngineError(f"the query did not run: {cause}", code="query-failed")
        return [float(wall_s) for wall_s in json.loads(job.walls_file.read_text(encoding="utf-8"))]
