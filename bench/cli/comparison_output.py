"""The output of `compare`: what was compared, what differs, the figures and the limits."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import typer

from bench.cli.comparison import Group, Tested
from bench.cli.figure_table import scaled
from bench.cli.output import print_csv, print_heading, print_json, print_paragraph, print_remark, print_tables
from bench.cli.results_argument import gaps
from bench.cli.tables import Column
from bench.results.records import QUICK_WORDS
from bench.results.rows import Row
from bench.text import MISSING, counted, human_percent, human_ratio
from reports.page.markdown import escape, table
from reports.page.tables import Cell, Table
from reports.page.tables import Column as PageColumn
from reports.phrases import Verbatim, format_range
from reports.verdicts.compare import CONFIDENCE, Comparison
from reports.verdicts.contrasts import (
    Contrast,
    confirmatory_metrics,
)

_METHODS = {
    "paired t on log ratios": "paired t", "Welch's t on logs": "Welch's t",
    "t on means of sittings": "t of sittings", "exact": "exact", "tolerance": "tolerance",
    "modelled": "modelled", "none": MISSING,
}  # fmt: skip


_CERTAIN = ("exact", "tolerance", "modelled")


_NO_INTERVAL = (*_CERTAIN, "none")


class ComparisonFormat(StrEnum):
    """How `compare` prints its answer."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def print_groups(
    groups: Sequence[Group], output: ComparisonFormat, named: Sequence[str], everything: bool
) -> None:
    """Print the comparisons to stdout. With CSV, what they are about and the limits go to stderr.

    For people, those that say nothing are left out unless `everything` is wanted or their metric is `named`.
    """
    if output is ComparisonFormat.JSON:
        print_json({"confidence": CONFIDENCE, "groups": [_json(group) for group in groups]})
    elif output is ComparisonFormat.CSV:
        _print_csv(groups)
    else:
        for group in groups:
            shown = _shown(group.contrasts, () if everything else named, everything)
            folded = len(group.contrasts) - len(shown)
            if folded:
                left = f"{counted(folded, 'comparison')} of equal or missing figures, or beside 0"
                group = group.with_notes([f"left out: {left} (--all shows all)"])
            (_print_markdown if output is ComparisonFormat.MARKDOWN else _print_table)(group, shown)


def _shown(contrasts: Sequence[Contrast], named: Sequence[str], everything: bool) -> tuple[Contrast, ...]:
    """Decided comparisons first, of these the confirmatory ones; without those that say nothing."""
    kept = [c for c in contrasts if everything or c.metric.name in named or _says_something(c)]
    return tuple(sorted(kept, key=lambda c: (_rank(c.comparison), c.role != "confirmatory")))


def _says_something(contrast: Contrast) -> bool:
    """Whether it is more than that figures are equal, are missing, or are compared with 0.

    What a strategy costs is shown even beside a baseline that costs nothing.
    """
    comparison = contrast.comparison
    if comparison.verdict == "equal":
        return False
    if contrast.role == "confirmatory" and comparison.verdict in ("more", "less"):
        return True
    return comparison.ratio is not None or (comparison.verdict == "undecided" and comparison.n > 0)


def _rank(comparison: Comparison) -> int:
    if comparison.verdict in ("more", "less"):
        return 0
    return 1 if comparison.low is not None else 2


def _print_table(group: Group, shown: Sequence[Contrast]) -> None:
    print_heading(group.place)
    for line in _head(group):
        print_paragraph(line)
    comparisons = [_cells(contrast) for contrast in shown]
    limits = [_tested_cells(tested) for tested in group.tested]
    tables = (("", _columns(group), comparisons), ("", _TESTED_COLUMNS, limits))
    print_tables(table for table in tables if table[2])
    for line in _verdict_lines(group):
        print_paragraph(line)


def _print_markdown(group: Group, shown: Sequence[Contrast]) -> None:
    typer.echo(f"### {escape(group.place)}\n\n" + "\n".join(f"- {escape(line)}" for line in _head(group)))
    for columns, lines in (
        (_columns(group), [_cells(contrast) for contrast in shown]),
        (_TESTED_COLUMNS, [_tested_cells(tested) for tested in group.tested]),
    ):
        if lines:
            cells = tuple((Cell(Verbatim(line[0])), *(Cell(text) for text in line[1:])) for line in lines)
            headings = tuple(PageColumn(column.title, is_number=False) for column in columns)
            typer.echo("\n" + table(Table(headings, cells)))
    for line in _verdict_lines(group):
        typer.echo(f"\n{escape(line)}")
    typer.echo()


def _verdict_lines(group: Group) -> list[str]:
    """What came of the limits, and what fails the build without one."""
    counts = Counter(tested.outcome for tested in group.tested)
    summary = ", ".join(
        f"{counts[name]} {name}" for name in ("broken", "missing", "cannot tell") if counts[name]
    )
    limits = [f"limits: {summary or 'all hold'}"] if group.tested else []
    return limits + [f"failed: {failure}" for failure in group.failures]


def _head(group: Group) -> list[str]:
    """What was compared, from which runs, and how certain the answer is."""
    lines = [group.title, *(_side(group, side) for side in group.sides)]
    ratio = "strategy / " + group.headings[1] if len(group.sides) == 1 else "new / old"
    lines.append(f"ratio: {ratio}, with its {CONFIDENCE:.0%} interval".replace("%", " %") + _certainty(group))
    if group.is_simulated:
        lines.append("simulated: nothing was measured, all times come from a cost model")
    if group.is_quick:
        lines.append(QUICK_WORDS)
    lines += [f"differs: {difference}" for difference in group.differences]
    return lines + [f"note: {note}" for note in group.notes]


def _certainty(group: Group) -> str:
    """How many verdicts rest on noisy figures, and which of them are corrected for their number."""
    noisy = [contrast for contrast in group.contrasts if contrast.comparison.method not in _NO_INTERVAL]
    if not noisy:
        return "; no figure here has an interval"
    exploratory = sum(contrast.role == "exploratory" for contrast in noisy)
    corrected = len(noisy) - exploratory
    names = " and ".join(confirmatory_metrics(next(iter(group.sides.values()))))
    parts = (
        [f"; {names}: {counted(corrected, 'verdict')}, family-wise error 5 % (Holm)"] if corrected else [""]
    )
    if exploratory:
        expected = f"{exploratory * (1 - CONFIDENCE):.2g}"
        parts.append(f"; {counted(exploratory, 'exploratory interval')}: about {expected} miss by chance")
    return "".join(parts)


def _side(group: Group, side: str) -> str:
    run_group = group.sides[side]
    counts = ", ".join(f"{row.strategy} {_runs(row)}" for row in run_group.rows)
    folders = ", ".join(str(folder) for folder in group.folders[side])
    return f"{side}: {counted(len(run_group.usable_runs), 'run')} from {folders}: {counts}"


def _runs(row: Row) -> str:
    unused = gaps(row)
    return f"{row.runs} ({unused})" if unused else str(row.runs)


def _columns(group: Group) -> tuple[Column, ...]:
    """The columns, and in which order they are left out where they do not fit: the method first."""
    figure, other = group.headings
    return (
        Column("strategy"), Column("metric"), Column(figure, drop=4), Column(other, drop=3),
        Column("ratio"), Column("95 % interval", drop=5, shown="if any"), Column("runs", drop=2),
        Column("method", drop=1), Column("verdict"),
    )  # fmt: skip


def _cells(contrast: Contrast) -> tuple[str, ...]:
    comparison = contrast.comparison
    return (
        contrast.strategy,
        contrast.metric.name,
        *figures(contrast.metric.unit, contrast.figure, contrast.other_figure),
        _ratio(comparison),
        _interval(comparison),
        _n(contrast),
        _METHODS[comparison.method],
        _verdict(contrast),
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
    if comparison.method in _NO_INTERVAL or comparison.low is None or comparison.high is None:
        return MISSING
    return format_range(comparison.low, comparison.high)


def _n(contrast: Contrast) -> str:
    """The runs behind a comparison: "3" pairs, or "3 / 2" runs on either side."""
    return str(contrast.runs) if contrast.is_paired else f"{contrast.runs} / {contrast.other_runs}"


def _verdict(contrast: Contrast) -> str:
    comparison = contrast.comparison
    verdict = f"{comparison.words}, {contrast.judged}" if contrast.judged else comparison.words
    if contrast.role == "exploratory" and comparison.method not in _NO_INTERVAL:
        verdict += " (exploratory)"
    return f"{verdict}: {comparison.reason}" if comparison.reason else verdict


_TESTED_COLUMNS = (Column("strategy"), Column("limit"), Column("outcome"), Column("reason"))


def _tested_cells(tested: Tested) -> tuple[str, ...]:
    return (tested.contrast.strategy, tested.limit.kept, tested.outcome, _reason(tested))


def _reason(tested: Tested) -> str:
    contrast, comparison = tested.contrast, tested.contrast.comparison
    if tested.outcome == "missing":
        return "no run has this figure"
    both = " vs ".join(figures(contrast.metric.unit, contrast.figure, contrast.other_figure))
    if comparison.low is None or comparison.high is None or comparison.ratio is None:
        return f"{both}: {comparison.reason}"
    if comparison.method in _CERTAIN:
        return f"{both}: {_without_noise(comparison)}"
    reason = f"{both}: {human_ratio(comparison.ratio)}, 95 % interval "
    reason += f"{format_range(comparison.low, comparison.high)}, {contrast.sample}"
    return f"{reason}; {_provable(tested)}" if tested.outcome == "cannot tell" else reason


def _without_noise(comparison: Comparison) -> str:
    """A ratio without an interval: "exactly 2x", "modelled 2x", "1.01x (tolerance 2 %)"."""
    if comparison.method == "tolerance" and comparison.tolerance:
        return f"{_ratio(comparison)} (tolerance {human_percent(comparison.tolerance)})"
    return f"{'modelled' if comparison.method == 'modelled' else 'exactly'} {_ratio(comparison)}"


def _provable(tested: Tested) -> str:
    """What the runs could have proven, so that a reader knows how many more are needed."""
    least = tested.limit.provable(tested.contrast.comparison, tested.tests)
    n = tested.contrast.comparison.n
    return f"n = {n} at the noise seen here proves {least}"


def _json(group: Group) -> dict[str, Any]:
    manifest = next(iter(group.sides.values())).manifest
    formats = {row.strategy: row.format for run_group in group.sides.values() for row in run_group.rows}
    return {
        **{name: getattr(manifest, name) for name in ("scenario", "workload", "format", "mode")},
        "formats": formats,
        "compared": group.title,
        "folders": {side: [str(folder) for folder in folders] for side, folders in group.folders.items()},
        "runs": {side: {row.strategy: row.runs for row in s.rows} for side, s in group.sides.items()},
        "differences": [
            {"field": d.field, "values": list(d.values), "runs": [str(run.folder) for run in d.runs]}
            for d in group.differences
        ],
        "is_quick": group.is_quick,
        "notes": list(group.notes),
        "failures": list(group.failures),
        "comparisons": [_record(contrast) for contrast in group.contrasts],
        "conditions": [
            {
                **_record(tested.contrast),
                "condition": tested.limit.condition,
                "outcome": tested.outcome,
                "explanation": _reason(tested),
            }
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
        "runs": contrast.runs, "against_runs": contrast.other_runs, "paired": contrast.is_paired,
        "method": comparison.method, "role": contrast.role, "p": comparison.p,
        "adjusted_p": comparison.adjusted_p, "tolerance": comparison.tolerance,
        "verdict": comparison.verdict, "judged": contrast.judged, "reason": comparison.reason,
    }  # fmt: skip


def _print_csv(groups: Sequence[Group]) -> None:
    lines = [
        {name: answer[name] for name in ("scenario", "workload")}
        | {"format": answer["formats"][record["strategy"]], "mode": answer["mode"]}
        | record
        for answer in map(_json, groups)
        for record in answer["comparisons"]
    ]
    if lines:
        print_csv(list(lines[0]), [list(line.values()) for line in lines])
    for group in groups:
        tested = [": ".join(_tested_cells(tested)) for tested in group.tested]
        for line in [*_head(group), *tested, *_verdict_lines(group)]:
            print_remark(line)
