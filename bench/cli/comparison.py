"""How `compare` prints: what was compared, what differs, the figures, the limits."""

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
from bench.text import MISSING, human_ratio
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


class Output(StrEnum):
    """How `compare` prints."""

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
        return self.limit.outcome(self.contrast.found)


@dataclass(frozen=True, slots=True)
class Group:
    """All comparisons of one scenario, workload, format and mode. `headings` are of the two figures."""

    place: str
    title: str
    sides: Mapping[str, RunGroup]
    folders: Mapping[str, Sequence[Path]]
    headings: tuple[str, str]
    contrasts: tuple[Contrast, ...]
    tested: tuple[Tested, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]

    def with_notes(self, more: Sequence[str]) -> "Group":
        """The same with more notes."""
        return replace(self, notes=(*self.notes, *more))


def print_groups(groups: Sequence[Group], output: Output) -> None:
    """Print what was compared and found; data on stdout, with CSV the words beside it on stderr."""
    if output is Output.JSON:
        print_json({"confidence": CONFIDENCE, "groups": [_json(group) for group in groups]})
    elif output is Output.CSV:
        _print_csv(groups)
    else:
        for group in groups:
            (_print_markdown if output is Output.MARKDOWN else _print_table)(group)


def _print_table(group: Group) -> None:
    OUT.print(group.place, style="bold", markup=False, highlight=False)
    for line in _head(group):
        OUT.print(line, markup=False, highlight=False, soft_wrap=True)
    if group.contrasts:
        print_table(_columns(group), [_cells(contrast) for contrast in group.contrasts])
    if group.tested:
        print_table(_TESTED_COLUMNS, [_tested_cells(tested) for tested in group.tested])
        counts = Counter(tested.outcome for tested in group.tested)
        told = ", ".join(
            f"{counts[outcome]} {outcome}" for outcome in ("broken", "undecided") if counts[outcome]
        )
        OUT.print(f"limits: {told or 'all hold'}", markup=False, highlight=False)


def _print_markdown(group: Group) -> None:
    typer.echo(f"### {escape(group.place)}\n\n" + "\n".join(f"- {escape(line)}" for line in _head(group)))
    for columns, lines in (
        (_columns(group), [_cells(contrast) for contrast in group.contrasts]),
        (_TESTED_COLUMNS, [_tested_cells(tested) for tested in group.tested]),
    ):
        if lines:
            cells = tuple((Cell(Verbatim(line[0])), *(Cell(text) for text in line[1:])) for line in lines)
            typer.echo("\n" + table(Table(tuple(Column(name, is_number=False) for name in columns), cells)))
    typer.echo()


def _head(group: Group) -> list[str]:
    """What was compared, on what, and how sure it is."""
    noisy = sum(contrast.found.method not in ("exact", "none") for contrast in group.contrasts)
    lines = [group.title, *(_side(group, side) for side in group.sides)]
    ratio = "strategy / " + group.headings[1] if len(group.sides) == 1 else "new / old"
    lines.append(f"ratio: {ratio}, with its {CONFIDENCE:.0%} interval".replace("%", " %") + _by_chance(noisy))
    if any(run_group.is_simulated for run_group in group.sides.values()):
        lines.append("simulated: nothing was measured, seconds follow from a model's coefficients")
    lines += [f"differs: {difference}" for difference in group.differences]
    return lines + [f"note: {note}" for note in group.notes]


def _by_chance(noisy: int) -> str:
    if not noisy:
        return "; all figures are exact or undecided"
    return f"; of {noisy} intervals some {noisy * (1 - CONFIDENCE):.2g} leave out 1 by chance alone"


def _side(group: Group, side: str) -> str:
    run_group = group.sides[side]
    counts = ", ".join(f"{row.strategy} {_runs(row)}" for row in run_group.rows)
    folders = ", ".join(str(folder) for folder in group.folders[side])
    return f"{side}: {len(run_group.usable_runs)} runs of {folders}: {counts}"


def _runs(row: Row) -> str:
    told = gaps(row)
    return f"{row.runs} ({told})" if told else str(row.runs)


def _columns(group: Group) -> tuple[str, ...]:
    return ("strategy", "metric", *group.headings, "ratio", "95 % interval", "n", "method", "verdict")


def _cells(contrast: Contrast) -> tuple[str, ...]:
    found, unit = contrast.found, contrast.metric.unit
    return (
        contrast.strategy,
        contrast.metric.name,
        format_value(unit, contrast.figure),
        format_value(unit, contrast.other_figure),
        _ratio(found),
        _interval(found),
        _n(contrast),
        _METHODS[found.method],
        _verdict(contrast),
    )


def _ratio(found: Comparison) -> str:
    """The ratio, an exact one near 1 with the digits that tell it from 1."""
    if found.ratio is None:
        return MISSING
    is_close = found.method == "exact" and found.ratio != 1 and abs(found.ratio - 1) < 0.01
    return f"{found.ratio:.6g}x" if is_close else human_ratio(found.ratio)


def _interval(found: Comparison) -> str:
    if found.method == "exact" or found.low is None or found.high is None:
        return MISSING
    return format_range(found.low, found.high)


def _n(contrast: Contrast) -> str:
    """Pairs, or the runs of each group."""
    if contrast.is_paired or contrast.runs == contrast.other_runs:
        return str(contrast.found.n)
    return f"{contrast.runs} / {contrast.other_runs}"


def _verdict(contrast: Contrast) -> str:
    found = contrast.found
    said = f"{found.verdict}, {contrast.judged}" if contrast.judged else found.verdict
    return f"{said}: {found.reason}" if found.reason else said


_TESTED_COLUMNS = ("strategy", "limit", "outcome", "because")


def _tested_cells(tested: Tested) -> tuple[str, ...]:
    return (tested.contrast.strategy, tested.limit.kept, tested.outcome, _because(tested.contrast))


def _because(contrast: Contrast) -> str:
    found, unit = contrast.found, contrast.metric.unit
    figures = " against ".join(format_value(unit, v) for v in (contrast.figure, contrast.other_figure))
    if found.low is None or found.high is None or found.ratio is None:
        return f"{figures}: {found.reason}"
    if found.method == "exact":
        return f"{figures}: exactly {_ratio(found)}"
    interval = f"95 % interval {format_range(found.low, found.high)}, n = {_n(contrast)}"
    return f"{figures}: {human_ratio(found.ratio)}, {interval}"


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
    """One comparison for programs; keys are never renamed."""
    found = contrast.found
    return {
        "strategy": contrast.strategy, "against": contrast.other, "metric": contrast.metric.name,
        "unit": contrast.metric.unit, "figure": contrast.figure, "against_figure": contrast.other_figure,
        "ratio": found.ratio, "low": found.low, "high": found.high, "n": found.n, "runs": contrast.runs,
        "against_runs": contrast.other_runs, "method": found.method, "verdict": found.verdict,
        "judged": contrast.judged, "reason": found.reason,
    }  # fmt: skip


def _print_csv(groups: Sequence[Group]) -> None:
    lines = [
        {name: told[name] for name in ("scenario", "workload", "format", "mode")} | record
        for told in map(_json, groups)
        for record in told["comparisons"]
    ]
    writer = csv.DictWriter(sys.stdout, list(lines[0]))
    writer.writeheader()
    writer.writerows(lines)
    for group in groups:
        for line in [*_head(group), *(": ".join(_tested_cells(tested)) for tested in group.tested)]:
            ERR.print(line, markup=False, highlight=False, soft_wrap=True)
