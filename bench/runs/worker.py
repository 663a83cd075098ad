"""A worker process: `python -m bench.runs.worker` reads one job from its standard input and does it.

Each run has a process, a JVM and a work folder of its own. The worker ends with its parent, whatever
became of it, and takes its JVM along.
"""

import os
import signal
import sys
import threading
import time
from contextlib import ExitStack
from types import FrameType

from pyspark.sql import SparkSession

from bench import runtime
from bench.engines.contract import SparkSettings
from bench.engines.spark.session import start_session, stop_session
from bench.errors import EngineError
from bench.runs.jobs import JOB, LogJob, LogProgress, NoiseJob, RunJob
from bench.runs.noise import measure_noise
from bench.runs.run import execute
from bench.scenario.scenario import Scenario, load_scenario
from workloads.change_log import ChangeLogError, ensure_change_log

PARENT_CHECK_S = 1.0


def main() -> None:
    """Do the job; its outcome is in the files it writes and in the exit code."""
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides, and sends SIGTERM
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    job = JOB.validate_json(sys.stdin.buffer.read())
    runtime.use_java()
    time.tzset()
    match job:
        case NoiseJob():
            measure_noise(job)
        case LogJob():
            write_log(job, _scenario(job))
        case RunJob():
            sys.exit(0 if execute(job, _scenario(job)) else 1)


def _scenario(job: LogJob | RunJob) -> Scenario:
    """The scenario, read again from where the user has it; raises EngineError when it has changed."""
    scenario = load_scenario(job.scenario, job.overrides)
    if scenario.hash != job.scenario_hash:
        raise EngineError(f"{job.scenario} changed while the suite ran; start it again")
    return scenario


def _stop(signum: int, frame: FrameType | None) -> None:
    """End at once, JVM included: an exception amid a call to it would look like a failed run."""
    os.killpg(0, signal.SIGKILL)


def _end_with_parent(parent: int) -> None:
    """Kill this process group once the parent is gone, JVM included: nothing else would end it."""
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_S)
    os.killpg(os.getpgid(0), signal.SIGKILL)


def write_log(job: LogJob, scenario: Scenario) -> None:
    """Write the change log; how far it is, where it is and what is wrong with it go to the job's outcome."""
    with ExitStack() as stack:

        def session() -> SparkSession:
            spark = start_session(SparkSettings(), (), {}, job.work_folder)
            stack.callback(stop_session, spark)
            return spark

        def tell(**fields: object) -> None:
            job.progress_file.write_text(LogProgress(**fields).model_dump_json())  # type: ignore[arg-type]

        try:
            log = ensure_change_log(
                session, job.cache_folder, scenario.workload, scenario.seed, scenario.commits_count,
                scenario.commit_interval_ms, lambda done, total: tell(done=done, total=total),
            )  # fmt: skip
            tell(folder=log.folder)
        except ChangeLogError as error:
            tell(damaged=str(error))
            raise
        except Exception as error:
            tell(failed=f"{type(error).__name__}: {error}".splitlines()[0])
            raise


if __name__ == "__main__":
    main()
