"""`compactbench compare`: strategies against a baseline, or new results against old ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bench.cli.comparison import ComparisonFormat, Group, Tested, print_groups
from bench.cli.fail_if import Limit, parse_limit
from bench.cli.results_argument import ResultsArgument
from bench.errors import ScenarioError
from bench.keys import known_text
from bench.results.folders import RunResult, load_runs
from bench.results.pooling import Difference, Strictness, check_old_and_new, check_pooled
from bench.results.rows import METRIC_BY_NAME
from bench.text import counted
from reports.contrasts import leading_metrics, metrics_with_figures, old_and_new, with_baseline
from reports.load import RunGroup, run_groups

EVERY_METRIC = "all"
EXIT_BROKEN = 1


@dataclass(frozen=True, slots=True)
class Selection:
    """What to compare, and which limits to test."""

    metrics: tuple[str, ...]
    only: tuple[str, ...]
    limits: tuple[Limit, ...]
    strictest: Strictness  # of the differences between runs that are tolerated

    def metrics_of(self, *run_groups: RunGroup) -> tuple[str, ...]:
        """The metrics selected; those not named explicitly are left out where no run has a figure."""
        known = metrics_with_figures(*run_groups)
        if self.metrics == (EVERY_METRIC,):
            return known
        return self.metrics or tuple(name for name in leading_metrics(run_groups[0]) if name in known)

    def strategies_of(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Those of `labels` that are selected."""
        return tuple(label for label in labels if not self.only or label in self.only)


def compare(
    results: ResultsArgument,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="STRATEGY", help="Compare the other strategies with this one; several folders are pooled."
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Compare this metric, or 'all'. May be repeated."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="STRATEGY", help="Compare only this strategy. May be repeated."),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help="Exit 1 if this is proven for a strategy, e.g. 'compaction_cpu_s>1.1x'. May be repeated.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="With --fail-if, also exit 1 where the answer is undecided.")
    ] = False,
    allow_mixed: Annotated[
        bool,
        typer.Option(
            "--allow-mixed",
            help="Combine runs of different machines, versions or options (never of different definitions).",
        ),
    ] = False,
    output: Annotated[
        ComparisonFormat,
        typer.Option("--format", help="A table for people, Markdown for a review, JSON or CSV for programs."),
    ] = ComparisonFormat.TABLE,
) -> None:
    """Compare strategies with a baseline, or new results with old ones.

    * `compactbench compare results --baseline never`

    * `compactbench compare results/yesterday results/today`

    * `compactbench compare main branch --fail-if 'compaction_cpu_s>1.1x'`

    With a baseline, runs of the same repetition are compared in pairs. Without one, give two folders, OLD and
    NEW: each strategy in NEW is compared with itself in OLD. Ratios come with their 95 % interval; where it
    contains 1, the verdict is undecided. Figures that repeat in every run are exact and need no interval.

    The limit that `--fail-if` sets is broken only where the whole interval lies beyond its ratio, so noise
    alone breaks at most one limit in 40. Where the interval contains the ratio, the answer is undecided.

    Exit codes: 0 no limit is broken, 1 a limit is broken, 2 an error you can correct.
    """
    selection = Selection(
        _metrics(metric or ()),
        tuple(only or ()),
        tuple(parse_limit(text) for text in fail_if or ()),
        Strictness.ON_REQUEST if allow_mixed else Strictness.REPORTED,
    )
    if strict and not selection.limits:
        raise ScenarioError("--strict: there is no limit to be strict about; add --fail-if")
    groups = _old_and_new(results, selection) if baseline is None else _pooled(results, baseline, selection)
    print_groups(groups, output)
    outcomes = {tested.outcome for group in groups for tested in group.tested}
    if "broken" in outcomes or (strict and "undecided" in outcomes):
        raise typer.Exit(EXIT_BROKEN)


def _metrics(names: Sequence[str]) -> tuple[str, ...]:
    unknown = [name for name in names if name not in METRIC_BY_NAME and name != EVERY_METRIC]
    if unknown:
        known = known_text(unknown[0], (*METRIC_BY_NAME, EVERY_METRIC))
        raise ScenarioError(f"--metric {unknown[0]!r}: no such metric; {known}")
    return (EVERY_METRIC,) if EVERY_METRIC in names else tuple(dict.fromkeys(names))


def _pooled(results: Sequence[Path], baseline: str, selection: Selection) -> list[Group]:
    compared = run_groups(load_runs(*results))
    labels = list(dict.fromkeys(label for run_group in compared for label in run_group.strategies))
    _check_known("--baseline", [baseline], labels)
    _check_known("--only", selection.only, labels)
    groups = [_with_baseline(run_group, results, baseline, selection) for run_group in compared]
    if not any(group.contrasts for group in groups):
        raise ScenarioError(
            f"--baseline {baseline!r}: no other strategy has a usable run of the same scenario, format and "
            f"mode, or --only excludes all of them; strategies here: {', '.join(labels)}"
        )
    return groups


def _with_baseline(
    run_group: RunGroup, results: Sequence[Path], baseline: str, selection: Selection
) -> Group:
    differing = check_pooled(run_group.usable_runs, selection.strictest)
    others = selection.strategies_of(label for label in run_group.strategies if label != baseline)
    notes = []
    if baseline not in run_group.strategies:
        others, notes = (), [f"{baseline} did not run here: nothing to compare with"]
    return Group(
        place=_place(run_group),
        title=f"each strategy compared with {baseline}",
        sides={"pooled": run_group},
        folders={"pooled": tuple(results)},
        headings=("figure", baseline),
        contrasts=tuple(with_baseline(run_group, baseline, others, selection.metrics_of(run_group))),
        tested=tuple(
            Tested(limit, contrast)
            for limit in selection.limits
            for contrast in with_baseline(run_group, baseline, others, [limit.metric])
        ),
        differences=differing,
        notes=tuple(notes),
    )


def _old_and_new(results: Sequence[Path], selection: Selection) -> list[Group]:
    if len(results) != 2:
        raise ScenarioError(
            f"{counted(len(results), 'folder')} without --baseline: name the strategy to compare the others "
            "with, or give exactly two folders, the old results first"
        )
    old, new = ({_place(s): s for s in run_groups(load_runs(folder))} for folder in results)
    shared = [place for place in old if place in new]
    if not shared:
        _refuse_unrelated(old, new)
    labels = [label for place in shared for label in {**_labels(old[place]), **_labels(new[place])}]
    _check_known("--only", selection.only, labels)
    groups = [_new_and_old(old[place], new[place], results, selection) for place in shared]
    if not any(group.contrasts for group in groups):
        raise ScenarioError(
            f"{results[0]} and {results[1]}: no strategy has a usable run in both, or --only excludes all of "
            "them; use --baseline STRATEGY to pool the folders and compare strategies with each other"
        )
    missing = [f"{place} is in one folder only" for place in {**old, **new} if place not in shared]
    return [group.with_notes(missing) if group is groups[0] else group for group in groups]


def _new_and_old(old: RunGroup, new: RunGroup, results: Sequence[Path], selection: Selection) -> Group:
    differing = _check_both(old, new, selection.strictest)
    both = [label for label in old.strategies if label in new.strategies]
    strategies = selection.strategies_of(both)
    return Group(
        place=_place(old),
        title=f"new ({results[1]}) compared with old ({results[0]}), each strategy with itself",
        sides={"old": old, "new": new},
        folders={"old": (results[0],), "new": (results[1],)},
        headings=("new", "old"),
        contrasts=tuple(old_and_new(old, new, strategies, selection.metrics_of(old, new))),
        tested=tuple(
            Tested(limit, contrast)
            for limit in selection.limits
            for contrast in old_and_new(old, new, strategies, [limit.metric])
        ),
        differences=differing,
        notes=tuple(_one_sided(old, new)),
    )


def _check_both(old: RunGroup, new: RunGroup, strictest: Strictness) -> tuple[Difference, ...]:
    within = [*check_pooled(old.usable_runs, strictest), *check_pooled(new.usable_runs, strictest)]
    between = check_old_and_new(old.usable_runs, new.usable_runs, strictest)
    reported = {difference.field for difference in between}
    return (*between, *(difference for difference in within if difference.field not in reported))


def _one_sided(old: RunGroup, new: RunGroup) -> Iterable[str]:
    for label in {**_labels(old), **_labels(new)}:
        if label not in new.strategies or label not in old.strategies:
            yield f"{label} ran in the {'old' if label in old.strategies else 'new'} results only"
    if _began(new.runs) < _began(old.runs):
        yield "the new results are older than the old ones: are the folders in the right order?"


def _refuse_unrelated(old: Mapping[str, RunGroup], new: Mapping[str, RunGroup]) -> None:
    old_runs, new_runs = ([run for s in side.values() for run in s.runs] for side in (old, new))
    check_old_and_new(old_runs[:1], new_runs[:1], Strictness.ON_REQUEST)
    raise ScenarioError(
        f"the results have no scenario in common: the old ones have {', '.join(old)}; the new ones have "
        f"{', '.join(new)}"
    )


def _check_known(option: str, names: Iterable[str], labels: Sequence[str]) -> None:
    for name in names:
        if name not in labels:
            raise ScenarioError(f"{option} {name!r}: no such strategy here; {known_text(name, set(labels))}")


def _began(runs: Iterable[RunResult]) -> str:
    return min(run.manifest.started_utc for run in runs)


def _labels(run_group: RunGroup) -> dict[str, None]:
    return dict.fromkeys(run_group.strategies)


def _place(run_group: RunGroup) -> str:
    m = run_group.manifest
    return f"{m.scenario}: {m.workload} on {m.format}, {m.mode}"
