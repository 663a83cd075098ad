"""Kills roles of runs with a real clock at random moments: `make torture`.

Runs on an Iceberg table in a shared catalog, on a Hudi table and on a Delta table are started repeatedly. In
each a random one of the roles that were hit least often is killed with SIGKILL, at a random moment between
the start of the roles and the end of the run. On a Delta table roles are threads, so their process is killed.
The run must fail and name the role, and its command must leave no process, no table and no file. The run that
`--resume` makes instead must have the content of the stream. What a kill meets depends on the machine, so it
is not the same each time.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from bench.engines.registry import FORMATS
from bench.results.folders import RunResult, load_runs
from bench.results.records import CommitRecord
from bench.runs.suite.results_folder import WORK
from bench.scenario.load import load_scenario
from bench.scenario.roles import roles_of
from tools.torture import Suite, gone, next_victim, tell, verdicts

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from live_lake import write_live_lake

KILLS = {"iceberg": 10, "hudi": 6, "delta": 4}  # by format
WORKER = "worker"  # the process of a run, and of its roles where they are threads
FIRST_S = 60.0  # the last moment of the first kill, until it is known how long a run takes
STARTED_S, RUN_S = 300.0, 900.0  # what a run may take until its roles have started, and from then on
FAILED_S = 180.0  # what a command may take from a kill until it has dropped the table in the catalog


class LiveSuite(Suite):
    """A suite whose runs have a real clock; `victims` are the processes that can be killed, by name."""

    def __init__(self, folder: Path, format_name: str) -> None:
        file = write_live_lake(folder, format_name)
        scenario = load_scenario(str(file))
        super().__init__(folder, file, *(spec.label for spec in scenario.strategies))
        are_threads = FORMATS[format_name].engines.roles_are_threads
        self.victims: tuple[str, ...] = (WORKER,) if are_threads else roles_of(scenario)

    def started(self, repetition: int) -> dict[str, psutil.Process]:
        """Start the run; its victims once all roles have started, none if it ends before."""
        command, deadline_s = self.running(repetition), time.monotonic() + STARTED_S
        while not self.has_ended(0.2) and time.monotonic() < deadline_s:
            with suppress(psutil.Error):
                found = victims_of(command, self.victims)
                if len(found) == len(self.victims) and any(self.results.glob(f"{WORK}/*/roles")):
                    return found
        return {}

    def runs(self, repetition: int) -> list[RunResult]:
        """The runs of one repetition, in the order in which they were made."""
        return [run for run in load_runs(self.results) if run.manifest.repetition == repetition]


def victims_of(command: psutil.Process, names: Sequence[str]) -> dict[str, psutil.Process]:
    """The process of the run that a command executes, or of those of its roles that have started, by name."""
    workers = [p for p in command.children(recursive=True) if "bench.runs.worker" in p.cmdline()]
    of_command = {worker.pid for worker in workers if worker.ppid() == command.pid}
    are_roles = WORKER not in names
    found = [worker for worker in workers if (worker.ppid() if are_roles else worker.pid) in of_command]
    in_order = sorted(found, key=lambda process: (process.create_time(), process.pid))
    return dict(zip(names, in_order, strict=False))


def failure_by(victim: str) -> str:
    """What the run must say when it has lost this process."""
    return f"the {victim} {'' if victim == WORKER else 'failed: it '}ended with exit code -9"


def kill_one(suite: LiveSuite, repetition: int, victim: str, after_s: float) -> list[str]:
    """Start a run and kill a process of it so many seconds after its roles have started.

    Returns the problems. Raises LookupError if the kill came too late, so that the run has succeeded.
    """
    victims = suite.started(repetition)
    if not victims:
        return [f"the roles have not started: exit code {suite.exit_code}"]
    if not suite.has_ended(after_s):
        with suppress(psutil.NoSuchProcess):
            victims[victim].kill()
        if not suite.has_ended(FAILED_S):
            return [f"the command has not ended after {FAILED_S:g} s"]
    if suite.exit_code == 0:
        raise LookupError
    problems = [] if suite.exit_code == 1 else [f"the command has ended with exit code {suite.exit_code}"]
    errors = [run.end.error if run.end else None for run in suite.runs(repetition)]
    if len(errors) != 1 or failure_by(victim) not in (errors[0] or ""):
        problems.append(f"the run does not say {failure_by(victim)!r}: {errors}")
    if not gone(suite):
        problems.append(f"processes are left: {suite.processes()}")
    return [*problems, *(f"left: {path}" for path in suite.stored())]


def resume(suite: LiveSuite, repetition: int) -> tuple[list[str], float]:
    """Let the command make a run again that has failed; returns problems, and the seconds of its roles."""
    has_started, started_s = bool(suite.started(repetition)), time.monotonic()
    if not has_started or not suite.has_ended(RUN_S) or suite.exit_code != 0:
        return [f"the resumed suite did not succeed: exit code {suite.exit_code}"], FIRST_S
    took_s, finished = time.monotonic() - started_s, [run.finished for run in suite.runs(repetition)]
    problems = [] if finished == [False, True] else [f"there is no failed and one finished run: {finished}"]
    return [*problems, *verdicts(suite)], took_s


def torture(folder: Path, format_name: str, kills: int) -> list[str]:
    """Kill a process of this many runs, and resume each, until there is a problem; returns the problems."""
    suite, chance, within_s = LiveSuite(folder, format_name), random.Random(), FIRST_S
    hits, problems, repetition = Counter[str](), list[str](), 0
    try:
        while hits.total() < kills and not problems:
            repetition += 1
            victim = next_victim(hits, chance, suite.victims)
            after_s = chance.uniform(0, within_s)
            try:
                found = kill_one(suite, repetition, victim, after_s)
            except LookupError:  # the run had ended before
                within_s = min(within_s, after_s)
                continue
            hits[victim] += 1
            what = f"{victim} of {format_name} after {after_s:.0f} s"
            if not found:
                commits = sum(len(run.of(CommitRecord)) for run in suite.runs(repetition))
                what += f" and {commits} commits"
                found, within_s = resume(suite, repetition)
            problems = [f"kill {hits.total()} ({what}): {problem}" for problem in found]
            outcome = "; ".join(found) or "nothing left, resumed: equal"
            print(f"{hits.total():3} {what}: {outcome}", flush=True)
    finally:
        suite.end()
    by_victim = ", ".join(f"{count} {name}" for name, count in sorted(hits.items()))
    print(f"{format_name}: {hits.total()} kills ({by_victim}), {len(problems)} problems")
    return problems


def main() -> None:
    """All formats; exits with 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    for format_name, kills in KILLS.items():
        parser.add_argument(f"--{format_name}", type=int, default=kills, help="kills of its roles")
    chosen, place = vars(parser.parse_args()), Path(tempfile.mkdtemp(prefix="compactbench-roles-"))
    tell([p for name in KILLS if chosen[name] for p in torture(place / name, name, chosen[name])], place)


if __name__ == "__main__":
    main()
