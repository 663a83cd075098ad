"""What simulating a long scenario under five strategies costs, and reading the results: CPU and memory.

Run by `make bench`. A commit a minute of 24 files, every tick probed; one day also with more files a commit.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

DAYS = (1, 10, 30, 90)
FILES = (6, 24, 96, 384)  # of a commit, over one day
SHOWN_DAYS = 30  # whose results are shown, reported and exported
GOAL_S, GOAL_MIB = 120, 1024  # of all strategies over SHOWN_DAYS
MIB = 2**20
STRATEGIES = {
    "never": "",
    **{
        f"every-{minutes}min": f'rules = [{{ trigger = {{ type = "every", interval = "{minutes}min" }}, '
        'planner = { type = "iceberg.rewrite_data_files" } }]'
        for minutes in (1, 10, 60)
    },
    "amoro": 'rules = [{ trigger = { type = "every", interval = "5min" }, planner = { type = "amoro", '
    'options = { "self-optimizing.minor.trigger.file-count" = 40 } } }]',
}
SCENARIO = """
seed = 20260101
duration = "1d"
commit_interval = "1min"
probe_every = "1min"
repetitions = 1
[table]
format = "iceberg"
target_file_size = "128MiB"
[workload]
type = "append"
rows_per_commit = 240
files_per_commit = 24
""" + "".join(f'[[strategies]]\nlabel = "{label}"\n{rules}\n' for label, rules in STRATEGIES.items())


class Cost(NamedTuple):
    """CPU of a process and its children, and the memory of the largest of them."""

    cpu_s: float
    rss_bytes: int

    def __str__(self) -> str:
        return f"{self.cpu_s:.1f} s CPU, {self.rss_bytes / MIB:,.0f} MiB"


def main(days: Sequence[int]) -> None:
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        scenario = folder / "long-append.toml"
        scenario.write_text(SCENARIO, encoding="utf-8")
        for count in FILES:
            files, rows = f"workload.files_per_commit={count}", f"workload.rows_per_commit={10 * count}"
            cost = simulation_cost(scenario, folder / f"{count}f", files, rows)
            print(
                f"{days_text(1):>8}  {len(STRATEGIES)} strategies {cost}, {count} files a commit", flush=True
            )
        for count in days:
            cost = simulation_cost(scenario, folder / f"{count}d", f"duration={count}d")
            goal = f" (goal: {GOAL_S} s, {GOAL_MIB} MiB)" if count == SHOWN_DAYS else ""
            print(f"{days_text(count):>8}  {len(STRATEGIES)} strategies {cost}{goal}", flush=True)
        results = folder / f"{SHOWN_DAYS if SHOWN_DAYS in days else days[-1]}d"
        for command in ("show", "report", "export"):
            print(f"{results.name:>8}  {command:12} {command_cost(command, str(results))}", flush=True)
        page = results / "report" / "index.html"
        print(f"{results.name:>8}  {'page':12} {page.stat().st_size / MIB:.2f} MiB")


def days_text(count: int) -> str:
    return f"{count} day{'' if count == 1 else 's'}"


def simulation_cost(scenario: Path, out: Path, *changes: str) -> Cost:
    settings = (word for change in changes for word in ("--set", change))
    return command_cost("run", str(scenario), "--simulate", "--quiet", *settings, "--out", str(out))


def command_cost(*arguments: str) -> Cost:
    with tempfile.TemporaryFile("w+") as output:
        command = [sys.executable, "-P", "-m", "bench.cli", *arguments]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            raise SystemExit(f"compactbench {' '.join(arguments)} failed:\n{output.read()}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or DAYS)
