"""The output of `compare`: what was compared, what differs, the figures and the limits."""

import csv
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from bench.cli.fail_if import Limit, Outcome
from bench.cli.output import ERR, OUT, print_json, print_table
from bench.cli.results_argument import gaps
from bench.results.pooling import Difference
from bench.results.rows import Row
from bench.text import MISSING, counted, human_ratio
from reports.compare import CONFIDENCE, Comparison
from reports.contrasts import Contrast
from reports.load import RunGroup
from reports.markdown import escape, table
from reports.phrases import Verbatim, format_range
from reports.sections.summary import Cell, Column, Table
from reports.text import format_value

_METHODS = {
    "paired t on log ratios": "paired t", "paired bootstrap of log ratios": "paired bootstrap",
    "Welch's t on logs": "Welch's t", "unpaired bootstrap of logs": "unpaired bootstrap",
    "exact": "exact", "none": MISSING,
}  # fmt: skip


class ComparisonFormat(StrEnum):
    """How `compare` prints its answer."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Tested:
    """A limit and the comparison it was tested on."""

    limit: Limit
    contrast: Contrast

    @property
    def outcome(self) -> Outcome:
        return self.limit.outcome(self.contrast.comparison)


@dataclass(frozen=True, slots=True)
class Group:
    """All comparisons of one scenario, workload, format and mode. `headings` name the two figures."""

    place: str
    title: str
    sides: Mapping[str, RunGroup]
    folders: Mapping[str, Sequence[Path]]
    headings: tuple[str, str]
    contrasts: tuple[Contrast, ...]
    tested: tuple[Tested, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]

    @property
    def is_simulated(self) -> bool:
        """Whether its seconds are modelled, not measured."""
        return any(run_group.is_simulated for run_group in self.sides.values())

    def with_notes(self, more: Sequence[str]) -> "Group":
        """This group with more notes."""
        return replace(self, notes=(*self.notes, *more))


def print_groups(groups: Sequence[Group], output: ComparisonFormat) -> None:
    """Print the comparisons to stdout. With CSV, what they are about and the limits go to stderr."""
    if output is ComparisonFormat.JSON:
        print_json({"confidence": CONFIDENCE, "groups": [_json(group) for group in groups]})
    elif output is ComparisonFormat.CSV:
        _print_csv(groups)
    else:
        for group in groups:
            (_print_markdown if output is ComparisonFormat.MARKDOWN else _print_table)(group)


def _print_table(group: Group) -> None:
    OUT.print(group.place, style="bold", markup=False, highlight=False)
    for line in _head(group):
        OUT.print(line, markup=False, highlight=False, soft_wrap=True)
    if group.contrasts:
        print_table(_columns(group), [_cells(group, contrast) for contrast in group.contrasts])
    if group.tested:
        print_table(_TESTED_COLUMNS, [_tested_cells(group, tested) for tested in group.tested])
        counts = Counter(tested.outcome for tested in group.tested)
        summary = ", ".join(
            f"{counts[outcome]} {outcome}" for outcome in ("broken", "undecided") if counts[outcome]
        )
        OUT.print(f"limits: {summary or 'all hold'}", markup=False, highlight=False)


def _print_markdown(group: Group) -> None:
    typer.echo(f"### {escape(group.place)}\n\n" + "\n".join(f"- {escape(line)}" for line in _head(group)))
    for columns, lines in (
        (_columns(group), [_cells(group, contrast) for contrast in group.contrasts]),
        (_TESTED_COLUMNS, [_tested_cells(group, tested) for tested in group.tested]),
    ):
        if lines:
            cells = tuple((Cell(Verbatim(line[0])), *(Cell(text) for text in line[1:])) for line in lines)
            typer.echo("\n" + table(Table(tuple(Column(name, is_number=False) for name in columns), cells)))
    typer.echo()


def _head(group: Group) -> list[str]:
    """What was compared, from which runs, and how certain the answer is."""
    noisy = sum(contrast.comparison.method not in ("exact", "none") for contrast in group.contrasts)
    lines = [group.title, *(_side(group, side) for side in group.sides)]
    ratio = "strategy / " + group.headings[1] if len(group.sides) == 1 else "new / old"
    certain = "exact, modelled" if group.is_simulated else "exact"
    chance = _by_chance(noisy) if noisy else f"; all figures are {certain} or undecided"
    lines.append(f"ratio: {ratio}, with its {CONFIDENCE:.0%} interval".replace("%", " %") + chance)
    if group.is_simulated:
        lines.append("simulated: nothing was measured, all times come from a cost model")
    lines += [f"differs: {difference}" for difference in group.differences]
    return lines + [f"note: {note}" for note in group.notes]


def _by_chance(noisy: int) -> str:
    expected = f"{noisy * (1 - CONFIDENCE):.2g}"
    return f"; of {counted(noisy, 'interval')}, about {expected} would exclude 1 by chance alone"


def _side(group: Group, side: str) -> str:
    run_group = group.sides[side]
    counts = ", ".join(f"{row.strategy} {_runs(row)}" for row in run_group.rows)
    folders = ", ".join(str(folder) for folder in group.folders[side])
    return f"{side}: {counted(len(run_group.usable_runs), 'run')} from {folders}: {counts}"


def _runs(row: Row) -> str:
    unused = gaps(row)
    return f"{row.runs} ({unused})" if unused else str(row.runs)


def _columns(group: Group) -> tuple[str, ...]:
    return ("strategy", "metric", *group.headings, "ratio", "95 % interval", "n", "method", "verdict")


def _cells(group: Group, contrast: Contrast) -> tuple[str, ...]:
    comparison, unit = contrast.comparison, contrast.metric.unit
    return (
        contrast.strategy,
        contrast.metric.name,
        format_value(unit, contrast.figure),
        format_value(unit, contrast.other_figure),
        _ratio(comparison),
        _interval(comparison),
        _n(contrast),
        _method(group, contrast),
        _verdict(contrast),
    )


def _ratio(comparison: Comparison) -> str:
    """The ratio; an exact one close to 1 has enough digits to be distinguished from 1."""
    ratio = comparison.ratio
    if ratio is None:
        return MISSING
    is_close = comparison.method == "exact" and ratio != 1 and abs(ratio - 1) < 0.01
    return f"{ratio:.6g}x" if is_close else human_ratio(ratio)


def _interval(comparison: Comparison) -> str:
    if comparison.method == "exact" or comparison.low is None or comparison.high is None:
        return MISSING
    return format_range(comparison.low, comparison.high)


def _is_modelled(group: Group, contrast: Contrast) -> bool:
    """A figure of a cost model repeats exactly, but is not exact."""
    return contrast.comparison.method == "exact" and group.is_simulated and not contrast.metric.exact


def _method(group: Group, contrast: Contrast) -> str:
    return "modelled" if _is_modelled(group, contrast) else _METHODS[contrast.comparison.method]


def _n(contrast: Contrast) -> str:
    """The number of pairs, or of runs on either side."""
    if contrast.is_paired or contrast.runs == contrast.other_runs:
        return str(contrast.comparison.n)
    return f"{contrast.runs} / {contrast.other_runs}"


def _verdict(contrast: Contrast) -> str:
    comparison = contrast.comparison
    verdict = f"{comparison.verdict}, {contrast.judged}" if contrast.judged else comparison.verdict
    return f"{verdict}: {comparison.reason}" if comparison.reason else verdict


_TESTED_COLUMNS = ("strategy", "limit", "outcome", "reason")


def _tested_cells(group: Group, tested: Tested) -> tuple[str, ...]:
    return (tested.contrast.strategy, tested.limit.kept, tested.outcome, _reason(group, tested.contrast))


def _reason(group: Group, contrast: Contrast) -> str:
    comparison, unit = contrast.comparison, contrast.metric.unit
    figures = " vs ".join(format_value(unit, v) for v in (contrast.figure, contrast.other_figure))
    if comparison.low is None or comparison.high is None or comparison.ratio is None:
        return f"{figures}: {comparison.reason}"
    if comparison.method == "exact":
        return f"{figures}: {'modelled' if _is_modelled(group, contrast) else 'exactly'} {_ratio(comparison)}"
    interval = f"95 % interval {format_range(comparison.low, comparison.high)}, n = {_n(contrast)}"
    return f"{figures}: {human_ratio(comparison.ratio)}, {interval}"


def _json(group: Group) -> dict[str, Any]:
    manifest = next(iter(group.sides.values())).manifest
    return {
        **{name: getattr(manifest, name) for name in ("scenario", "workload", "format", "mode")},
        "compared": group.title,
        "folders": {side: [str(folder) for folder in folders] for side, folders in group.folders.items()},
        "runs": {side: {row.strategy: row.runs for row in s.rows} for side, s in group.sides.items()},
        "differences": [
            {"field": d.field, "values": list(d.values), "runs": [str(run.folder) for run in d.runs]}
            for d in group.differences
        ],
        "notes": list(group.notes),
        "comparisons": [_record(contrast) for contrast in group.contrasts],
        "conditions": [
            {"condition": tested.limit.condition, "outcome": tested.outcome, **_record(tested.contrast)}
            for tested in group.tested
        ],
    }


def _record(contrast: Contrast) -> dict[str, Any]:
    """One comparison, for programs; keys are never renamed."""
    comparison = contrast.comparison
    return {
        "strategy": contrast.strategy, "against": contrast.other, "metric": contrast.metric.name,
        "unit": contrast.metric.unit, "figure": contrast.figure, "against_figure": contrast.other_figure,
        "ratio": comparison.ratio, "low": comparison.low, "high": comparison.high, "n": comparison.n,
        "runs": contrast.runs, "against_runs": contrast.other_runs, "method": comparison.method,
        "verdict": comparison.verdict, "judged": contrast.judged, "reason": comparison.reason,
    }  # fmt: skip


def _print_csv(groups: Sequence[Group]) -> None:
    lines = [
        {name: answer[name] for name in ("scenario", "workload", "format", "mode")} | record
        for answer in map(_json, groups)
        for record in answer["comparisons"]
    ]
    writer = csv.DictWriter(sys.stdout, list(lines[0]))
    writer.writeheader()
    writer.writerows(lines)
    for group in groups:
        for line in [*_head(group), *(": ".join(_tested_cells(group, tested)) for tested in group.tested)]:
            ERR.print(line, markup=False, highlight=False, soft_wrap=True)
