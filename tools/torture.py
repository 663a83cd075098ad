"""Kills suites at random moments and checks what is lost and what is left: `make torture`.

A suite with local tables, of which a strategy compacts without Spark, is killed 50 times, one in a shared
catalog ten times. A kill hits the command, its worker, the worker's JVM, or the worker's process group,
whichever has been hit least often, with SIGKILL or SIGTERM; the command also with SIGINT, which the others
ignore. What is hit must end. After each kill the runs that had finished must be there, and if the command has
ended no process of it. At the end the suite is resumed: all runs must have the content of the stream, and no
table may be left. What a kill meets depends on the machine, so it is not the same each time.
"""

import argparse
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.results.folders import load_runs
from bench.results.records import ContentRecord
from bench.runs.suite.dropping import left_by
from bench.runs.suite.processes import LOG_GRACE_S, STOP_GRACE_S
from bench.runs.suite.results_folder import WORK

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from shared_lake import write_lake

PROGRAM = Path(sys.executable).parent / "compactbench"
SIGNALS = (signal.SIGKILL, signal.SIGTERM)
VICTIMS = ("command", "worker", "JVM", "group")
ENOUGH_KILLS = 2 * len(VICTIMS)  # a kill may come before its victim has started, and hit the command instead
REPETITIONS = 1000  # more than there is time for
WAIT_S = (1.0, 90.0)  # before a kill: from the command's start until its third run
ENDED_AFTER_S = STOP_GRACE_S + LOG_GRACE_S + 5
GONE_AFTER_S = 20.0  # a worker checks every second whether its parent is there, and a JVM needs time to end


class Suite:
    """A suite that is started again whenever it has ended."""

    def __init__(self, folder: Path, scenario: Path, *labels: str) -> None:
        self.folder, self.results, self.labels = folder, folder / "results", set(labels)
        self._file = scenario
        self._process: subprocess.Popen[bytes] | None = None

    def running(self, repetitions: int) -> psutil.Process:
        """The command, started unless it runs."""
        if self._process is None or self._process.poll() is not None:
            options = ("--repetitions", str(repetitions), "--resume", "--out", self.results)
            with (self.folder / "output.txt").open("ab") as output:
                self._process = subprocess.Popen(
                    [PROGRAM, "run", self._file, *options],
                    stdout=output, stderr=output, env={**os.environ, "TZ": "UTC"},
                )  # fmt: skip
        return psutil.Process(self._process.pid)

    def has_ended(self, within_s: float) -> bool:
        assert self._process is not None
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    @property
    def exit_code(self) -> int | None:
        return self._process.poll() if self._process else None

    def is_running(self, process: psutil.Process) -> bool:
        """Whether a process of the suite is running."""
        if self._process is not None and process.pid == self._process.pid:
            return self._process.poll() is None
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE

    def end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(2 * ENDED_AFTER_S)

    def finished(self) -> set[str]:
        """The ids of the runs that have finished. Raises ResultSchemaError for one that cannot be read."""
        if not any(self.results.glob("*/*/manifest.json")):
            return set()
        return {run.manifest.run_id for run in load_runs(self.results) if run.finished}

    def processes(self) -> list[psutil.Process]:
        """All processes of the suite except the command itself."""
        own = self._process.pid if self._process else None
        processes = []
        for process in psutil.process_iter():
            try:
                if process.pid != own and str(self.folder) in " ".join(process.cmdline()):
                    processes.append(process)
            except psutil.Error:
                continue
        return processes

    def stored(self) -> list[str]:
        """What is left of tables: files, and entries of a shared catalog."""
        places = (self.folder / "warehouse", self.results / WORK)
        files = [str(path) for place in places for path in place.rglob("*") if path.is_file()]
        catalog = self.folder / "catalog.db"
        if not catalog.exists():
            return files
        with closing(sqlite3.connect(catalog)) as connection:
            tables = connection.execute("SELECT table_namespace, table_name FROM iceberg_tables").fetchall()
            namespaces = connection.execute("SELECT namespace FROM iceberg_namespace_properties").fetchall()
        return [*files, *(".".join(row) for row in (*tables, *namespaces))]


def victim_of(command: psutil.Process, name: str) -> tuple[str, psutil.Process]:
    """The process to kill and its name: the command if the wanted process has not started."""
    children = command.children(recursive=True)
    workers = [child for child in children if "bench.runs.worker" in " ".join(child.cmdline())]
    jvms = [child for child in children if child.name() == "java"]
    chosen = {"worker": workers, "group": workers, "JVM": jvms}.get(name, [])
    return (name, chosen[0]) if chosen else ("command", command)


@dataclass(frozen=True, slots=True)
class Kill:
    victim: str
    signal: str
    has_ended: bool

    def __str__(self) -> str:
        return f"{self.victim} by {self.signal}"


def next_victim(hits: Counter[str], chance: random.Random, victims: Sequence[str] = VICTIMS) -> str:
    """A random one of the victims that were hit least often."""
    return min(victims, key=lambda name: (hits[name], chance.random()))


def kill(suite: Suite, wanted: str, chance: random.Random) -> Kill | None:
    """Kill a process of a suite and wait until it has ended; None if it had ended before."""
    if suite.exit_code is not None:
        return None
    try:
        name, victim = victim_of(suite.running(REPETITIONS), wanted)
        number = chance.choice((*SIGNALS, signal.SIGINT) if name == "command" else SIGNALS)
        send(victim, name, number)
    except (psutil.Error, ProcessLookupError):
        return None
    if name == "command":
        suite.has_ended(ENDED_AFTER_S)
    else:
        psutil.wait_procs([victim], timeout=ENDED_AFTER_S)
    has_ended = not suite.is_running(victim)
    if not has_ended:
        with suppress(psutil.Error, ProcessLookupError):
            send(victim, name, signal.SIGKILL)
    return Kill(name, signal.Signals(number).name, has_ended)


def send(victim: psutil.Process, name: str, number: int) -> None:
    if name == "group":
        os.killpg(victim.pid, number)
    else:
        victim.send_signal(number)


def gone(suite: Suite) -> bool:
    """Whether all processes of the suite end in time."""
    deadline_s = time.monotonic() + GONE_AFTER_S
    while suite.processes():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(0.5)
    return True


def torture(folder: Path, kills: int, *, is_shared: bool) -> list[str]:
    """Kill a suite this many times and let it finish; returns the problems."""
    labels = ("never", "every-2min", *(() if is_shared else ("without-spark",)))
    suite = Suite(folder, write_lake(folder, is_shared=is_shared), *labels)
    chance = random.Random(kills)
    what, hits, finished, problems = Counter[str](), Counter[str](), set[str](), list[str]()
    try:
        while what.total() < kills:
            suite.running(REPETITIONS)
            time.sleep(chance.uniform(*WAIT_S))
            done = kill(suite, next_victim(hits, chance), chance)
            if done is None:
                continue
            what[str(done)] += 1
            hits[done.victim] += 1
            if not done.has_ended:
                problems.append(f"kill {what.total()} ({done}): it has survived for {ENDED_AFTER_S:g} s")
            if suite.has_ended(0) and not gone(suite):
                problems.append(f"kill {what.total()} ({done}): processes are left: {suite.processes()}")
            now = suite.finished()
            if finished - now:
                problems.append(f"kill {what.total()} ({done}): lost {sorted(finished - now)}")
            finished |= now
            print(f"{what.total():3} {done!s:25} {len(finished):4} runs finished", flush=True)
        if not finished:
            problems.append("no run has finished, so none could be lost: there were too many kills a minute")
        unhurt = [name for name in VICTIMS if not hits[name]]
        if unhurt and kills >= ENOUGH_KILLS:
            problems.append(f"no kill has hit the {', '.join(unhurt)}")
        suite.running(REPETITIONS).terminate()
        if not suite.has_ended(ENDED_AFTER_S):
            problems.append("the command did not end by SIGTERM")
        suite.running(repetitions=1)
        if not suite.has_ended(600) or suite.exit_code != 0:
            problems.append(f"the resumed suite did not succeed: exit code {suite.exit_code}")
        problems += verdicts(suite)
    finally:
        suite.end()
    place = "in a shared catalog" if is_shared else "with local tables"
    print(f"{place}: {kills} kills ({', '.join(f'{n} {w}' for w, n in sorted(what.items()))}),")
    print(f"  {len(suite.finished())} runs finished, {len(problems)} problems")
    return problems


def verdicts(suite: Suite) -> list[str]:
    runs = load_runs(suite.results)
    problems = [
        f"{run.folder.name}: content {statuses}"
        for run in runs
        if run.finished and (statuses := [check.status for check in run.of(ContentRecord)]) != ["equal"]
    ]
    labels = {run.manifest.strategy for run in runs if run.finished and run.manifest.repetition == 1}
    if labels != suite.labels:
        problems.append(f"the suite did not complete: {sorted(labels)}")
    problems += [f"{run.folder.name}: left {left_by(run.folder)}" for run in runs if left_by(run.folder)]
    problems += [f"left: {path}" for path in suite.stored()]
    if not gone(suite):
        problems.append(f"processes are left: {suite.processes()}")
    return problems


def tell(problems: Sequence[str], place: Path) -> None:
    """Print the problems and exit with 1; if there are none, remove the place."""
    if problems:
        print(*problems, f"see {place}", sep="\n")
        sys.exit(1)
    shutil.rmtree(place)


def main() -> None:
    """Both suites; exits with 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="of the suite with local tables")
    parser.add_argument("--shared-kills", type=int, default=10, help="of the suite in a shared catalog")
    chosen = parser.parse_args()
    # A background job may ignore SIGINT, and the processes that it starts inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    problems: list[str] = []
    place = Path(tempfile.mkdtemp(prefix="compactbench-torture-"))
    for is_shared, kills in ((False, chosen.kills), (True, chosen.shared_kills)):
        if kills:
            problems += torture(place / ("shared" if is_shared else "local"), kills, is_shared=is_shared)
    tell(problems, place)


if __name__ == "__main__":
    main()
