"""What each strategy costs: compaction, and what it causes in maintenance, evaluations and commits."""

from collections.abc import Callable, Mapping

from bench.results.rows import BASELINE, Row
from bench.text import MISSING
from reports.load import RunGroup
from reports.page_verdicts import PageVerdicts
from reports.phrases import Verbatim
from reports.sections.summary import BREAK_EVEN, break_evens
from reports.tables import Cell, Column, Table, cost_title, has_values, metric_cells, seconds

_COST = ""  # stands for the cost metric of the group
_COMMITS = "commit_cpu_s"  # shown as what it is beyond that of `never`
_COLUMNS = (  # metrics that no run has a value of are left out
    (_COST, "", "s"),
    ("jit_share", "Of it JIT", ""),
    ("compaction_executor_cpu_s", "Of it in tasks", "s"),
    ("maintenance_cpu_s", "Maintenance CPU", "s"),
    ("evaluation_cpu_s", "Evaluation CPU", "s"),
    ("policy_cpu_s", "Total CPU", "s"),
    (_COMMITS, f"Commit CPU vs {BASELINE}", "s"),
    ("compaction_peak_rss_bytes", "Peak memory", "process"),
    ("compaction_peak_heap_bytes", "Peak memory", "Java heap"),
    ("money_per_day", "Cost per day", "currency"),
    (BREAK_EVEN, "Break-even", "queries per hour"),
)
_NOTES = (  # shown with the columns they explain
    ("jit_share", "JIT: the share of compaction CPU that Java's compiler took; it falls as a process ages."),
    ("policy_cpu_s", "Total: compaction, maintenance and evaluations."),
    (_COMMITS, f"Commits: their CPU beyond that of the same commits with {BASELINE}."),
    (
        BREAK_EVEN,
        f"Break-even: with more queries per hour than this, the strategy costs less CPU than {BASELINE} over "
        f"this scenario. It falls as a scenario gets longer, since the tables of {BASELINE} only grow.",
    ),
)
_CAPTION = "Over the whole stream"


def costs(group: RunGroup, verdicts: PageVerdicts) -> Table | None:
    """A row per strategy; None where nothing but the compactions themselves was accounted for."""
    metrics = [(group.cost_metric, cost_title(group), "s") if c[0] == _COST else c for c in _COLUMNS]
    known = [c for c in metrics if has_values(group.rows, c[0]) and _is_shown(group, c[0])]
    if len(known) < 2:
        return None
    cells = [[Cell(Verbatim(row.strategy)) for row in group.rows]]
    cells += [
        _SPECIAL[name](group, verdicts) if name in _SPECIAL else metric_cells(group.rows, name)
        for name, _, _ in known
    ]
    columns = (
        Column("Strategy", is_number=False),
        *(Column(title, group.manifest.currency if unit == "currency" else unit) for _, title, unit in known),
    )
    names = {name for name, _, _ in known}
    modelled = ("Times are modelled.",) if group.is_simulated else ()
    note = " ".join((*modelled, *(text for name, text in _NOTES if name in names)))
    return Table(columns, tuple(zip(*cells, strict=True)), note, caption=_CAPTION)


def _is_shown(group: RunGroup, name: str) -> bool:
    """Not what is nowhere above 0, and not what is compared with `never` where that did not run."""
    values = [row.values[name] for row in group.rows]
    return any(values) and (name != _COMMITS or any(row.is_baseline for row in group.rows))


def _beyond_never(group: RunGroup, verdicts: PageVerdicts) -> list[Cell]:
    """CPU of the commits minus that of the commits of `never` in the same variant, with a sign."""
    by_label = {row.strategy: row for row in group.rows}
    beyond = [_difference(row, by_label.get(row.baseline)) for row in group.rows]
    texts = seconds(None if value is None else abs(value) for value in beyond)
    signs = ["" if not value else "+" if value > 0 else "\N{MINUS SIGN}" for value in beyond]
    return [
        Cell(MISSING) if value is None else Cell(f"{sign}{text}", value=value)
        for value, sign, text in zip(beyond, signs, texts, strict=True)
    ]


def _difference(row: Row, never: Row | None) -> float | None:
    never_s, own_s = None if never is None else never.values[_COMMITS], row.values[_COMMITS]
    return None if own_s is None or never_s is None or row is never else own_s - never_s


_SPECIAL: Mapping[str, Callable[[RunGroup, PageVerdicts], list[Cell]]] = {
    _COMMITS: _beyond_never,
    BREAK_EVEN: break_evens,
}
