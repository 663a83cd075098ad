"""Tests the formats' rules of conflict on runs with a real clock, and compares these with simulations.

    .venv/bin/python -P -m tools.at_once RESULTS...

For each format, the first table has the compactions of real runs: what its rules predict, from the commits
that ended while each of them ran, and what happened. The second has how often compactions and commits lost
and how late commits were, real and simulated with the shipped coefficients, which are not fitted to runs with
a real clock. The third has the slowest commits and queries, counted from when they were due and from when
they began, and the fourth why steps lost, in the format's words.
"""

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from bench.cli.model_validation import resimulated
from bench.engines.hudi.table_keys import prefers_writer
from bench.engines.iceberg.conflicts import Effect, Kind, conflict_between
from bench.engines.iceberg.table_keys import DEFAULT_UPSERT_MODE
from bench.errors import CompactbenchError
from bench.results.arithmetic import all_known, mean
from bench.results.figures import figures, primary_queries_of, since_due_s
from bench.results.folders import RunResult, load_runs
from bench.results.latency import latencies_s
from bench.results.records import CommitRecord, CompactionRecord, Manifest
from bench.results.rows import run_figures
from bench.text import MISSING
from strategies.grouping import by_key
from strategies.hudi.commands import Command

_EVERY = frozenset({"every file"})
_RENEWS = "use-starting-sequence-number=false"  # in an action, as `describe_action` writes it
_OUTCOMES = ("ok", "conflict")
_NAMES = re.compile(r"\w+\{.*\}|\S+\.parquet")  # of a file group, as Hudi writes it, and of a file
_FIGURES = (
    "lost_compactions", "compactions", "redone_commits", "commit_since_due_p50_s", "commit_since_due_p95_s",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """A compaction that committed or lost. `predicted` is None where records do not tell.

    `landed_count` commits ended while it ran, and `edge_s` is how close a commit ended to its beginning or
    end: near 0 the records do not say which came first. None without a commit.
    """

    strategy: str
    started_s: float
    ended_s: float
    landed_count: int
    edge_s: float | None
    files: str
    predicted: str | None
    observed: str


def outcomes(run: RunResult) -> Iterator[Outcome]:
    """The compactions of a real run with a real clock, in order."""
    commits = [commit for commit in run.of(CommitRecord) if commit.span is not None]
    for one in run.of(CompactionRecord):
        if one.span is None or one.status not in _OUTCOMES:
            continue
        started_s, ended_s = (one.staged or one.span).started_s, one.span.ended_s
        ends_s = [(commit.span.ended_s, commit) for commit in commits if commit.span is not None]
        landed = [commit for end_s, commit in ends_s if started_s < end_s < ended_s]
        edges_s = [min(abs(end_s - started_s), abs(end_s - ended_s)) for end_s, _ in ends_s]
        rewritten = _rewritten_count(one)
        yield Outcome(
            run.manifest.strategy, started_s, ended_s, len(landed), min(edges_s, default=None),
            f"{MISSING if rewritten is None else rewritten} of {one.before.data_files_count}",
            predicted(run.manifest, one, landed), one.status,
        )  # fmt: skip


def outcomes_of(runs: Iterable[RunResult]) -> list[Outcome]:
    return [one for run in runs for one in outcomes(run)]


def predicted(manifest: Manifest, one: CompactionRecord, landed: Iterable[CommitRecord]) -> str | None:
    """The outcome of a compaction by the rules of its format, from the commits that landed while it ran.

    None if it rewrites only a part of the files and a commit may have changed rows of them, or of others.
    """
    if not _LOSES[manifest.format](manifest, one, landed):
        return "ok"
    return "conflict" if _rewritten_count(one) == one.before.data_files_count else None


# Whether a compaction loses against commits, if they concern all files of the table.
_Loses = Callable[[Manifest, CompactionRecord, Iterable[CommitRecord]], bool]


def _loses_in_iceberg(manifest: Manifest, one: CompactionRecord, landed: Iterable[CommitRecord]) -> bool:
    effects = [_effect_of(manifest, commit) for commit in landed]
    kind = Kind.RENEWAL if any(_RENEWS in action.lower() for action in one.actions) else Kind.REWRITE
    return conflict_between(Effect(kind, removed=_EVERY), effects) is not None


def _loses_in_delta(manifest: Manifest, one: CompactionRecord, landed: Iterable[CommitRecord]) -> bool:
    """OPTIMIZE and REORG lose against a MERGE that has replaced files or deleted rows of them."""
    return any(map(_updates, landed))


def _loses_in_hudi(manifest: Manifest, one: CompactionRecord, landed: Iterable[CommitRecord]) -> bool:
    """A compaction never loses, and a clustering only if commits are preferred."""
    properties = cast(Mapping[str, str], manifest.options["table_properties"])
    is_writer_preferred = prefers_writer(properties)
    is_clustering = any(action.startswith(Command.CLUSTERING) for action in one.actions)
    return is_writer_preferred and is_clustering and any(map(_updates, landed))


def _updates(commit: CommitRecord) -> bool:
    return bool(commit.change.files_removed_count or commit.change.delete_files_added_count)


_LOSES: Mapping[str, _Loses] = {
    "iceberg": _loses_in_iceberg, "delta": _loses_in_delta, "hudi": _loses_in_hudi
}  # fmt: skip


def _effect_of(manifest: Manifest, commit: CommitRecord) -> Effect:
    mode = manifest.options.get("upsert_mode")
    if mode is None:
        return Effect(Kind.APPEND)
    deleting = _EVERY if commit.change.delete_files_added_count else frozenset()
    if mode == DEFAULT_UPSERT_MODE:
        return Effect(Kind.EQUALITY_DELETES, hit=deleting)
    removed = _EVERY if commit.change.files_removed_count else frozenset()
    return Effect(Kind(str(mode)), removed=removed, marked=deleting)


def _rewritten_count(one: CompactionRecord) -> int | None:
    """The number of files that it rewrote, or was going to."""
    if one.status == "ok":
        return one.change.files_removed_count
    return None if one.forecast is None else round(one.forecast["files_removed_count"])


@dataclass(frozen=True, slots=True)
class Judged:
    """How many outcomes the records tell, how many of these are as predicted, and how many are not told."""

    right: int
    told: int
    untold: int


def judged(found: Sequence[Outcome]) -> Judged:
    told = [one for one in found if one.predicted is not None]
    return Judged(sum(one.predicted == one.observed for one in told), len(told), len(found) - len(told))


def reasons(runs: Iterable[RunResult]) -> Counter[tuple[str, str]]:
    """How many compactions, and how many tries of commits, lost for which reason."""
    found: Counter[tuple[str, str]] = Counter()
    for run in runs:
        lost = [one.error for one in run.of(CompactionRecord) if one.status == "conflict"]
        tries = [why for commit in run.of(CommitRecord) for why in commit.conflicts or ()]
        found.update(("compactions", _reason(why or "not recorded")) for why in lost)
        found.update(("commits", _reason(why)) for why in tries)
    return found


def _reason(message: str) -> str:
    """The message of a conflict without the files that it names."""
    return _NAMES.sub("...", message.split(": ")[0].removeprefix("Cannot commit, "))


@dataclass(frozen=True, slots=True)
class Rates:
    """Means over `runs_count` runs of a strategy; None where a figure is not known.

    A commit was due every `interval_s` real seconds. `tried` counts compactions that committed or lost, and
    `tried_mean_s` is how long one of them took.
    """

    strategy: str
    kind: str
    interval_s: float
    runs_count: int
    tried: float
    lost: float
    redone: float | None
    tried_mean_s: float | None
    since_due_p50_s: float | None
    since_due_p95_s: float | None


def rates(strategy: str, kind: str, runs: Sequence[RunResult]) -> Rates:
    by_run = [run_figures(run) for run in runs]
    means = {name: mean(all_known(own[name] for own in by_run) or ()) for name in _FIGURES}
    lost = means["lost_compactions"] or 0.0
    compactions = [one for run in runs for one in run.of(CompactionRecord)]
    walls_s = [one.cost.wall_s for one in compactions if one.status in _OUTCOMES]
    manifest = runs[0].manifest
    return Rates(
        strategy, kind, manifest.commit_interval_ms / 1000 / manifest.speed, len(runs),
        (means["compactions"] or 0.0) + lost, lost, means["redone_commits"],
        mean(walls_s),
        means["commit_since_due_p50_s"], means["commit_since_due_p95_s"],
    )  # fmt: skip


def compared(runs: Sequence[RunResult], place: Path) -> Iterator[Rates]:
    """For each strategy with finished runs, its real and its simulated rates."""
    for one in resimulated(runs, place, quiet=True):
        yield rates(one.strategy, "real", one.real)
        if one.made is not None:
            yield rates(one.strategy, "simulated", [one.made])


@dataclass(frozen=True, slots=True)
class Tail:
    """The 99th percentile of `count` commits or queries, in seconds.

    A writer or reader that waits for its last answer before it asks again measures only `since_begun_s`.
    """

    count: int
    since_due_s: float
    since_begun_s: float


def commit_tail(runs: Iterable[RunResult]) -> Tail:
    found = [figures(run, None) for run in runs]
    took_s = [of.commits.column("ended_s") - of.commits.column("started_s") for of in found]
    return _tail([since_due_s(of) for of in found], took_s)


def query_tail(runs: Iterable[RunResult]) -> Tail:
    due = [primary_queries_of(run).having(when="due") for run in runs]
    return _tail([latencies_s(of) for of in due], [of.column("wall_s") for of in due])


def _tail(since_due_s: Sequence[np.ndarray], since_begun_s: Sequence[np.ndarray]) -> Tail:
    due_s, begun_s = np.concatenate(since_due_s), np.concatenate(since_begun_s)
    return Tail(len(due_s), float(np.percentile(due_s, 99)), float(np.percentile(begun_s, 99)))


def outcome_lines(found: Sequence[Outcome]) -> Iterator[str]:
    yield (
        f"{'strategy':<16} {'from s':>8} {'to s':>8} {'landed':>6} {'edge s':>7} {'files':>9}  "
        f"{'predicted':<10} observed"
    )
    for one in found:
        yield (
            f"{one.strategy:<16} {one.started_s:>8.2f} {one.ended_s:>8.2f} {one.landed_count:>6} "
            f"{_text(one.edge_s):>7} {one.files:>9}  {one.predicted or 'unknown':<10} {one.observed}"
        )
    counts = judged(found)
    yield f"{counts.right} of {counts.told} as predicted; of {counts.untold} more the records do not tell"


def rate_lines(found: Iterable[Rates]) -> Iterator[str]:
    yield (
        f"{'strategy':<16} {'':<9} {'every s':>7} {'runs':>4} {'tried':>6} {'lost':>6} {'took s':>7} "
        f"{'redone':>7} {'due p50 s':>9} {'due p95 s':>9}"
    )
    for one in found:
        yield (
            f"{one.strategy:<16} {one.kind:<9} {one.interval_s:>7.1f} {one.runs_count:>4} {one.tried:>6.1f} "
            f"{one.lost:>6.1f} {_text(one.tried_mean_s):>7} {_text(one.redone):>7} "
            f"{_text(one.since_due_p50_s):>9} {_text(one.since_due_p95_s):>9}"
        )


def error_line(found: Sequence[Rates]) -> str:
    """How far the simulations are off, on average over the strategies that both have."""
    by_kind = by_key(found, lambda one: one.kind)
    simulated = {one.strategy: one for one in by_kind.get("simulated", ())}
    pairs = [(one, simulated[one.strategy]) for one in by_kind.get("real", ()) if one.strategy in simulated]
    shares = [
        100 * abs(own.lost / own.tried - one.lost / one.tried)
        for one, own in pairs
        if one.tried and own.tried
    ]
    late = [
        100 * abs(own.since_due_p95_s / one.since_due_p95_s - 1)
        for one, own in pairs
        if one.since_due_p95_s and own.since_due_p95_s is not None
    ]
    return (
        f"simulated, off by a mean of: {_text(mean(shares))} points in the share of compactions that lose "
        f"(n = {len(shares)} strategies), {_text(mean(late))} % in the 95th percentile since due "
        f"(n = {len(late)})"
    )


def tail_lines(runs: Sequence[RunResult]) -> Iterator[str]:
    yield f"{'strategy':<16} {'':<8} {'count':>6} {'due p99 s':>9} {'begun p99 s':>11}"
    for strategy, own in by_key(runs, lambda run: run.manifest.strategy).items():
        for what, tail in (("commits", commit_tail(own)), ("queries", query_tail(own))):
            yield (
                f"{strategy:<16} {what:<8} {tail.count:>6} {tail.since_due_s:>9.2f} "
                f"{tail.since_begun_s:>11.2f}"
            )


def reason_lines(runs: Iterable[RunResult]) -> Iterator[str]:
    yield f"{'strategy':<16} {'lost':>5}"
    for strategy, own in by_key(runs, lambda run: run.manifest.strategy).items():
        for (what, why), count in reasons(own).most_common():
            yield f"{strategy:<16} {count:>5} {what}: {why}"


def _text(value: float | None) -> str:
    return MISSING if value is None else f"{value:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", nargs="+", type=Path)
    folders = parser.parse_args().results
    try:
        runs = [run for run in load_runs(*folders) if run.manifest.is_live]
        for name, own in by_key(runs, lambda run: run.manifest.format).items():
            print(f"{name}:", *outcome_lines(outcomes_of(own)), sep="\n")
            both = [*compared(own, folders[0])]
            print("", *rate_lines(both), error_line(both), sep="\n")
            print("", *tail_lines([run for run in own if run.finished]), sep="\n")
            print("", *reason_lines(own), "", sep="\n")
    except CompactbenchError as error:
        parser.exit(error.exit_code, f"{error}\n")


if __name__ == "__main__":
    main()
