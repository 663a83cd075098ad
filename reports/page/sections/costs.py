"""What each strategy costs: compaction, and what it causes in maintenance, evaluations and commits."""

from bench.results.rows import BASELINE
from reports.data.cost import TOTAL_CPU
from reports.data.group import RunGroup
from reports.page.sections.summary import BREAK_EVEN, break_evens
from reports.page.tables import Column, Table, metric_cells, strategy_table
from reports.verdicts.page_verdicts import PageVerdicts

_COST = ""  # stands for the cost of compaction, as the group recorded it
_COLUMNS = (  # without metrics that are unknown or 0 in all runs
    (_COST, "", "s"),
    ("jit_share", "Of it JIT", ""),
    ("compaction_executor_cpu_s", "Of it in tasks", "s"),
    ("maintenance_cpu_s", "Maintenance CPU", "s"),
    ("maintenance_freed_bytes", "Freed by it", ""),
    ("evaluation_cpu_s", "Evaluation CPU", "s"),
    ("policy_cpu_s", "Policy CPU", "s"),
    ("commit_cpu_s", "Commit CPU", "s"),
    ("total_cpu_s", TOTAL_CPU.title, "s"),
    ("compaction_peak_rss_bytes", "Peak memory", "process"),
    ("compaction_peak_heap_bytes", "Peak memory", "Java heap"),
    ("money_per_day", "Cost per day", "currency"),
    (BREAK_EVEN, "Break-even", "queries per hour"),
)
_NOTES = (  # shown with the columns they explain
    ("jit_share", "JIT: the share of compaction CPU that Java's compiler took; it falls as a process ages."),
    (
        "commit_cpu_s",
        "Commits write the same rows under every strategy, but metadata that a strategy leaves behind makes "
        "them more expensive, and its writer or table properties may change what they do.",
    ),
    (
        BREAK_EVEN,
        f"Break-even: with more queries per hour than this, the strategy costs less CPU than {BASELINE} over "
        f"this scenario. It falls as a scenario gets longer, since the table of {BASELINE} only grows.",
    ),
)
_TOTAL = "Policy: compaction, maintenance and evaluations. Total: policy and commits."
# Evaluations have no model.
_MODELLED_TOTAL = "Policy: compaction and maintenance. Total: policy and commits."
_CAPTION = "Over the whole stream"


def costs(group: RunGroup, verdicts: PageVerdicts) -> Table | None:
    """A row per strategy; None if only the compactions themselves were accounted for."""
    cost = group.compaction_cost
    metrics = [(cost.metric, cost.title, "s") if c[0] == _COST else c for c in _COLUMNS]
    known = [c for c in metrics if any(row.values[c[0]] for row in group.rows)]  # above 0 somewhere
    if len(known) < 2:
        return None
    shown = [
        (Column(title, group.manifest.currency if unit == "currency" else unit),
         break_evens(group, verdicts) if name == BREAK_EVEN else metric_cells(group.rows, name))
        for name, title, unit in known
    ]  # fmt: skip
    names = {name for name, _, _ in known}
    notes = ["Times are modelled."] if group.is_simulated else []
    if "policy_cpu_s" in names:
        notes.append(_MODELLED_TOTAL if group.is_simulated else _TOTAL)
    notes += [text for name, text in _NOTES if name in names]
    return strategy_table(group.rows, shown, " ".join(notes), _CAPTION)
