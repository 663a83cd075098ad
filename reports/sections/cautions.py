"""What a reader must know before believing any figure of a section."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from bench.results.folders import RunResult
from bench.results.records import FAILED_STATUSES, CommitRecord, CompactionRecord, ContentRecord, QueryRecord
from bench.results.rows import BASELINE, content_of, differences
from reports.load import Section
from reports.phrases import Sentence, Verbatim, listed, say
from reports.text import format_percent

NOISY_ABOVE = 0.15  # standard deviation over the repetitions / their mean
BUSY_ABOVE = 0.5  # compaction seconds / scenario seconds
_ERROR_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Caution:
    """`is_grave`: figures are missing or must not be used; otherwise: read them with care."""

    is_grave: bool
    text: Sentence


def cautions(section: Section) -> tuple[Caution, ...]:
    """The grave ones first, each kind once."""
    found = [*_broken(section), *_mixed(section), *_content(section), *_steps(section), *_few(section)]
    found += [*_simulated(section), *_no_progress(section), *_long(section), *_noisy(section)]
    return tuple(sorted(found, key=lambda caution: not caution.is_grave))


def _name(run: RunResult) -> Sentence:
    return say(Verbatim(run.manifest.strategy), f" (repetition {run.manifest.repetition})")


def _repetition(run: RunResult) -> tuple[str, str, int]:
    return (str(run.folder.parent), run.manifest.strategy, run.manifest.repetition)


def _broken(section: Section) -> Iterator[Caution]:
    made = {_repetition(run) for run in section.usable_runs}
    for run in section.runs:
        if _repetition(run) in made and content_of(run) != "differs" and not run.finished:
            continue  # made up for since
        if run.end is None:
            yield Caution(True, _name(run) + say(" was interrupted: none of its figures is used."))
        elif content_of(run) == "differs":
            first = next(t for t in run.of(ContentRecord) if t.status == "differs")
            counts = f"{first.found_rows:,} rows found, {first.expected_rows:,} expected"
            said = say(f" holds other rows than were committed ({counts}): none of its figures is used.")
            yield Caution(True, _name(run) + said)
        elif not run.finished:
            error = Verbatim((run.end.error or "no error text")[:_ERROR_CHARACTERS])
            yield Caution(True, _name(run) + say(" failed: ", error, ". None of its figures is used."))
        elif run.end.timings_invalid:
            said = say(
                " was checked after every compaction: its timings are left out, exact figures are kept."
            )
            yield Caution(False, _name(run) + said)


def _mixed(section: Section) -> Iterator[Caution]:
    """Runs are pooled by scenario, workload, format, mode and label; all else should be the same too."""
    for label in section.strategies:
        told = {run.manifest.strategy_summary for run in section.runs if run.manifest.strategy == label}
        if len(told) > 1:
            yield Caution(True, say("Runs labelled ", Verbatim(label), " did not all follow the same rules."))
    differing = list(dict.fromkeys(found.checked.words for found in differences(section.runs)))
    if differing:
        yield Caution(True, say(f"The runs put together here differ in {', '.join(differing)}."))


def _content(section: Section) -> Iterator[Caution]:
    unchecked = [row.strategy for row in section.rows if row.content == "unchecked" and row.runs]
    if unchecked and not section.is_simulated:
        yield Caution(False, say("Content was not checked in every run of ") + listed(unchecked) + say("."))


def _steps(section: Section) -> Iterator[Caution]:
    """Steps that failed within runs that went on."""
    kinds: tuple[tuple[type[Any], str], ...] = (
        (CommitRecord, "commits failed"), (QueryRecord, "probes failed and are gaps"),
        (CompactionRecord, "compactions failed or were vetoed"),
    )  # fmt: skip
    for kind, said in kinds:
        failed = {
            label: sum(r.status in FAILED_STATUSES for run in section.usable_runs
                       if run.manifest.strategy == label for r in run.of(kind))
            for label in section.strategies
        }  # fmt: skip
        hit = [label for label, count in failed.items() if count]
        if hit:
            yield Caution(False, say(f"{sum(failed.values()):,} {said}, with ") + listed(hit) + say("."))


def _few(section: Section) -> Iterator[Caution]:
    single = [label for label, found in section.figures.items() if len(found) < 2]
    if single and not section.is_simulated:
        said = say(": fewer than two usable runs, so what noise does to the figures is unknown.")
        yield Caution(False, listed(single) + said)


def _simulated(section: Section) -> Iterator[Caution]:
    if section.is_simulated:
        said = "These runs are simulated: seconds come from a cost model, nothing was measured."
        coefficients = section.manifest.options.get("coefficients")
        if isinstance(coefficients, dict) and not coefficients.get("calibrated"):
            said += " The model's coefficients were not fitted to measured runs: its seconds are rough."
            if section.manifest.is_cdc:
                said += (
                    " Conversions of deletes come out several times too cheap, sorting as if it cost nothing."
                )
        yield Caution(True, say(said))


def _no_progress(section: Section) -> Iterator[Caution]:
    hit = [row.strategy for row in section.rows if row.values["ineffective_compactions"]]
    if hit:
        yield Caution(
            False, listed(hit) + say(": compactions committed as many files and rows as they took.")
        )


def _long(section: Section) -> Iterator[Caution]:
    """A virtual clock stands still while compaction runs; a real one would not."""
    overlapping = [r.strategy for r in section.rows if (r.values["overlapped_commits"] or 0) > 1]
    if overlapping:
        said = ": the longest compaction outlasts the time between two commits; a real stream would go on."
        yield Caution(False, listed(overlapping) + say(said))
    for label in section.strategies:
        share = section.row(label).values["duty_cycle"] or 0
        if share > BUSY_ABOVE:
            said = f" compacts for {format_percent(share)} of the scenario's time and would hardly keep up."
            yield Caution(False, say(Verbatim(label), said))


def _noisy(section: Section) -> Iterator[Caution]:
    for metric, said in ((section.cost_metric, "compaction cost"), ("query_mean_s", "mean query")):
        noisy = []
        for row in section.rows:
            known = [value for value in row.run_values[metric] if value]
            if row.strategy == BASELINE and metric != "query_mean_s":
                continue
            if len(known) > 1 and stdev(known) > NOISY_ABOVE * fmean(known):
                noisy.append(row.strategy)
        if noisy:
            limit = format_percent(NOISY_ABOVE)
            yield Caution(
                False,
                say(f"Noise: the {said} varies by more than {limit} (1 s.d.) over the runs of ")
                + listed(noisy)
                + say("."),
            )
