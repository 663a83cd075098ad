"""`compactbench compare`: strategies against a baseline, or new results against old ones."""

from typing import Annotated

import typer

from bench.cli.arguments import ResultsArgument, tell_not_read
from bench.cli.completion import metric_names, strategy_labels
from bench.cli.output import ComparisonFormat
from bench.errors import EXIT_INCONCLUSIVE
from bench.results.pooling import Strictness

EXIT_BROKEN = 1


def compare(
    results: ResultsArgument,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="STRATEGY",
            autocompletion=strategy_labels,
            help="Compare the other strategies with this one; several folders are pooled. Unless two folders "
            "are given, the default is `never`; for a variant, its own `never`.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            autocompletion=metric_names,
            help="Compare this metric, or 'all'. May be repeated.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STRATEGY",
            autocompletion=strategy_labels,
            help="Compare only this strategy. May be repeated.",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also print comparisons of equal or missing figures, or with 0.")
    ] = False,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            autocompletion=metric_names,
            help="Exit 1 if this is proven for a strategy, e.g. 'compaction_cpu_s>1.1x'. May be repeated.",
        ),
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="RATIO",
            help="Also print how many repetitions, with the noise of these runs, it takes to prove "
            "that two equal strategies differ by less than this ratio, e.g. 1.1x.",
        ),
    ] = None,
    sitting_sd: Annotated[
        str | None,
        typer.Option(
            metavar="SD|FILE",
            help="By how much timings of two sittings, i.e. calls of `run` on different days, differ on this "
            "machine (0.05 is 5 %), or the file that `make trust` wrote. Intervals are widened accordingly. "
            "[default: 0.02, from two pairs of sittings of the published runs on one machine; measure yours]",
        ),
    ] = None,
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
    ] = "table",
) -> None:
    """Compare strategies with a baseline, or new results with old ones.

    * `compactbench compare`

    * `compactbench compare results/yesterday results/today`

    * `compactbench compare main branch --fail-if 'compaction_cpu_s>1.1x'`

    Two folders without a baseline are OLD and NEW: each strategy in NEW is compared with itself in OLD.
    Otherwise strategies are compared with the baseline. Counts are exact, bytes have a tolerance, and timings
    a 95 % interval, for which three runs are needed. Verdicts on the cost and the mean query latency are
    corrected for multiple comparisons; all others are marked exploratory. Simulated figures are modelled.

    A limit that `--fail-if` sets is broken only where the whole interval lies beyond its ratio; noise alone
    breaks any of them in at most one of 40 comparisons, however many limits there are. Even if no limit is
    broken, the command fails if a run failed or lost rows, or if a strategy, a scenario or a figure is
    missing in the new results. If the interval contains the ratio, the result is inconclusive; the output
    states how many repetitions would decide it. `--plan` tells that number beforehand.

    Exit codes: 0 all limits hold, 1 a limit is broken, or runs failed or are missing, 2 an error you can
    correct, 4 no limit is broken, but some are inconclusive, or the content of runs was not checked.
    """
    # What compares takes a second to load: a shell that completes the command does not wait for it.
    from bench.cli.comparison_output import print_groups
    from bench.cli.sitting_effects import sitting_effects
    from bench.comparison.fail_if import parse_limit, parse_planned_ratio
    from bench.comparison.groups import (
        Selection,
        Side,
        compare_old_and_new,
        compare_pooled,
        decided_jointly,
        metrics_named,
    )
    from reports.verdicts.sittings import ASSUMES_DEFAULT

    selection = Selection(
        metrics_named(metric or ()),
        tuple(only or ()),
        tuple(parse_limit(text) for text in fail_if or ()),
        Strictness.ON_REQUEST if allow_mixed else Strictness.REPORTED,
        None if plan is None else parse_planned_ratio(plan),
        ASSUMES_DEFAULT if sitting_sd is None else sitting_effects(sitting_sd),
    )
    if baseline is None and len(results) == 2:
        old, new = map(Side.read, results)
        groups = decided_jointly(compare_old_and_new(old, new, selection))
    else:
        groups = decided_jointly(compare_pooled(Side.read(*results), baseline, selection))
    tell_not_read(results)
    print_groups(groups, output, selection.metrics, everything)
    outcomes = {tested.outcome for group in groups for tested in group.tested}
    if outcomes & {"broken", "missing"} or any(group.failures for group in groups):
        raise typer.Exit(EXIT_BROKEN)
    if "inconclusive" in outcomes or any(group.doubts for group in groups):
        raise typer.Exit(EXIT_INCONCLUSIVE)
