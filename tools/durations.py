"""How long a run of a shipped scenario takes, measured by the published runs.

`make docs` writes it to workloads/durations.toml, which `compactbench list scenarios` reads.
"""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from bench.results.folders import RunResult
from bench.results.sittings import ended_s, started_s
from bench.runs.suite.cases import cases
from bench.scenario.durations import FILE, RunDuration
from bench.scenario.load import load_scenario
from tools.publishing import Entry, entries, published

CORES = 2
_HEAD = f"""\
# How many seconds a real run of a scenario takes on {CORES} cores: the mean over its strategies of the mean
# of their newest published runs, and how many runs these are. Left out are scenarios that have no published
# runs of some strategy, as they are now and in their own size. `make docs` writes this file.
"""


def run_duration(runs: Sequence[RunResult], strategies: Iterable[str]) -> RunDuration | None:
    """None unless there are runs of all strategies, given by their labels in variants."""
    walls_s: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        if run.finished and run.manifest.machine.get("cores") == CORES:
            walls_s[run.manifest.strategy].append(ended_s(run) - started_s(run))
    known = [walls_s[label] for label in strategies]
    if not all(known):
        return None
    return RunDuration(round(fmean(map(fmean, known))), sum(map(len, known)))


def durations(index: Iterable[Entry]) -> Mapping[str, RunDuration]:
    """By the name of the scenario."""
    runs: dict[str, list[Sequence[RunResult]]] = defaultdict(list)
    for entry in filter(is_as_shipped, index):
        runs[_scenario(entry)].append(published(entry).group.runs)
    found = {name: newest_duration(runs[name], _labels(name)) for name in sorted(runs)}
    return {name: duration for name, duration in found.items() if duration is not None}


def newest_duration(sets: Iterable[Sequence[RunResult]], strategies: Sequence[str]) -> RunDuration | None:
    """By the newest set that has runs of all strategies: older runs may have taken another time."""
    newest_first = sorted(sets, key=lambda runs: max(map(started_s, runs)), reverse=True)
    return next(filter(None, (run_duration(runs, strategies) for runs in newest_first)), None)


def durations_text(found: Mapping[str, RunDuration]) -> str:
    tables = (f"\n[{name}]\nrun_s = {took.run_s}\nruns = {took.runs}\n" for name, took in found.items())
    return _HEAD + "".join(tables)


def write_durations() -> Path:
    FILE.write_text(durations_text(durations(entries())), encoding="utf-8")
    return FILE


def is_as_shipped(entry: Entry) -> bool:
    """Whether its runs are real ones of a shipped scenario without other keys, as the scenario is now."""
    return not entry.earlier and not {"--set", "--simulate"} & set(shlex.split(entry.command))


def _scenario(entry: Entry) -> str:
    """The command is `compactbench run SCENARIO ...`."""
    return shlex.split(entry.command)[2]


def _labels(name: str) -> list[str]:
    return [case.spec.label for case in cases(load_scenario(name))]
