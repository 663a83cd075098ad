"""Which strategy is the cheapest in money, where the scenario's prices decide that."""

from collections.abc import Mapping

from bench.results.rows import Row
from reports.data.group import RunGroup
from reports.verdicts.samples import samples
from reports.verdicts.timings import mean_interval
from reports.verdicts.unmodelled import unmodelled

MONEY = "money_per_day"


def by_money(group: RunGroup) -> tuple[Row, ...]:
    """The strategies to choose from, the cheapest first; empty unless the money of all is known.

    Money that leaves out queries decides nothing, since compaction pays off in queries alone.
    """
    rows = [row for row in group.choices if row.runs and unmodelled(group, row.strategy) is None]
    known = [(money, place) for place, row in enumerate(rows) if (money := row.values[MONEY]) is not None]
    if group.manifest.queries_per_h is None or len(known) < max(2, len(rows)):
        return ()
    return tuple(rows[place] for _, place in sorted(known))


def money_intervals(group: RunGroup) -> Mapping[str, tuple[float, float] | None]:
    """The 95 % interval of each strategy's money a day; None where its noise is not known."""
    known = {} if group.is_simulated else samples(group.whole or group, MONEY)
    return {label: mean_interval(known, label) for label in known}


def with_cheapest(group: RunGroup) -> list[tuple[str, str, str]]:
    """The comparisons by which the cheapest strategy is told from the others."""
    rows = by_money(group)
    return [(MONEY, other.strategy, rows[0].strategy) for other in rows[1:]]
