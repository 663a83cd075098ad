"""The summary: a row per strategy."""

from bench.results.metrics import LATENCY
from bench.results.rows import BASELINE, Row
from bench.text import human_percent
from reports.data.group import RunGroup
from reports.page.tables import (
    Cell,
    Column,
    Table,
    by_columns,
    compared,
    figure_cell,
    has_values,
    latency_unit,
    metric_cells,
)
from reports.phrases import Verbatim
from reports.verdicts.apart import not_told_apart
from reports.verdicts.best import DRAWS, on_front
from reports.verdicts.page_verdicts import PageVerdicts
from reports.verdicts.pareto_front import dominated, points
from reports.verdicts.repeating import MODELLED_TOLERANCE
from reports.verdicts.unmodelled import unmodelled

_COLUMNS = (  # after the costs; metrics that no run has a value of are left out
    (LATENCY, "Query mean", ""),  # followed by the comparison with `never`
    ("query_after_commit_s", "Query after commit", ""),
    ("query_p95_s", "Query p95", ""),
    ("compactions", "Compactions", ""),
    ("compaction_added_bytes", "Compaction added", ""),
    ("write_amplification", "Write amplification", ""),
    ("space_amplification", "Space amplification", ""),
    ("files_end", "Files at end", ""),
)
_CAPTION = "Every strategy: what it costs, how fast queries are, and what it leaves"
_NOTE = (
    "Means over the runs, with the lowest and the highest run. Bold: the lowest mean among the strategies "
    "that compacted, whether or not the difference is significant. An interval that contains 1 is "
    "inconclusive, as is one marked as unproven: verdicts are corrected for the number of comparisons on the "
    "page (Holm). No interval: too few repetitions."
)
_OF_DRAWS = (
    f"On the front: how often a strategy is on the Pareto front in {DRAWS} draws of all costs and latencies "
    "from their noise."
)
_OF_FORMATS = "The format of the scenario, and each variant in another one, has bold figures of its own."
_OF_VARIANTS = f"A strategy in a variant is compared with {BASELINE} of that variant."
_MODELLED_NOTE = "Times and bytes are modelled. Bold: the lowest among the strategies that compacted."


def summary(group: RunGroup, verdicts: PageVerdicts) -> Table:
    """The best of the strategies that compacted is marked in each column, significant or not."""
    costs = dict.fromkeys((group.cost, group.compaction_cost))
    metrics = (*((cost.metric, cost.title, "s") for cost in costs), *_COLUMNS)
    known = [m for m in metrics if has_values(group.rows, m[0])]
    latencies = [name for name, _, _ in known if name.startswith("query_")]
    per_second, unit = latency_unit(group.rows, latencies)
    shown = [(Column("Strategy", is_number=False), _names(group, verdicts))]
    for name, title, other_unit in known:
        cells = metric_cells(group.rows, name, per_second if name in latencies else 1.0)
        shown.append((Column(title, unit if name in latencies else other_unit), cells))
        if name == LATENCY and any(verdicts.with_baseline(row) for row in group.rows):
            ratios = [compared(verdicts.with_baseline(row)) for row in group.rows]
            shown.append((Column(f"Query mean vs {BASELINE}", "95 % CI"), ratios))
    shares = {label: share for part in group.parts for label, share in on_front(part).items()}
    if shares:
        shown.append(
            (
                Column("On the front", "of draws"),
                [figure_cell("share", shares.get(label)) for label in group.strategies],
            )
        )
    shown.append((Column("Runs"), [_runs(group, row) for row in group.rows]))
    of_formats = (_OF_FORMATS,) if len(group.parts) > 1 else ()
    of_variants = (_OF_VARIANTS,) if any(row.variant is not None for row in group.rows) else ()
    of_draws = (_OF_DRAWS,) if shares else ()
    note = " ".join((_MODELLED_NOTE if group.is_simulated else _NOTE, *of_draws, *of_formats, *of_variants))
    return by_columns(shown, note, caption=_CAPTION)


def _names(group: RunGroup, verdicts: PageVerdicts) -> list[Cell]:
    """The strategies; for dominated ones and ones that cannot be compared, with the reason."""
    better = {label: other for part in group.parts for label, other in dominated(points(part)).items()}
    alike = {label: other for part in group.parts for label, other in not_told_apart(part).items()}
    unproven = {label for part in group.parts for label in verdicts.unproven(part)}

    def why(label: str) -> str:
        if label in alike:
            within = f"equal to {alike[label]} within {human_percent(MODELLED_TOLERANCE)}"
            return within if group.is_simulated else f"not told apart from {alike[label]}"
        by_better = f"dominated by {better[label]}" if label in better else ""
        return f"{by_better}, unproven" if label in unproven else by_better

    metrics = group.cost_metric, LATENCY
    return [
        Cell(Verbatim(label), unmodelled(group, label, *metrics) or why(label)) for label in group.strategies
    ]


def _runs(group: RunGroup, row: Row) -> Cell:
    """The number of usable runs, such as "3", or "2 of 3"."""
    usable, started = len(row.repetitions), sum(r.manifest.strategy == row.strategy for r in group.runs)
    return Cell(f"{usable}" if usable == started else f"{usable} of {started}", value=float(usable))
