"""A worker process does one job, which it reads from its standard input.

Each run has its own process, JVM and work folder. The worker and its JVM end when the parent process ends,
for whatever reason.
"""

import json
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from bench.engines import runtime
from bench.engines.contract import EngineSettings, Probe, SparkSettings, TableSpec
from bench.engines.registry import FORMATS, engine_kind
from bench.engines.spark.engine import one_line
from bench.engines.spark.session import start_session, stop_session
from bench.errors import first_error
from bench.runs.jobs import JOB, DropJob, LogJob, LogProgress, NoiseJob, RoleJob, RunJob, TryJob
from bench.runs.settings import engine_settings
from bench.runs.worker.live.role import do_role
from bench.runs.worker.live.run import LiveRun
from bench.runs.worker.live.threads import ThreadsRun
from bench.runs.worker.parent import obey_parent
from bench.runs.worker.run import Run, execute
from bench.runs.worker.watchdog import Watchdog, jvm_watchdog
from bench.scenario.scenario import Scenario
from strategies.state import MIB
from workloads.change_log import ChangeLogError, ensure_change_log

_NOISE_WARM_UP_QUERIES = 20
_NOISE = Probe("noise", "SELECT count(*) FROM range(1000000), (SELECT count(*) FROM orders)", primary=True)


def main() -> None:
    """The outcome is in the files that the job writes and in the exit code."""
    obey_parent()
    job = JOB.validate_json(sys.stdin.buffer.read())
    runtime.use_java()
    time.tzset()
    watchdog = jvm_watchdog()
    watchdog.start()
    match job:
        case NoiseJob():
            _measure_noise(job)
        case LogJob():
            write_log(job, job.scenario.made())
        case DropJob():
            _or_reason(lambda: drop_noted(job.scenario.made(), job))
        case TryJob():
            _or_reason(lambda: _try_table(job.scenario.made(), job))
        case RunJob():
            sys.exit(0 if _execute(job, watchdog) else 1)
        case RoleJob():
            sys.exit(0 if do_role(job) else 1)


def _or_reason(do: Callable[[], None]) -> None:
    """If `do` fails, the last line of the output is the reason."""
    try:
        do()
    except (Py4JJavaError, PySparkException) as error:
        traceback.print_exc()
        sys.exit(one_line(error))
    except Exception as error:
        traceback.print_exc()
        sys.exit(first_error(error))


def drop_noted(scenario: Scenario, job: DropJob) -> None:
    """Remove the namespaces and staged files that a run has noted and not removed itself."""
    any_strategy = scenario.strategies[0].label
    settings = engine_settings(scenario, any_strategy, job.work_folder, run_folder=job.run_folder)
    if not job.tables_too:
        settings = replace(settings, catalog=replace(settings.catalog, journal=None))
    engine_kind(scenario.table.format, "real").drop_left(settings)


def _try_table(scenario: Scenario, job: TryJob) -> None:
    """Create an empty table and drop it, with its namespace.

    First drops what a try that was killed has noted.
    """
    any_strategy = scenario.strategies[0].label
    settings = engine_settings(scenario, any_strategy, job.work_folder, run_folder=job.run_folder)
    kind = engine_kind(scenario.table.format, "real")
    kind.drop_left(settings)
    with kind.open(settings) as engine:
        try:
            engine.create()
        except Exception:
            traceback.print_exc()  # errors of Spark have no text once it has ended
            with suppress(Exception):  # there may be no table
                engine.drop()
            raise
        engine.drop()


def _execute(job: RunJob, watchdog: Watchdog) -> bool:
    scenario = job.scenario.made()
    return execute(job, scenario, verdict=lambda: watchdog.verdict, manner=_manner(scenario))


def _manner(scenario: Scenario) -> type[Run] | None:
    if not scenario.has_real_clock:
        return None
    return ThreadsRun if FORMATS[scenario.table.format].engines.roles_are_threads else LiveRun


def write_log(job: LogJob, scenario: Scenario) -> None:
    """Write the change log; progress, then folder or error, go to the job's progress file."""
    with ExitStack() as stack:

        def session() -> SparkSession:
            write_progress(total=sum(1 for _ in scenario.shape()))
            spark = start_session(SparkSettings(), (), {}, job.work_folder)
            stack.callback(stop_session, spark)
            return spark

        def write_progress(**fields: object) -> None:
            job.progress_file.write_text(LogProgress(**fields).model_dump_json(), encoding="utf-8")  # type: ignore[arg-type]

        try:
            log = ensure_change_log(
                session, job.cache_folder, scenario.workload, scenario.seed, scenario.commits_count,
                scenario.commit_interval_ms, lambda done, total: write_progress(done=done, total=total),
            )  # fmt: skip
            write_progress(folder=log.folder, commits_count=len(log.commits))
        except ChangeLogError as error:
            write_progress(damaged=str(error))
            raise
        except Exception as error:
            write_progress(failed=f"{type(error).__name__}: {error}".splitlines()[0])
            raise


def _measure_noise(job: NoiseJob) -> None:
    """Repeat one query on a table without rows; its wall seconds, in order, go to the job's file."""
    settings = EngineSettings(job.work_folder, TableSpec(target_file_size_bytes=128 * MIB))
    walls_s = []
    table_format = next(iter(FORMATS.values()))
    with table_format.engines.real.open(settings) as engine:
        engine.create()
        for _ in range(_NOISE_WARM_UP_QUERIES):
            engine.query(_NOISE)
        until_s = time.monotonic() + job.seconds
        while time.monotonic() < until_s:
            walls_s.append(engine.query(_NOISE).cost.wall_s)
    job.walls_file.write_text(json.dumps(walls_s), encoding="utf-8")
