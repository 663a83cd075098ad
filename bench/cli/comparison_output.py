"""The output of `compare`: what was compared, what differs, the figures and the limits."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import typer

from bench.cli.answer_output import print_cautions
from bench.cli.figure_table import MARKED_WORDS, marked, scaled
from bench.cli.output import (
    ComparisonFormat,
    print_csv,
    print_heading,
    print_json,
    print_line,
    print_paragraph,
    print_remark,
    print_tables,
)
from bench.cli.tables import Column
from bench.comparison.fail_if import condition, kept_text
from bench.comparison.groups import Group, Tested
from bench.results.metrics import Metric
from bench.results.query_rate import WEIGHTED_WORDS
from bench.results.remarks import gaps
from bench.text import MISSING, counted, human_percent, human_ratio, named_once
from reports.page.markdown import escape, table
from reports.page.tables import Cell, Table
from reports.page.tables import Column as PageColumn
from reports.phrases import Verbatim, format_range
from reports.verdicts import repetitions
from reports.verdicts.compare import AT_EQUAL_SPEED, Comparison
from reports.verdicts.confidence import CONFIDENCE
from reports.verdicts.contrasts import Contrast
from strategies.grouping import by_key

_NO_INTERVAL = ("exact", "tolerance", "modelled", "none")
_TESTED_COLUMNS = (Column("strategy"), Column("limit"), Column("outcome"), Column("reason"))


def print_groups(
    groups: Sequence[Group], output: ComparisonFormat, named: Sequence[str], everything: bool
) -> None:
    """Print the comparisons to stdout. With CSV, what they are about and the limits go to stderr.

    For people, those that say nothing are left out unless `everything` is wanted or their metric is `named`,
    and the grave cautions follow on stderr.
    """
    if output == "json":
        print_json({"confidence": CONFIDENCE, "groups": [_json(group) for group in groups]})
        return
    if output == "csv":
        _print_csv(groups)
        return
    for group in groups:
        shown = [c for c in group.contrasts if everything or c.metric.name in named or _says_something(c)]
        head, folded = _head(group), len(group.contrasts) - len(shown)
        if folded:
            left = f"{counted(folded, 'comparison')} of equal or missing figures, or with 0"
            head.append(f"note: left out: {left} (--all shows all)")
        (_print_markdown if output == "markdown" else _print_tables)(group, head, _by_metric(shown))
        print_cautions(*group.sides.values())


def _by_metric(contrasts: Sequence[Contrast]) -> Mapping[Metric, Sequence[Contrast]]:
    """The confirmatory metrics before the others; of each metric the decided comparisons first."""
    ordered = sorted(contrasts, key=lambda c: (c.role != "confirmatory", _rank(c.comparison)))
    return by_key(ordered, lambda contrast: contrast.metric)


def _says_something(contrast: Contrast) -> bool:
    """Whether it is more than that figures are equal, are missing, or are compared with 0.

    What a strategy costs is shown even if the baseline costs nothing.
    """
    comparison = contrast.comparison
    if comparison.verdict == "equal":
        return False
    if contrast.role == "confirmatory" and comparison.is_decided:
        return True
    return comparison.ratio is not None or (comparison.verdict == "undecided" and comparison.n > 0)


def _rank(comparison: Comparison) -> int:
    if comparison.is_decided:
        return 0
    return 1 if comparison.low is not None else 2


def _print_tables(group: Group, head: Sequence[str], by_metric: Mapping[Metric, Sequence[Contrast]]) -> None:
    print_heading(group.place)
    for line in head:
        print_paragraph(line)
    print_line("")
    columns = _columns(group)
    limits = [("limits", _TESTED_COLUMNS, [_tested_cells(tested) for tested in group.tested])]
    print_tables(
        [
            *((metric.name, columns, map(_cells, contrasts)) for metric, contrasts in by_metric.items()),
            *(limits if group.tested else ()),
        ]
    )
    print_line("")
    for line in (*_marks(by_metric), *_answers(group, by_metric), *_verdict_lines(group)):
        print_paragraph(line)


def _print_markdown(
    group: Group, head: Sequence[str], by_metric: Mapping[Metric, Sequence[Contrast]]
) -> None:
    typer.echo(f"### {escape(group.place)}\n\n" + "\n".join(f"- {escape(line)}" for line in head))
    lines = [
        (contrast.strategy, metric.name, *_cells(contrast)[1:])
        for metric, contrasts in by_metric.items()
        for contrast in contrasts
    ]
    first, *others = _columns(group)
    for columns, cells in (
        ((first, Column("metric"), *others), lines),
        (_TESTED_COLUMNS, [_tested_cells(tested) for tested in group.tested]),
    ):
        if cells:
            rows = tuple((Cell(Verbatim(line[0])), *(Cell(text) for text in line[1:])) for line in cells)
            headings = tuple(PageColumn(column.title, is_number=False) for column in columns)
            typer.echo("\n" + table(Table(headings, rows)))
    for line in (*_marks(by_metric), *_answers(group, by_metric), *_verdict_lines(group)):
        typer.echo(f"\n{escape(line)}")
    typer.echo()


def _marks(by_metric: Mapping[Metric, Sequence[Contrast]]) -> Iterator[str]:
    """What the mark at a figure means, if there is one."""
    if any(c.unmodelled or c.other_unmodelled for contrasts in by_metric.values() for c in contrasts):
        yield MARKED_WORDS


def _answers(group: Group, by_metric: Mapping[Metric, Sequence[Contrast]]) -> Iterator[str]:
    """What came of the confirmatory metrics: "query_mean_s: better under a (0.5x); worse under b (2x)".

    Strategies of two formats differ in their writers and readers, so that neither is better.
    """
    formats = group.formats
    for metric, contrasts in by_metric.items():
        by_verdict: dict[str, list[str]] = {}
        for c in contrasts:
            is_one_format = formats.get(c.strategy) == formats.get(c.other)
            if c.role == "confirmatory" and c.comparison.ratio is not None and is_one_format:
                named = f"{c.strategy} ({_ratio(c.comparison)})"
                by_verdict.setdefault(c.judged or c.comparison.words, []).append(named)
        if by_verdict:
            said = (f"{verdict} under {named_once(labels)}" for verdict, labels in by_verdict.items())
            yield f"{metric.name}: {'; '.join(said)}"


def _verdict_lines(group: Group) -> list[str]:
    """What came of the limits, and what fails the build without one."""
    counts = Counter(tested.outcome for tested in group.tested)
    summary = ", ".join(
        f"{counts[name]} {name}" for name in ("broken", "missing", "inconclusive") if counts[name]
    )
    limits = [f"limits: {summary or 'all hold'}"] if group.tested else []
    failures = [f"failed: {failure}" for failure in group.failures]
    return limits + failures + [f"inconclusive: {doubt}" for doubt in group.doubts]


def _head(group: Group) -> list[str]:
    """What was compared, from which runs, and how certain the answer is."""
    lines = [group.title, *(_side(group, side) for side in group.sides)]
    ratio = "strategy / " + group.headings[1] if len(group.sides) == 1 else "new / old"
    at_speed = any(contrast.comparison.method == AT_EQUAL_SPEED for contrast in group.contrasts)
    speed = ", of timings at equal speed of the machine" if at_speed else ""
    lines.append(f"ratio: {ratio}, with its {human_percent(CONFIDENCE)} interval{speed}")
    if group.is_simulated:
        lines.append("simulated: nothing was measured, all times come from a cost model")
    if group.has_query_rates:
        lines.append(WEIGHTED_WORDS)
    lines += [f"differs: {difference}" for difference in group.differences]
    return lines + [f"note: {note}" for note in group.notes]


def _side(group: Group, side: str) -> str:
    run_group = group.sides[side]
    unused = {row.strategy: f" ({gaps(row)})" if gaps(row) else "" for row in run_group.rows}
    counts = ", ".join(f"{row.strategy} {row.runs}{unused[row.strategy]}" for row in run_group.rows)
    folders = ", ".join(str(folder) for folder in group.folders[side])
    return f"{side}: {counted(len(run_group.usable_runs), 'run')} from {folders}: {counts}"


def _columns(group: Group) -> tuple[Column, ...]:
    figure, other = group.headings
    return (
        Column("strategy"), Column(figure), Column(other, drop=2), Column("ratio"),
        Column("95 % interval", drop=3, shown="if any"), Column("runs", drop=1), Column("verdict"),
    )  # fmt: skip


def _cells(contrast: Contrast) -> tuple[str, ...]:
    runs = f"{contrast.runs} / {contrast.other_runs}"
    return (
        contrast.strategy, *_both(contrast), _ratio(contrast.comparison), _interval(contrast.comparison),
        runs, _verdict(contrast),
    )  # fmt: skip


def _both(contrast: Contrast) -> tuple[str, str]:
    figure, other = figures(contrast.metric.unit, contrast.figure, contrast.other_figure)
    return (
        marked(figure) if contrast.unmodelled else figure,
        marked(other) if contrast.other_unmodelled else other,
    )


def figures(unit: str, *both: float | None) -> tuple[str, ...]:
    """Two figures in one unit, that of the larger."""
    name, texts = scaled(unit, both, both)
    return tuple(text if text == MISSING else f"{text} {name}".strip() for text in texts)


def _ratio(comparison: Comparison) -> str:
    """The ratio; an exact one that is close to 1 has enough digits to be distinguished from 1."""
    ratio = comparison.ratio
    if ratio is None:
        return MISSING
    is_close = comparison.method == "exact" and ratio != 1 and abs(ratio - 1) < 0.01
    return f"{ratio:.4g}x" if is_close else human_ratio(ratio)


def _interval(comparison: Comparison) -> str:
    """The interval, or why there is none: "exact", "tolerance 2 %", "modelled"."""
    if comparison.ratio is None or comparison.low is None or comparison.high is None:
        return MISSING
    if comparison.method == "tolerance" and comparison.tolerance:
        return f"tolerance {human_percent(comparison.tolerance)}"
    if comparison.method == "exact" or comparison.is_rough:
        return comparison.method
    return format_range(comparison.low, comparison.high)


def _verdict(contrast: Contrast) -> str:
    comparison = contrast.comparison
    verdict = f"{comparison.words}, {contrast.judged}" if contrast.judged else comparison.words
    if contrast.role == "exploratory" and comparison.method not in _NO_INTERVAL:
        verdict += " (exploratory)"
    return f"{verdict}: {comparison.reason}" if comparison.reason else verdict


def _tested_cells(tested: Tested) -> tuple[str, ...]:
    return (tested.contrast.strategy, kept_text(tested.limit), tested.outcome, _reason(tested))


def _reason(tested: Tested) -> str:
    contrast, comparison = tested.contrast, tested.contrast.comparison
    if tested.outcome == "missing":
        return "no run has this figure"
    both = " vs ".join(figures(contrast.metric.unit, contrast.figure, contrast.other_figure))
    if comparison.low is None or comparison.high is None or comparison.ratio is None:
        return f"{both}: {comparison.reason}"
    if comparison.method in _NO_INTERVAL:
        return f"{both}: {_ratio(comparison)} ({_interval(comparison)})"
    reason = (
        f"{both}: {human_ratio(comparison.ratio)}, 95 % interval {_interval(comparison)}, {contrast.sample}"
    )
    if tested.outcome != "inconclusive":
        return reason
    wanted = repetitions.needed(comparison, tested.tests, tested.limit.value)
    if wanted is None and comparison.floor:
        return f"{reason}; only further sittings on both sides would probably decide it"
    enough = f"more than {repetitions.MOST}" if wanted is None else str(wanted)
    return f"{reason}; at the noise seen here {enough} repetitions would probably decide it"


def _json(group: Group) -> dict[str, Any]:
    manifest = next(iter(group.sides.values())).manifest
    return {
        **{name: getattr(manifest, name) for name in ("scenario", "workload", "format", "mode")},
        "formats": group.formats,
        "compared": group.title,
        "folders": {side: [str(folder) for folder in folders] for side, folders in group.folders.items()},
        "runs": {side: {row.strategy: row.runs for row in s.rows} for side, s in group.sides.items()},
        "differences": [
            {"field": d.field, "values": list(d.values), "runs": [str(run.folder) for run in d.runs]}
            for d in group.differences
        ],
        "notes": list(group.notes),
        "failures": list(group.failures),
        "doubts": list(group.doubts),
        "comparisons": [contrast.to_json() for contrast in group.contrasts],
        "conditions": [
            {
                **tested.contrast.to_json(),
                "condition": condition(tested.limit),
                "outcome": tested.outcome,
                "explanation": _reason(tested),
            }
            for tested in group.tested
        ],
    }


def _print_csv(groups: Sequence[Group]) -> None:
    lines = [record for group in groups for record in group.records]
    if lines:
        print_csv(list(lines[0]), [list(line.values()) for line in lines])
    for group in groups:
        tested = [": ".join(_tested_cells(tested)) for tested in group.tested]
        for line in [*_head(group), *tested, *_verdict_lines(group)]:
            print_remark(line)
