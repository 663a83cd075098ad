"""What a reader must know before trusting any figure of a run group."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

import numpy as np

from bench.results.figures import PARTITIONS_LEFT, primary_queries_of
from bench.results.folders import RunResult, missing_positions
from bench.results.latency import unmet_share
from bench.results.metrics import LATENCY
from bench.results.pooling import differences
from bench.results.query_rate import WEIGHTED_WORDS
from bench.results.records import (
    FAILED_STATUSES,
    FEWER_CORES,
    NOT_DONE_STATUSES,
    CommitRecord,
    CompactionRecord,
    ContentRecord,
    DecisionRecord,
    MaintenanceRecord,
    QueryRecord,
    WarmUpRecord,
)
from bench.results.remarks import uneven_speed
from bench.results.rows import content_of, rows_off
from bench.results.table_content import stream_compactions_of
from bench.results.values import BEYOND_MAX
from bench.text import counted, human_number, human_percent, human_ratio
from reports.data.formats import format_name
from reports.data.group import RunGroup
from reports.phrases import Sentence, Verbatim, joined, listed, say, sentence
from reports.verdicts.confidence import TWO_SIDED
from reports.verdicts.unmodelled import Beyond, beyond, coefficients_of, widening

NOISY_ABOVE = 0.15  # standard deviation over the repetitions / their mean
UNMET_ABOVE = 0.02  # of the ticks
LOADED_ABOVE = 0.5  # load average over a minute / cores
_ERROR_CHARACTERS = 300
_RUN_DELAY = "run_delay_per_cpu"
_OF_COMMITS = "the seconds of commits"
_FIGURES = {
    ("compaction_cpu_s",): "the seconds of compactions",
    ("query_mean_s",): "query latencies",
    ("commit_cpu_s",): _OF_COMMITS,
}
_MODELLED = {
    "compaction_cpu_s": "compaction CPU", "commit_cpu_s": "commit CPU", "query_mean_s": "the mean query",
}  # fmt: skip
# Record, its statuses, singular, plural, outcome. Compactions that were lost have columns of their own.
_STEPS: tuple[tuple[type[Any], tuple[str, ...], str, str, str], ...] = (
    (CommitRecord, FAILED_STATUSES, "commit", "commits", "failed"),
    (QueryRecord, FAILED_STATUSES, "query", "queries", "failed (shown as gaps)"),
    (CompactionRecord, FAILED_STATUSES, "compaction", "compactions", "failed or were vetoed"),
    (
        MaintenanceRecord, NOT_DONE_STATUSES, "maintenance step", "maintenance steps",
        "failed, or could not commit beside others",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Caution:
    """`is_grave`: figures are missing or must not be used; otherwise: read them with care."""

    is_grave: bool
    text: Sentence


def _caution(text: str, is_grave: bool = False, **values: str | Sentence) -> Caution:
    return Caution(is_grave, sentence(text, **values))


def cautions(group: RunGroup) -> tuple[Caution, ...]:
    """The grave ones first, each kind once."""
    all_of_them = (
        *_unusable_runs(group), *_absent(group), *_mixed(group), *_steps(group), *_unasked(group),
        *_simulated(group), *_oversubscribed(group), *_shared(group), *_weighted(group),
        *_lists(group), *_cold(group), *_backlogs(group), *_loaded(group), *_uneven_speed(group),
        *_deferred(group), *_noisy(group), *_unmet(group),
        *_requests(group), *_imported(group), *_without_files(group),
    )  # fmt: skip
    return tuple(sorted(all_of_them, key=lambda caution: not caution.is_grave))


def _imported(group: RunGroup) -> Iterator[Caution]:
    notes = group.manifest.dataset.get("notes")
    if group.manifest.is_imported and isinstance(notes, list):
        text = "; ".join(str(note) for note in notes)
        yield _caution(
            "The stream is the history of a table, as its metadata record it. What readers of that table "
            "ask, and what its compactions cost, is not in it.{notes}",
            notes=say(" The import noted: ", Verbatim(text), ".") if text else "",
        )  # fmt: skip


def _weighted(group: RunGroup) -> Iterator[Caution]:
    if group.manifest.query_weights is not None:
        yield Caution(False, say(f"In these runs {WEIGHTED_WORDS}."))


def _without_files(group: RunGroup) -> Iterator[Caution]:
    opened = [primary_queries_of(run).column("opened_bytes") for run in group.usable_runs]
    if any(map(len, opened)) and not any(of_run.any() for of_run in opened):
        yield _caution(
            "The primary query opened no file in any run, as if its conditions admit no partition of the "
            "table. Its latency does not tell strategies apart.",
            True,
        )


def _name(run: RunResult) -> Sentence:
    return say(Verbatim(run.manifest.strategy), f" (repetition {run.manifest.repetition})")


def _unusable_runs(group: RunGroup) -> Iterator[Caution]:
    usable = {run.repetition_key for run in group.usable_runs}
    for run in group.runs:
        name = _name(run)
        is_left = run.replaced is not None or not run.finished
        if run.repetition_key in usable and content_of(run) != "differs" and is_left:
            continue  # repeated successfully since
        if run.replaced is not None and content_of(run) != "differs":
            text = "{run} is marked as replaced ({reason}) and was not made again. Its figures are not used."
            yield _caution(text, True, run=name, reason=Verbatim(run.replaced[:_ERROR_CHARACTERS]))
        elif run.end is None:
            yield _caution("{run} was interrupted. Its figures are not used.", True, run=name)
        elif content_of(run) == "differs":
            yield _lost_rows(run)
        elif not run.finished:
            error = Verbatim((run.end.error or "no error text")[:_ERROR_CHARACTERS])
            yield _caution("{run} failed: {error}. Its figures are not used.", True, run=name, error=error)
        elif run.end.timings_invalid:
            text = (
                "{run} was checked after every compaction, which distorts timings: only exact figures count."
            )
            yield _caution(text, run=name)


def _lost_rows(run: RunResult) -> Caution:
    check = next((check for check in run.of(ContentRecord) if check.status == "differs"), None)
    if check is None:
        text = "The table of {run} ended with {off} than were committed. Its figures are not used."
        off = rows_off(run)
        rows = counted(abs(off), "row").replace(" ", " fewer " if off < 0 else " more ")
        return _caution(text, True, run=_name(run), off=rows)
    return _caution(
        "{run} failed its content check ({found} rows found, {expected} expected). Its figures are not used.",
        True, run=_name(run), found=f"{check.found_rows:,}", expected=f"{check.expected_rows:,}",
    )  # fmt: skip


def _absent(group: RunGroup) -> Iterator[Caution]:
    """Runs that were made and are gone, inferred from the gaps in the positions of the others."""
    for _, positions in missing_positions(group.runs):
        yield _caution(
            "{runs} of this suite {are} not in the results ({at} {positions}). If runs were left out for "
            "what they showed, the figures are biased.",
            runs=counted(len(positions), "run"), are="is" if len(positions) == 1 else "are",
            at="position" if len(positions) == 1 else "positions",
            positions=joined([say(str(position)) for position in positions]),
        )  # fmt: skip


def _mixed(group: RunGroup) -> Iterator[Caution]:
    """Runs are pooled by scenario, workload, mode and label; everything else should be equal, too."""
    for label in group.strategies:
        summaries = {run.manifest.strategy_summary for run in group.runs if run.manifest.strategy == label}
        if len(summaries) > 1:
            yield _caution("Not all runs of {strategy} used the same rules.", True, strategy=Verbatim(label))
    parts = dict.fromkeys(difference.checked.words for difference in differences(group.runs))
    if parts:
        words = joined([say(part) for part in parts])
        yield _caution("The runs pooled here differ in {parts}.", True, parts=words)


def _steps(group: RunGroup) -> Iterator[Caution]:
    """Steps that failed within runs that continued."""
    for kind, statuses, singular, plural, outcome in _STEPS:
        failed = Counter(
            run.manifest.strategy
            for run in group.usable_runs
            for status in run.of(kind).column("status").tolist()
            if status in statuses
        )
        if kind is QueryRecord:
            failed -= _unasked_of(group)
        if failed:
            yield _caution(
                "{steps} {outcome}, with {strategies}.",
                steps=counted(failed.total(), singular, plural), outcome=outcome,
                strategies=listed([label for label in group.strategies if failed[label]]),
            )  # fmt: skip


def _unasked(group: RunGroup) -> Iterator[Caution]:
    """The latest queries of a reader that fell behind: without them its latencies are too low."""
    unasked = _unasked_of(group)
    if unasked:
        yield _caution(
            "{queries} {were} due and not asked, with {strategies}: the reader had not answered those before "
            "when the stream ended. Latencies leave them out, so they are too low.",
            True, queries=counted(unasked.total(), "query", "queries"),
            were="was" if unasked.total() == 1 else "were",
            strategies=listed([label for label in group.strategies if unasked[label]]),
        )  # fmt: skip


def _unasked_of(group: RunGroup) -> Counter[str]:
    """How many queries were due and never began, by strategy."""
    counts = Counter[str]()
    for run in group.usable_runs:
        due = run.of(QueryRecord).having(when="due", status="failed")
        counts[run.manifest.strategy] += int(np.isnan(due.column("started_s")).sum())
    return +counts


def _simulated(group: RunGroup) -> Iterator[Caution]:
    if not group.is_simulated:
        return
    text = "These runs are simulated: all times come from a cost model, nothing was measured."
    coefficients = [(part, known) for part in group.parts if (known := coefficients_of(part.manifest))]
    if any(not known.get("errors") for _, known in coefficients):
        text += " How far the model is off is not known, so its times are rough."
    named = dict.fromkeys(
        own if len(group.parts) == 1 else f"{format_name(part)}: {own}"
        for part, known in coefficients
        if (own := " ".join(filter(None, (_errors(known), str(known.get("caution", ""))))))
    )
    yield Caution(True, say(" ".join((text, *named))))
    yield from _more_cores(group)
    reasons: dict[tuple[str, str], dict[str, Beyond]] = {}  # by figures and what there is too much of
    for metrics, figures in _FIGURES.items():
        for label in group.strategies:
            if why := beyond(group, label, *metrics):
                reasons.setdefault((figures, why.what), {})[label] = why
    for (figures, _), why_of in reasons.items():
        yield _caution(
            "No verdict on {figures} of {names}: {why}.",
            figures is not _OF_COMMITS, figures=figures, names=listed([*why_of]), why=_worst(why_of.values()),
        )  # fmt: skip


def _worst(reasons: Collection[Beyond]) -> str:
    """The one with the largest factor, of reasons that differ in that alone."""
    worst = max(reasons, key=lambda why: why.factor or 0.0)
    return f"up to {worst}" if len(set(map(str, reasons))) > 1 else str(worst)


def _more_cores(group: RunGroup) -> Iterator[Caution]:
    manifest = group.manifest
    measured = coefficients_of(manifest).get("cores")
    if measured is not None and manifest.cores is not None and manifest.cores > measured * BEYOND_MAX:
        yield _caution(
            "Latencies assume {cores} cores that share all tasks evenly. The model was fitted on {measured} "
            "cores: what else limits a larger cluster, such as storage and network, is not in it. CPU "
            "seconds do not depend on the number of cores.",
            True, cores=f"{manifest.cores:,}", measured=str(measured),
        )  # fmt: skip


def _errors(coefficients: Mapping[str, Any]) -> str:
    """How far the model was off where it was not fitted; empty if that is not known."""
    errors = coefficients.get("errors", {})
    known = [
        f"{name} by {human_percent(error['mean_absolute'])} (expected within a factor of "
        f"{human_ratio(math.exp(TWO_SIDED * widening(error['streams']) * error['log_sd']))}, from "
        f"{counted(error['strategies'], 'strategy', 'strategies')} of {counted(error['streams'], 'stream')})"
        for figure, name in _MODELLED.items()
        if (error := errors.get(figure, {})).get("log_sd") is not None
    ]
    if not known:
        return ""
    return f"On streams that its coefficients were not fitted to, the model was off: {', '.join(known)}."


def _oversubscribed(group: RunGroup) -> Iterator[Caution]:
    """Roles that had more cores than the machine: counts and CPU stay, latencies are marked."""
    if not any(run.manifest.notes.get("cores") == FEWER_CORES for run in group.usable_runs):
        return
    known = [value for row in group.rows for value in row.run_values[_RUN_DELAY] if value is not None]
    ends = dict.fromkeys(human_number(end) for end in (min(known), max(known))) if known else {}
    yield _caution(
        "The roles had more cores than the machine, so their threads waited for cores{waits}. Compare "
        "latencies, conflicts and how long compactions took with those of runs on as few cores only.",
        True, waits=f", for {' to '.join(ends)} s in each CPU second" if ends else "",
    )  # fmt: skip


def _lists(group: RunGroup) -> Iterator[Caution]:
    """Cautions that only list strategies or planners."""
    rows, is_real = group.rows, not group.is_simulated
    unchecked = [row.strategy for row in rows if is_real and row.content == "unchecked" and row.runs]
    single = [label for label, figures in group.figures.items() if is_real and len(figures) < 2]
    ineffective = [row.strategy for row in rows if row.values["ineffective_compactions"]]
    # A virtual clock stands still while compaction runs; a real one would not.
    is_virtual = group.manifest.notes.get("clock") == "virtual"
    overlapping = [row.strategy for row in rows if is_virtual and (row.values["overlapped_commits"] or 0) > 1]
    for names, text in (
        (unchecked, "Table content was not checked in every run of {names}."),
        (single, "{names}: fewer than two usable runs, so noise cannot be estimated."),
        (ineffective,
         "{names}: some compactions were ineffective, with as many files and rows after as before."),
        (overlapping, "{names}: the longest compaction takes longer than the commit interval. A real stream "
                      "would not wait."),
    ):  # fmt: skip
        if names:
            yield _caution(text, names=listed(names))


def _cold(group: RunGroup) -> Iterator[Caution]:
    planners = cold_planners(group.usable_runs)
    if planners:
        yield _caution(
            "Not every planner acted in the warm-up of every run, so first compactions include what Java "
            "compiles for them: {planners}.",
            planners=joined([say(Verbatim(name), f" acted in {acted}") for name, acted in planners.items()]),
        )


def cold_planners(runs: Iterable[RunResult]) -> dict[str, str]:
    """The planners, with their options, that acted in no round of some run's warm-up.

    Of each, in how many rounds of all runs it acted: "0 of 72 rounds".
    """
    rounds: dict[str, list[list[bool]]] = {}  # by planner, then by run
    for run in runs:
        of_run: dict[str, list[bool]] = {}
        for record in run.of(WarmUpRecord):
            of_run.setdefault(record.options, []).append(record.acted)
        for planner, acted in of_run.items():
            rounds.setdefault(planner, []).append(acted)
    return {
        planner: f"{sum(map(sum, by_run))} of {sum(map(len, by_run))} rounds"
        for planner, by_run in rounds.items()
        if planner and not all(map(any, by_run))
    }


def _shared(group: RunGroup) -> Iterator[Caution]:
    """Strategies of older results that compact concurrently with other steps, in the same process."""
    affected = dict.fromkeys(
        run.manifest.strategy
        for run in group.usable_runs
        if run.of(CompactionRecord).column("is_shared").any()
    )
    if affected:
        yield _caution(
            "{strategies}: compactions ran concurrently with commits and queries, so the CPU of each is "
            "not known, nor is what the strategy costs. Compare wall times. When such a compaction ended "
            "depends on the machine, and so do the files that queries read. It is shown where the stream "
            "waited for it, up to its delay later. This version makes no such runs any more.",
            strategies=listed([*affected]),
        )


def _unmet(group: RunGroup) -> Iterator[Caution]:
    """Strategies whose queries miss a kind of table that some ticks leave."""
    shares: dict[str, float] = {}
    for run in group.timed_runs:
        share = unmet_share(run, primary_queries_of(run))
        if share > UNMET_ABOVE:
            shares[run.manifest.strategy] = max(share, shares.get(run.manifest.strategy, 0))
    if shares:
        yield _caution(
            "Some ticks of a run left the table in a state that no query met, such as without delete files: "
            "{strategies}. Mean query latencies count these ticks as if they were read like the others.",
            strategies=joined([
                say(Verbatim(label), f" ({human_percent(shares[label])} of the ticks)")
                for label in group.strategies if label in shares
            ]),
        )  # fmt: skip


def _requests(group: RunGroup) -> Iterator[Caution]:
    """Requests have a price, and were counted for some strategies only."""
    paid = [row for row in group.rows if row.values["request_money_per_day"] is not None]
    exact = [row.strategy for row in paid if row.values["s3_put_requests"] is not None]
    if 0 < len(exact) < len(paid):
        yield _caution(
            "{strategies}: requests to S3 were counted. The other strategies are charged one request for "
            "each file that is written or opened, which is too low. Do not compare what their requests "
            "cost.",
            True, strategies=listed(exact),
        )  # fmt: skip


def _backlogs(group: RunGroup) -> Iterator[Caution]:
    """Strategies that left due partitions for a later plan, as reported by their planners."""
    for row in group.rows:
        plans: list[tuple[str, Mapping[str, float] | None]] = []  # planner and figures
        for run in group.usable_runs:
            decisions = run.of(DecisionRecord)
            planned = decisions.where(decisions.column("status") == "planned")
            if run.manifest.strategy == row.strategy:
                plans += zip(*(planned.column(name).tolist() for name in ("planner", "figures")), strict=True)
        left = [most for _, figures in plans if (most := (figures or {}).get(PARTITIONS_LEFT, 0)) > 0]
        if left:
            yield _caution(
                "{strategy}: {some} of {plans} left due partitions for a later one, up to {most} of them. "
                "What limits a plan: {reference}.",
                strategy=Verbatim(row.strategy), some=f"{len(left):,}",
                plans=counted(len(plans), "plan"), most=f"{max(left):,.0f}",
                reference=Verbatim(f"compactbench list strategies {plans[0][0]}"),
            )  # fmt: skip


def _loaded(group: RunGroup) -> Iterator[Caution]:
    """Other work on the machine: before the first run of a suite, and during each."""
    if group.is_simulated:
        return
    for run in group.usable_runs:
        load, cores = (run.manifest.machine.get(name) for name in ("load_before_suite", "cores"))
        if isinstance(load, int | float) and isinstance(cores, int) and load > LOADED_ABOVE * cores:
            yield _caution(
                "The machine was busy (load {load} on {cores} cores) when a suite of runs began: times are "
                "longer and noisier.",
                load=human_number(load), cores=str(cores),
            )  # fmt: skip
            break
    disturbed = group.disturbed_runs
    if disturbed:
        yield _caution(
            "Other processes used up to {most} cores during {runs}: times are longer and noisier.",
            most=human_number(max(cores for _, cores in disturbed)),
            runs=joined([_name(run) for run, _ in disturbed]),
        )


def _uneven_speed(group: RunGroup) -> Iterator[Caution]:
    """How much slower the machine was during some runs than during others, whoever used it."""
    if remark := uneven_speed(group.rows):
        yield _caution(
            "{remark}. Ratios with an interval are adjusted to equal speed; other times are not.",
            remark=remark[0].upper() + remark[1:],
        )


def _deferred(group: RunGroup) -> Iterator[Caution]:
    """Strategies that put off the removal of deleted rows beyond the end of the stream."""
    grown = [
        say(Verbatim(label), f" ({left[0]:,} after the first, {left[-1]:,} after the last)")
        for label, run in group.first_runs.items()
        if (left := growing_deletes(run))
    ]
    if grown:
        yield _caution(
            "Each compaction left more {rows} than the one before, and the stream ends before they are "
            "removed, so what that costs is in no figure: {strategies}.",
            rows=group.delete_words[1], strategies=joined(grown),
        )  # fmt: skip


def growing_deletes(run: RunResult) -> tuple[int, ...]:
    """The deleted rows that each of three or more compactions left.

    Empty unless each left more, and the last one more than it removed.
    """
    done = stream_compactions_of(run).having(status="ok")
    left, before = done.column("after_delete_rows"), done.column("before_delete_rows")
    if len(left) < 3 or not (np.diff(left) > 0).all():
        return ()
    return tuple(left.astype(int).tolist()) if 2 * left[-1] > np.nan_to_num(before[-1]) else ()


def _noisy(group: RunGroup) -> Iterator[Caution]:
    for metric, words in ((group.cost_metric, group.cost.words), (LATENCY, "mean query latency")):
        noisy = []
        for row in group.rows:
            known = [value for value in row.run_values[metric] if value]
            if len(known) > 1 and stdev(known) > NOISY_ABOVE * fmean(known):
                noisy.append(row.strategy)
        if noisy:
            yield _caution(
                "Noise: the {figure} varies by more than {limit} (1 s.d.) across the runs of {strategies}.",
                figure=words, limit=human_percent(NOISY_ABOVE), strategies=listed(noisy),
            )  # fmt: skip
