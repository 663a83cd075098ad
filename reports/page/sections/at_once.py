"""What it costs that writer, compactor and readers work at once: lateness, conflicts, slower queries."""

from collections.abc import Mapping

from bench.text import MISSING, human_duration, human_ratio
from reports.data.group import RunGroup
from reports.page.blocks import Block, Prose
from reports.page.tables import Cell, Column, Table, latency_unit, metric_cells, strategy_table
from reports.phrases import Sentence, Verbatim, format_range, joined, say, sentence
from reports.verdicts.phases import COMPACTIONS_MIN, PhaseEffect, phase_effect

_LATE = (
    ("commit_since_due_p50_s", "median"),
    ("commit_since_due_p95_s", "95th percentile"),
    ("commit_since_due_p99_s", "99th percentile"),
    ("commit_since_due_max_s", "maximum"),
)
_QUERIES = (("query_mean_s", "mean"), ("query_p95_s", "95th percentile"))
_COUNTS = (
    ("redone_commits", "Commits done again", ""),
    ("compactions", "Compactions", "committed"),
    ("lost_compactions", "Compactions", "lost"),
    ("unfinished_compactions", "Compactions", "lost, unfinished"),
)
_CPU = (("compaction_cpu_s", "CPU of compaction", "s"), ("wasted_cpu_s", "CPU lost", "s"))
_COMMITS_NOTE = (
    "Commit: real seconds since it was due. Lost: could not commit because of what others had committed "
    "meanwhile, or unfinished. Unfinished: stopped because it still ran when the time to drain after the "
    "stream was over. A commit that lost is done again. A minute of the scenario passes in {minute}."
)
_QUERIES_NOTE = (
    "Query: real seconds since it was due. Beside compactions: how many times as long queries took that "
    "began while one ran, at equal files and delete files opened, without what they waited for the query "
    "before, with the interval for these runs: other runs may differ by more. Left out are those that opened "
    "more or fewer files than any other query; a dash if fewer than {fewest} compactions are left. Waited "
    "for cores: how long runnable threads of all roles did, over their CPU time; latencies contain it."
)
_BESIDE = Column("Beside compactions", "95 % CI")


def at_once(group: RunGroup) -> tuple[Block, ...]:
    """Two tables with a row per strategy; nothing unless real roles worked at the same time."""
    if not group.manifest.is_live:
        return ()
    effects = {
        label: phase_effect(run for run in group.timed_runs if run.manifest.strategy == label)
        for label in group.strategies
    }
    known = {label: effect for label, effect in effects.items() if effect is not None}
    return (
        *((Prose(_slower(known)),) if known else ()),
        _commits(group),
        _queries(group, effects),
    )


def _slower(effects: Mapping[str, PhaseEffect]) -> Sentence:
    return sentence(
        "At equal files and delete files, a query that began while a compaction ran took {ratios}.",
        ratios=joined(
            [
                say(f"{_ratio(effect)} as long as others under ", Verbatim(label))
                for label, effect in effects.items()
            ]
        ),
    )


def _ratio(effect: PhaseEffect) -> str:
    return f"{human_ratio(effect.ratio)} ({format_range(effect.low, effect.high)})"


def _commits(group: RunGroup) -> Table:
    rows, minute = group.rows, human_duration(60 / group.manifest.speed)
    scale, unit = latency_unit(rows, [name for name, _ in _LATE])
    shown = [(Column("Commit", f"{of}, {unit}"), metric_cells(rows, name, scale)) for name, of in _LATE]
    shown += [(Column(title, of), metric_cells(rows, name)) for name, title, of in (*_COUNTS, *_CPU)]
    caption = "Commits and compactions at the same time"
    return strategy_table(rows, shown, _COMMITS_NOTE.format(minute=minute), caption)


def _queries(group: RunGroup, effects: Mapping[str, PhaseEffect | None]) -> Table:
    rows = group.rows
    scale, unit = latency_unit(rows, [name for name, _ in _QUERIES])
    shown = [(Column("Query", f"{of}, {unit}"), metric_cells(rows, name, scale)) for name, of in _QUERIES]
    shown.append((_BESIDE, [_beside(effects[row.strategy]) for row in rows]))
    shown.append((Column("Waited for cores", "times CPU"), metric_cells(rows, "run_delay_per_cpu")))
    note = _QUERIES_NOTE.format(fewest=COMPACTIONS_MIN)
    return strategy_table(rows, shown, note, "Queries at the same time as commits and compactions")


def _beside(effect: PhaseEffect | None) -> Cell:
    if effect is None:
        return Cell(MISSING)
    interval = format_range(effect.low, effect.high, "\N{EN DASH}")
    return Cell(human_ratio(effect.ratio), interval, value=effect.ratio)
