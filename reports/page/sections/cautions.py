"""What a reader must know before trusting any figure of a run group."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from bench.results.figures import PARTITIONS_LEFT
from bench.results.folders import RunResult
from bench.results.pooling import differences
from bench.results.records import (
    FAILED_STATUSES,
    QUICK_WORDS,
    CommitRecord,
    CompactionRecord,
    ContentRecord,
    DecisionRecord,
    QueryRecord,
    WarmUpRecord,
)
from bench.results.rows import BASELINE, content_of
from bench.text import human_number, human_percent
from reports.data.group import RunGroup
from reports.page.sections.parts import part_name
from reports.phrases import Sentence, Verbatim, counted, joined, listed, say

NOISY_ABOVE = 0.15  # standard deviation over the repetitions / their mean
BUSY_ABOVE = 0.5  # compaction seconds / scenario seconds
LOADED_ABOVE = 0.5  # load average over a minute / cores
_ERROR_CHARACTERS = 300
_STEPS: tuple[tuple[type[Any], str, str, str], ...] = (  # record, singular, plural, what became of it
    (CommitRecord, "commit", "commits", "failed"),
    (QueryRecord, "query", "queries", "failed (shown as gaps)"),
    (CompactionRecord, "compaction", "compactions", "failed or were vetoed"),
)


@dataclass(frozen=True, slots=True)
class Caution:
    """`is_grave`: figures are missing or must not be used; otherwise: read them with care."""

    is_grave: bool
    text: Sentence


def cautions(group: RunGroup) -> tuple[Caution, ...]:
    """The grave ones first, each kind once."""
    all_of_them = (
        *_unusable_runs(group), *_mixed(group), *_content(group), *_steps(group), *_few_runs(group),
        *_simulated(group), *_quick(group), *_shared(group), *_ineffective(group), *_backlogs(group),
        *_loaded(group), *_busy(group), *_cold(group), *_noisy(group), *_requests(group),
    )  # fmt: skip
    return tuple(sorted(all_of_them, key=lambda caution: not caution.is_grave))


def _name(run: RunResult) -> Sentence:
    return say(Verbatim(run.manifest.strategy), f" (repetition {run.manifest.repetition})")


def _repetition(run: RunResult) -> tuple[str, str, int]:
    return (str(run.folder.parent), run.manifest.strategy, run.manifest.repetition)


def _unusable_runs(group: RunGroup) -> Iterator[Caution]:
    usable = {_repetition(run) for run in group.usable_runs}
    for run in group.runs:
        if _repetition(run) in usable and content_of(run) != "differs" and not run.finished:
            continue  # repeated successfully since
        if run.end is None:
            yield Caution(True, _name(run) + say(" was interrupted. Its figures are not used."))
        elif content_of(run) == "differs":
            check = next(check for check in run.of(ContentRecord) if check.status == "differs")
            counts = f"{check.found_rows:,} rows found, {check.expected_rows:,} expected"
            text = f" failed its content check ({counts}). Its figures are not used."
            yield Caution(True, _name(run) + say(text))
        elif not run.finished:
            error = Verbatim((run.end.error or "no error text")[:_ERROR_CHARACTERS])
            yield Caution(True, _name(run) + say(" failed: ", error, ". Its figures are not used."))
        elif run.end.timings_invalid:
            text = " was checked after every compaction, which distorts timings: only exact figures are used."
            yield Caution(False, _name(run) + say(text))


def _mixed(group: RunGroup) -> Iterator[Caution]:
    """Runs are pooled by scenario, workload, mode and label; everything else should be equal, too."""
    for label in group.strategies:
        summaries = {run.manifest.strategy_summary for run in group.runs if run.manifest.strategy == label}
        if len(summaries) > 1:
            yield Caution(True, say("Not all runs of ", Verbatim(label), " used the same rules."))
    parts = list(dict.fromkeys(difference.checked.words for difference in differences(group.runs)))
    if parts:
        text = say("The runs pooled here differ in ") + joined([say(part) for part in parts]) + say(".")
        yield Caution(True, text)


def _content(group: RunGroup) -> Iterator[Caution]:
    unchecked = [row.strategy for row in group.rows if row.content == "unchecked" and row.runs]
    if unchecked and not group.is_simulated:
        yield Caution(
            False, say("Table content was not checked in every run of ") + listed(unchecked) + say(".")
        )


def _steps(group: RunGroup) -> Iterator[Caution]:
    """Steps that failed within runs that continued."""
    for kind, singular, plural, fate in _STEPS:
        failed = {
            label: sum(record.status in FAILED_STATUSES for run in group.usable_runs
                       if run.manifest.strategy == label for record in run.of(kind))
            for label in group.strategies
        }  # fmt: skip
        affected = [label for label, count in failed.items() if count]
        if affected:
            number = counted(sum(failed.values()), singular, plural)
            yield Caution(False, say(f"{number} {fate}, with ") + listed(affected) + say("."))


def _few_runs(group: RunGroup) -> Iterator[Caution]:
    single = [label for label, figures in group.figures.items() if len(figures) < 2]
    if single and not group.is_simulated:
        yield Caution(
            False, listed(single) + say(": fewer than two usable runs, so noise cannot be estimated.")
        )


def _simulated(group: RunGroup) -> Iterator[Caution]:
    if not group.is_simulated:
        return
    text = "These runs are simulated: all times come from a cost model, nothing was measured."
    coefficients = {
        part_name(part, group): known
        for part in group.parts
        if isinstance(known := part.manifest.options.get("coefficients"), dict)
    }
    if any(not known.get("calibrated") for known in coefficients.values()):
        text += " The coefficients of the model were not fitted to measured runs, so its times are rough."
    own = {name: str(known["caution"]) for name, known in coefficients.items() if known.get("caution")}
    named = own.values() if len(group.parts) == 1 else (f"{name}: {said}" for name, said in own.items())
    yield Caution(True, say(" ".join((text, *named))))


def _quick(group: RunGroup) -> Iterator[Caution]:
    if group.is_quick:
        yield Caution(True, say(f"These runs were {QUICK_WORDS}."))


def _cold(group: RunGroup) -> Iterator[Caution]:
    """All runs warm up alike, so a planner that acted in one warm-up usually acted in all."""
    planners = list(dict.fromkeys(name for run in group.usable_runs for name in cold_planners(run)))
    if planners:
        text = " did not act in the warm-up, so first compactions include what Java compiles for them."
        yield Caution(False, listed(planners) + say(text))


def cold_planners(run: RunResult) -> tuple[str, ...]:
    """The planners, with their options, that acted in no round of the warm-up."""
    acted: dict[str, bool] = {}
    for record in run.of(WarmUpRecord):
        if record.planner:
            acted[record.options] = acted.get(record.options, False) or record.acted
    return tuple(planner for planner, has_acted in acted.items() if not has_acted)


def _shared(group: RunGroup) -> Iterator[Caution]:
    """Strategies that compact concurrently with other steps, in the same process."""
    affected = {
        run.manifest.strategy: None
        for run in group.usable_runs
        if any(record.cost.is_shared for record in run.of(CompactionRecord))
    }
    if affected:
        text = (
            ": compactions ran beside commits and queries, so the CPU of each is not known, nor is what the "
            "strategy costs. Compare wall times. When such a compaction ends depends on the machine, and so "
            "do the files that queries meet."
        )
        yield Caution(False, listed(list(affected)) + say(text))


def _requests(group: RunGroup) -> Iterator[Caution]:
    """Requests have a price, and were counted for some strategies only."""
    paid = [row for row in group.rows if row.values["request_money_per_day"] is not None]
    counted_ones = [row.strategy for row in paid if row.values["s3_put_requests"] is not None]
    others = [row.strategy for row in paid if row.strategy not in counted_ones]
    if counted_ones and others:
        text = (
            ": requests to S3 were counted. Of the other strategies each file that is written or opened "
            "stands for one, which is less. Do not compare what their requests cost."
        )
        yield Caution(True, listed(counted_ones) + say(text))


def _ineffective(group: RunGroup) -> Iterator[Caution]:
    affected = [row.strategy for row in group.rows if row.values["ineffective_compactions"]]
    if affected:
        text = ": some compactions were ineffective, with as many files and rows after as before."
        yield Caution(False, listed(affected) + say(text))


def _backlogs(group: RunGroup) -> Iterator[Caution]:
    """Strategies that left due partitions for a later plan, as reported by their planners."""
    for row in group.rows:
        runs = (run for run in group.usable_runs if run.manifest.strategy == row.strategy)
        plans = [d for run in runs for d in run.of(DecisionRecord) if d.status == "planned"]
        left = [most for d in plans if (most := (d.figures or {}).get(PARTITIONS_LEFT, 0)) > 0]
        if left:
            of_plans = f"{len(left):,} of {counted(len(plans), 'plan', 'plans')}"
            text = f": {of_plans} left due partitions for a later one, up to {max(left):,.0f} of them. "
            reference = f"compactbench list strategies {plans[0].planner}"
            why = say("What limits a plan: ", Verbatim(reference), ".")
            yield Caution(False, say(Verbatim(row.strategy), text) + why)


def _loaded(group: RunGroup) -> Iterator[Caution]:
    """Other work on the machine: before the first run of a suite, and during each."""
    if group.is_simulated:
        return
    text = ": times are longer and noisier."
    for run in group.usable_runs:
        load, cores = (run.manifest.machine.get(name) for name in ("load_before_suite", "cores"))
        if not isinstance(load, int | float) or not isinstance(cores, int) or load <= LOADED_ABOVE * cores:
            continue
        busy = f"The machine was busy (load {human_number(load)} on {cores} cores) when a suite of runs began"
        yield Caution(False, say(busy, text))
        break
    disturbed = group.disturbed_runs
    if disturbed:
        most = human_number(max(cores for _, cores in disturbed))
        start = say(f"Other processes used up to {most} cores during ")
        yield Caution(False, start + joined([_name(run) for run, _ in disturbed]) + say(text))


def _busy(group: RunGroup) -> Iterator[Caution]:
    """A virtual clock stands still while compaction runs; a real one would not."""
    overlapping = [row.strategy for row in group.rows if (row.values["overlapped_commits"] or 0) > 1]
    if overlapping:
        text = ": the longest compaction takes longer than the commit interval. A real stream would not wait."
        yield Caution(False, listed(overlapping) + say(text))
    for label in group.strategies:
        share = group.row(label).values["duty_cycle"] or 0
        if share > BUSY_ABOVE:
            text = f" compacts for {human_percent(share)} of the scenario time and could hardly keep up."
            yield Caution(False, say(Verbatim(label), text))


def _noisy(group: RunGroup) -> Iterator[Caution]:
    for metric, words in ((group.cost_metric, "compaction cost"), ("query_mean_s", "mean query latency")):
        noisy = []
        for row in group.rows:
            known = [value for value in row.run_values[metric] if value]
            if row.strategy == BASELINE and metric != "query_mean_s":
                continue
            if len(known) > 1 and stdev(known) > NOISY_ABOVE * fmean(known):
                noisy.append(row.strategy)
        if noisy:
            limit = human_percent(NOISY_ABOVE)
            start = f"Noise: the {words} varies by more than {limit} (1 s.d.) across the runs of "
            yield Caution(False, say(start) + listed(noisy) + say("."))
