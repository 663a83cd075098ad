"""Comparisons of results: strategies against a baseline or new results against old ones, and limits."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from bench.comparison.fail_if import Outcome, noisy_tests, outcome_alone, outcomes
from bench.comparison.metric_names import check_metric
from bench.errors import ScenarioError
from bench.names import known_text
from bench.results.folders import RunResult, load_runs
from bench.results.pooling import Difference, Strictness, check_old_and_new, check_pooled
from bench.results.records import FAILED_STATUSES, CompactionRecord
from bench.results.remarks import absences, disturbance, uneven_speed
from bench.results.rows import BASELINE, content_of
from bench.text import counted, human_percent, human_ratio, named_once
from reports.data.group import RunGroup, run_groups
from reports.verdicts import repetitions
from reports.verdicts.compare import AT_EQUAL_SPEED, MODERATED
from reports.verdicts.contrasts import (
    Contrast,
    confirmed,
    leading_metrics,
    metrics_with_figures,
    old_and_new,
    with_baselines,
)
from reports.verdicts.limit import Limit
from reports.verdicts.sittings import ASSUMES_DEFAULT, DEFAULT, SittingEffects

EVERY_METRIC = "all"

_Key = tuple[str, str, str]  # `Manifest.group_key`
Compared = Callable[[Sequence[str], Iterable[str]], list[Contrast]]  # of these strategies, by these metrics


@dataclass(frozen=True, slots=True)
class Side:
    """Results to be compared: the folders that were named, and the runs in them."""

    folders: tuple[Path, ...]
    runs: tuple[RunResult, ...]

    @classmethod
    def read(cls, *folders: Path) -> "Side":
        """Raises ResultSchemaError if there is no run, or if one cannot be read."""
        return cls(folders, load_runs(*folders))

    def __str__(self) -> str:
        return ", ".join(map(str, self.folders))


@dataclass(frozen=True, slots=True)
class Tested:
    """A limit, the comparison it was tested on, and what came of it among so many tests of noisy figures."""

    limit: Limit
    contrast: Contrast
    outcome: Outcome
    tests: int = 1


@dataclass(frozen=True, slots=True)
class Group:
    """All comparisons of one scenario, workload and mode. `headings` name the two figures.

    `failures` are what no comparison shows: runs that failed or lost rows, strategies that are missing.
    `doubts` are why nobody knows whether there are more of them.
    """

    title: str
    sides: Mapping[str, RunGroup]
    folders: Mapping[str, Sequence[Path]]
    headings: tuple[str, str]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    failures: tuple[str, ...]
    doubts: tuple[str, ...]
    contrasts: tuple[Contrast, ...] = ()
    tested: tuple[Tested, ...] = ()

    @property
    def place(self) -> str:
        return _place(*self.sides.values())

    @property
    def formats(self) -> Mapping[str, str]:
        """The format of each strategy's table."""
        return {row.strategy: row.format for run_group in self.sides.values() for row in run_group.rows}

    @property
    def records(self) -> list[dict[str, Any]]:
        """Each comparison with its place, for programs; keys are never renamed."""
        manifest, formats = next(iter(self.sides.values())).manifest, self.formats
        return [
            {
                "scenario": manifest.scenario,
                "workload": manifest.workload,
                "format": formats[contrast.strategy],
                "mode": manifest.mode,
                **contrast.to_json(),
            }
            for contrast in self.contrasts
        ]

    @property
    def is_simulated(self) -> bool:
        """Whether its seconds are modelled, not measured."""
        return any(run_group.is_simulated for run_group in self.sides.values())

    @property
    def has_query_rates(self) -> bool:
        """Whether its means of queries are weighted by a changing rate of queries."""
        return any(run_group.manifest.query_weights is not None for run_group in self.sides.values())


@dataclass(frozen=True, slots=True)
class Selection:
    """What to compare, and which limits to test."""

    metrics: tuple[str, ...]
    only: tuple[str, ...]
    limits: tuple[Limit, ...]
    strictest: Strictness  # of the differences between runs that are tolerated
    planned_ratio: float | None = None  # for which a number of repetitions is wanted
    sittings: SittingEffects = ASSUMES_DEFAULT

    def metrics_of(self, *run_groups: RunGroup) -> tuple[str, ...]:
        """The metrics selected; those not named explicitly are left out where no run has a figure."""
        known = metrics_with_figures(*run_groups)
        if self.metrics == (EVERY_METRIC,):
            return known
        return self.metrics or tuple(name for name in leading_metrics(run_groups[0]) if name in known)

    def strategies_of(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Those of `labels` that are selected."""
        return tuple(label for label in labels if not self.only or label in self.only)

    def applied(self, group: Group, strategies: Sequence[str], compared: Compared) -> Group:
        """The group with comparisons of these strategies, limits tested on them, and notes on both.

        Without limits, nothing is a failure.
        """
        contrasts = compared(strategies, self.metrics_of(*group.sides.values()))
        tested, inapplicable = _tested(self.limits, strategies, compared)
        assumed = _sittings([*contrasts, *(test.contrast for test in tested)], self.sittings)
        planned = () if self.planned_ratio is None else _planned(contrasts, self.planned_ratio)
        return replace(
            group,
            notes=(*assumed, *group.notes, *inapplicable, *planned),
            failures=group.failures if self.limits else (),
            doubts=group.doubts if self.limits else (),
            contrasts=tuple(contrasts),
            tested=tested,
        )


def _planned(contrasts: Sequence[Contrast], ratio: float) -> Iterable[str]:
    """How many repetitions prove, for each metric with noise, that equals differ by less than a ratio."""
    noisy = [contrast for contrast in contrasts if contrast.comparison.error]
    for metric in dict.fromkeys(contrast.metric.name for contrast in noisy):
        wanted = {
            c.strategy: repetitions.needed_for_equals(c.comparison, ratio, len(noisy))
            for c in noisy
            if c.metric.name == metric
        }
        label, most = max(wanted.items(), key=lambda item: item[1] or math.inf)
        enough = f"more than {repetitions.MOST}" if most is None else str(most)
        yield (
            f"{metric}: {enough} repetitions prove in four of five cases that equals differ by less than "
            f"{human_ratio(ratio)}, at the noise of {label} here"
        )


def metrics_named(names: Sequence[str]) -> tuple[str, ...]:
    """Each of the metrics once, or `EVERY_METRIC`. Raises ScenarioError for a name that is none of them."""
    for name in names:
        check_metric(name, "--metric", EVERY_METRIC)
    return (EVERY_METRIC,) if EVERY_METRIC in names else tuple(dict.fromkeys(names))


def compare_pooled(results: Side, named: str | None, selection: Selection) -> list[Group]:
    """Strategies in all of the results compared with a baseline: the one named, or `never`.

    Raises ScenarioError if there is nothing to compare.
    """
    compared = run_groups(results.runs)
    labels = list(dict.fromkeys(label for run_group in compared for label in run_group.strategies))
    baseline = named or BASELINE
    if named is None and baseline not in labels:
        raise ScenarioError(
            f"no strategy is called {baseline!r} here: name the one to compare the others with "
            f"(--baseline {labels[0]!r}), or give two folders, the old results first",
            code="no-baseline",
        )
    _check_known("--baseline", [baseline], labels)
    _check_known("--only", selection.only, labels)
    groups = []
    for run_group in compared:
        baselines = dict.fromkeys(run_group.strategies, named) if named else _own_baselines(run_group)
        groups.append(_with_baseline(run_group, results, baseline, baselines, selection))
    if not any(group.contrasts or group.failures for group in groups):
        raise ScenarioError(
            "no other strategy has a usable run of the same scenario and mode, or --only excludes all of "
            f"them; strategies here: {', '.join(labels)}",
            code="nothing-to-compare",
            path=f"--baseline {baseline}",
        )
    return groups


def _own_baselines(run_group: RunGroup) -> dict[str, str]:
    """`never` in the variant of each strategy, and `never` without a variant for `never` itself."""
    return {row.strategy: BASELINE if row.is_baseline else row.baseline for row in run_group.rows}


def _with_baseline(
    run_group: RunGroup, results: Side, baseline: str, baselines: Mapping[str, str], selection: Selection
) -> Group:  # fmt: skip
    chosen = selection.strategies_of(label for label in run_group.strategies if label != baseline)
    wanted = dict.fromkeys((baseline, *(baselines[label] for label in chosen)))
    absent = [label for label in wanted if label not in run_group.strategies]
    of_variants = (
        "" if len({*baselines.values()}) == 1
        else f" of its variant; {baseline} in a variant, with {baseline} as it is"
    )  # fmt: skip

    def compared(strategies: Sequence[str], metrics: Iterable[str]) -> list[Contrast]:
        chosen_baselines = {label: baselines[label] for label in strategies}
        return with_baselines(run_group, chosen_baselines, metrics, selection.sittings)

    group = Group(
        title=f"each strategy compared with {baseline}{of_variants}",
        sides={"pooled": run_group},
        folders={"pooled": results.folders},
        headings=("figure", baseline),
        differences=check_pooled(run_group.usable_runs, selection.strictest),
        notes=(
            *(f"{label} did not run here: nothing to compare with" for label in absent),
            *_provenance(run_group),
        ),
        failures=(
            *_faults(run_group, (*chosen, baseline)),
            *(f"{label} is missing: nothing to compare with" for label in absent),
        ),
        doubts=tuple(_unchecked(run_group, (*chosen, baseline))),
    )
    return selection.applied(group, [label for label in chosen if baselines[label] not in absent], compared)


def compare_old_and_new(old_results: Side, new_results: Side, selection: Selection) -> list[Group]:
    """Each strategy in the new results compared with itself in the old ones.

    Raises ScenarioError if there is nothing to compare.
    """
    sides = old_results, new_results
    old, new = ({group.manifest.group_key: group for group in run_groups(side.runs)} for side in sides)
    shared = [key for key in old if key in new]
    if not shared:
        _refuse_unrelated(old, new)
    labels = {label for key in shared for label in (*old[key].strategies, *new[key].strategies)}
    _check_known("--only", selection.only, labels)
    groups = [_new_and_old(old[key], new[key], sides, selection) for key in shared]
    if not any(group.contrasts or group.failures for group in groups):
        raise ScenarioError(
            "no strategy has a usable run in both, or --only excludes all of them; to pool the folders and "
            "compare strategies with each other, use --baseline STRATEGY",
            code="nothing-to-compare",
            path=f"{old_results} and {new_results}",
        )
    alone = {_place(side): key for key, side in {**old, **new}.items() if key not in shared}
    notes = (f"{place} is in one folder only" for place in alone)
    gone = (f"{place}: the new results have no run of it" for place, key in alone.items() if key in old)
    first = replace(
        groups[0],
        notes=(*groups[0].notes, *notes),
        failures=(*groups[0].failures, *(gone if selection.limits else ())),
    )
    return [first, *groups[1:]]


def _new_and_old(old: RunGroup, new: RunGroup, results: tuple[Side, Side], selection: Selection) -> Group:
    def compared(strategies: Sequence[str], metrics: Iterable[str]) -> list[Contrast]:
        return old_and_new(old, new, strategies, metrics, selection.sittings)

    chosen = selection.strategies_of(old.strategies)
    gone = (label for label in chosen if label not in new.strategies)
    group = Group(
        title=f"new ({results[1]}) compared with old ({results[0]}), each strategy with itself",
        sides={"old": old, "new": new},
        folders={"old": results[0].folders, "new": results[1].folders},
        headings=("new", "old"),
        differences=_check_both(old, new, selection.strictest),
        notes=(*_one_sided(old, new), *_less(old, new), *_provenance(old, new)),
        failures=(
            *_faults(new, selection.strategies_of(new.strategies)),
            *(f"{label}: the new results have no run of it" for label in gone),
        ),
        doubts=tuple(_unchecked(new, selection.strategies_of(new.strategies))),
    )
    return selection.applied(group, [label for label in chosen if label in new.strategies], compared)


def _tested(
    limits: Sequence[Limit], strategies: Sequence[str], compared: Compared
) -> tuple[tuple[Tested, ...], tuple[str, ...]]:
    """Each limit tested on each strategy as if it were the only one, and notes on where it does not apply.

    A figure that the other side has is missing. One that neither side has does not apply, unless no strategy
    has it: then the limit could never be broken.
    """
    tested: list[Tested] = []
    notes: list[str] = []
    for limit in limits:
        contrasts = compared(strategies, [limit.metric])
        is_known = any(c.figure is not None or c.other_figure is not None for c in contrasts)
        for contrast in contrasts:
            if contrast.figure is not None:
                tested.append(Tested(limit, contrast, outcome_alone(limit, contrast.comparison)))
            elif contrast.other_figure is not None or not is_known:
                tested.append(Tested(limit, contrast, "missing"))
            else:
                notes.append(f"{limit.metric} does not apply to {contrast.strategy}: neither side has it")
    return tuple(tested), tuple(notes)


def decided_jointly(groups: Sequence[Group]) -> list[Group]:
    """The groups with all verdicts, and all outcomes of limits, corrected for how many the page has."""
    verdicts = iter(confirmed([contrast for group in groups for contrast in group.contrasts]))
    present = [test for group in groups for test in group.tested if test.outcome != "missing"]
    tests = [(test.limit, test.contrast.comparison) for test in present]
    noisy = noisy_tests(tests)
    decided = iter(outcomes(tests))
    return [
        replace(
            group,
            contrasts=tuple(islice(verdicts, len(group.contrasts))),
            tested=tuple(
                test if test.outcome == "missing" else replace(test, outcome=next(decided), tests=noisy)
                for test in group.tested
            ),
        )
        for group in groups
    ]


def _faults(run_group: RunGroup, labels: Iterable[str]) -> Iterable[str]:
    """Runs of these strategies that lost rows, or did not finish and were not repeated successfully.

    A run goes on after a compaction that failed or was vetoed; one in which none succeeded has not tested its
    strategy.
    """
    done = {run.repetition_key for run in run_group.usable_runs}
    for label in labels:
        runs = [run for run in run_group.runs if run.manifest.strategy == label]
        open_runs = [run for run in runs if run.repetition_key not in done]
        kept = [run for run in open_runs if run.replaced is None and not run.finished]
        interrupted = sum(run.end is None for run in kept)
        counts = {
            "lost rows or changed them": sum(content_of(run) == "differs" for run in runs),
            "failed": len(kept) - interrupted,
            "interrupted": interrupted,
            "marked as replaced, and not made again": sum(run.replaced is not None for run in open_runs),
            "without one successful compaction, though plans were executed": sum(map(_only_failed, runs)),
        }
        yield from (f"{label}: {counted(count, 'run')} {fate}" for fate, count in counts.items() if count)


def _only_failed(run: RunResult) -> bool:
    statuses = set(run.of(CompactionRecord).column("status").tolist())
    return bool(statuses) and statuses.issubset(FAILED_STATUSES)


def _unchecked(run_group: RunGroup, labels: Iterable[str]) -> Iterable[str]:
    """Runs of these strategies whose content nobody has compared with the stream."""
    if run_group.is_simulated:
        return
    for label in labels:
        count = sum(content_of(run) == "unchecked" for run in run_group.usable_runs_of(label))
        if count:
            yield f"{label}: the content of {counted(count, 'run')} was not checked, so rows may be lost"


def _provenance(*sides: RunGroup) -> Iterable[str]:
    """What happened to the runs: others used the machine, its speed varied, or runs are gone."""
    for side in sides:
        for row in side.rows:
            if remark := disturbance(row):
                yield f"{row.strategy}: {remark}"
        yield from absences(side.runs)
    if remark := uneven_speed(row for side in sides for row in side.rows):
        yield remark


def _sittings(contrasts: Iterable[Contrast], effects: SittingEffects) -> Iterable[str]:
    """What is assumed of the sittings in which runs were made, where timings of several are compared."""
    methods = {(contrast.metric.name, contrast.comparison.method) for contrast in contrasts}
    if any(method == "t on means of sittings" for _, method in methods):
        yield "each side has several sittings, so their means are compared"
    widened = dict.fromkeys(
        c.metric.name
        for c in contrasts
        if c.comparison.method in (MODERATED, AT_EQUAL_SPEED) and c.comparison.floor
    )
    guessed = [metric for metric in widened if effects.of(metric) is DEFAULT]
    if len(guessed) < len(widened):
        known = None if effects.by_metric else effects.otherwise
        sd = "as `trust` measured" if known is None else f"by {human_percent(known.sd)} (1 sd)"
        yield f"intervals are widened for sittings that differ {sd}"
    if guessed:
        named = f" in {', '.join(guessed)}, which --sitting-sd does not cover" if effects.by_metric else ""
        yield (
            f"intervals are widened for sittings that differ by {human_percent(DEFAULT.sd)} (1 sd){named}: "
            "the default, from two pairs of sittings of published runs; `make trust` measures it "
            "(--sitting-sd)"
        )


def _check_both(old: RunGroup, new: RunGroup, strictest: Strictness) -> tuple[Difference, ...]:
    within = [*check_pooled(old.usable_runs, strictest), *check_pooled(new.usable_runs, strictest)]
    between = check_old_and_new(old.usable_runs, new.usable_runs, strictest)
    reported = {difference.field for difference in between}
    return (*between, *(difference for difference in within if difference.field not in reported))


def _one_sided(old: RunGroup, new: RunGroup) -> Iterable[str]:
    for label in dict.fromkeys((*old.strategies, *new.strategies)):
        if label not in new.strategies or label not in old.strategies:
            yield f"{label} ran in the {'old' if label in old.strategies else 'new'} results only"
    old_start, new_start = (min(run.manifest.started_utc for run in side.runs) for side in (old, new))
    if new_start < old_start:
        yield "the new results are older than the old ones: are the folders in the right order?"


def _less(old: RunGroup, new: RunGroup) -> Iterable[str]:
    """Strategies that ran less often, or that stopped compacting, which no ratio of a cost shows."""
    for row in new.rows:
        before = old.row(row.strategy) if row.strategy in old.strategies else None
        if before is None or not row.runs:
            continue
        if row.runs < before.runs:
            runs = counted(row.runs, "run")
            yield f"{row.strategy}: {runs} in the new results, {before.runs} in the old ones"
        if before.values["compactions"] and not row.values["compactions"]:
            cost = "" if row.values["compaction_s"] else ", so its compaction cost is 0"
            yield f"{row.strategy}: no compaction in the new results{cost}"


def _refuse_unrelated(old: Mapping[_Key, RunGroup], new: Mapping[_Key, RunGroup]) -> None:
    old_runs, new_runs = ([run for side in sides.values() for run in side.runs] for sides in (old, new))
    check_old_and_new(old_runs[:1], new_runs[:1], Strictness.ON_REQUEST)
    raise ScenarioError(
        "the results have no scenario in common: the old ones have "
        f"{', '.join(map(_place, old.values()))}; the new ones have {', '.join(map(_place, new.values()))}",
        code="nothing-to-compare",
    )


def _check_known(option: str, names: Iterable[str], labels: Iterable[str]) -> None:
    for name in names:
        if name not in labels:
            problem = f"no strategy here is called {name!r}; {known_text(name, set(labels))}"
            raise ScenarioError(problem, code="unknown-name", path=option)


def _place(*sides: RunGroup) -> str:
    m = sides[0].manifest
    formats = named_once(row.format for side in sides for row in side.rows)
    return f"{m.scenario}: {m.workload} on {formats}, {m.mode}"
