"""What compactbench itself costs: the share of a run's wall time that is its own code, and state reads.

Run by `make bench`. Prints one line a run of a small append-only stream and one in total; figures are
ratios within one run, since absolute times say more about the machine.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.results.folders import RunResult, load_runs
from bench.results.records import RunRecord
from bench.results.sittings import ended_s, started_s

RUN = ("run", "append-only", "--set", "duration=20min", "--repetitions", "1")
STRATEGIES = ("never", "every-1min", "every-10min")
GOAL_SHARE = 0.10


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        only = [word for label in STRATEGIES for word in ("--only", f"strategy={label}")]
        command = [sys.executable, "-P", "-m", "bench.cli", *RUN, *only, "--out", folder]
        started_s = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        suite_s = time.perf_counter() - started_s
        runs = load_runs(Path(folder))
    header = ("strategy", "run s", "replay s", "observe s", "observe", "own s", "own of run", "own of replay")
    print("  ".join(f"{text:>13}" for text in header))
    for run in runs:
        print_run(run)
    own_s = sum(end(run).own_s for run in runs)
    loop_s = sum(end(run).loop_s for run in runs)
    print(
        f"own code: {own_s / suite_s:.1%} of the suite's {suite_s:.0f} s, {own_s / loop_s:.1%} of the "
        f"replay alone (goal: <= {GOAL_SHARE:.0%} of a run)"
    )


def print_run(run: RunResult) -> None:
    closing, wall_s = end(run), ended_s(run) - started_s(run)
    cells = (
        run.manifest.strategy, f"{wall_s:.1f}", f"{closing.loop_s:.1f}", f"{closing.observe_s:.2f}",
        f"{closing.observe_s / wall_s:.1%}", f"{closing.own_s:.2f}", f"{closing.own_s / wall_s:.1%}",
        f"{closing.own_s / closing.loop_s:.1%}",
    )  # fmt: skip
    print("  ".join(f"{text:>13}" for text in cells))


def end(run: RunResult) -> RunRecord:
    assert run.end is not None, f"{run.folder} did not finish"
    return run.end


if __name__ == "__main__":
    main()
