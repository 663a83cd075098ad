"""`python -m bench.runs.worker.simulation FOLDER PARENT` executes a simulated run, without loading Spark."""

import gc
import sys
import time
from functools import partial

from bench.runs.jobs import RunJob
from bench.runs.live_figures import PROGRESS, LiveProgress, write_progress
from bench.runs.worker.parent import obey_parent
from bench.runs.worker.run import execute


def main() -> None:
    obey_parent()
    job = RunJob.model_validate_json(sys.stdin.buffer.read())
    time.tzset()
    gc.freeze()  # what is loaded stays, so that collections need not look at it
    progress = LiveProgress(partial(write_progress, job.work_folder / PROGRESS))
    sys.exit(0 if execute(job, job.scenario.made(), progress.add) else 1)


if __name__ == "__main__":
    main()
