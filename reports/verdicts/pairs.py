"""Which runs are compared in pairs: runs of one repetition that were made close together.

Both runs of a pair share machine conditions, which cancel in their ratio. A suite that is resumed leaves runs
of one repetition in two suites, which may be minutes or days apart, so closeness is measured: two runs are
close if they started no further apart than the longest uninterrupted repetition took. Any two runs of such a
repetition are close; so is a run that was repeated right after the others.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from bench.results.folders import RunResult
from bench.results.pooling import same_definition

BREAK_S = 7_200.0  # after which machine conditions may differ; how fast they change is not known
Pair = tuple[RunResult, RunResult]


def pairs(
    a_runs: Sequence[RunResult], b_runs: Sequence[RunResult], longest_s: Mapping[Path, float]
) -> tuple[Pair, ...] | None:
    """The runs of both sides in pairs, by results folder and repetition; None unless each run has a partner.

    No run may be left out, so without a partner for each the runs are compared as groups. Of several runs of
    a repetition the closest are paired. `longest_s` comes from `longest_repetitions`.
    """
    if len(a_runs) != len(b_runs):
        return None
    left = list(b_runs)
    matched: list[Pair] = []
    for a in sorted(a_runs, key=started_s):
        partners = [b for b in left if _may_be_paired(a, b, longest_s)]
        if not partners:
            return None
        partner = min(partners, key=lambda b: abs(started_s(b) - started_s(a)))
        left.remove(partner)
        matched.append((a, partner))
    return tuple(sorted(matched, key=lambda pair: (str(pair[0].folder.parent), pair[0].manifest.repetition)))


def longest_repetitions(runs: Iterable[RunResult]) -> dict[Path, float]:
    """For each results folder, the seconds from the first start to the last end of its longest repetition.

    Only runs of one suite count as one repetition here; between suites there was an interruption.
    """
    begun: dict[tuple[Path, str, int], tuple[float, float]] = {}
    for run in runs:
        key = (run.folder.parent, run.manifest.suite_id, run.manifest.repetition)
        started, ended = started_s(run), ended_s(run)
        first, last = begun.get(key, (started, ended))
        begun[key] = (min(first, started), max(last, ended))
    longest_s: dict[Path, float] = {}
    for (folder, _, _), (first, last) in begun.items():
        longest_s[folder] = max(longest_s.get(folder, 0.0), last - first)
    return longest_s


def sittings(runs: Iterable[RunResult]) -> dict[Path, str]:
    """The sitting of each run, by its folder: runs of a results folder with no long break between them.

    A suite that is resumed at once continues the sitting, although it is another suite.
    """
    by_folder: dict[Path, list[RunResult]] = {}
    for run in sorted(runs, key=started_s):
        by_folder.setdefault(run.folder.parent, []).append(run)
    by_run: dict[Path, str] = {}
    for ordered in by_folder.values():
        name, busy_until = "", -math.inf
        for run in ordered:
            if started_s(run) - busy_until > BREAK_S:
                name = str(run.folder)
            busy_until = max(busy_until, ended_s(run))
            by_run[run.folder] = name
    return by_run


def _may_be_paired(a: RunResult, b: RunResult, longest_s: Mapping[Path, float]) -> bool:
    return (
        a.folder.parent == b.folder.parent
        and a.manifest.repetition == b.manifest.repetition
        and same_definition(a, b)
        and abs(started_s(a) - started_s(b)) <= longest_s[a.folder.parent]
    )


def started_s(run: RunResult) -> float:
    """When a run began, in seconds since 1970 UTC."""
    return datetime.fromisoformat(run.manifest.started_utc).timestamp()


def ended_s(run: RunResult) -> float:
    """When its last record was written, or when it began if there is none."""
    written = run.records[-1].written_utc if run.records else run.manifest.started_utc
    return datetime.fromisoformat(written).timestamp()
