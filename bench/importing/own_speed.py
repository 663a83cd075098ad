"""How fast the cluster of an imported table is, by the durations of commits that the table records."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from bench.runs.committing import committed
from bench.scenario.scenario import Scenario
from workloads.history import ticks_of
from workloads.history_file import TableHistory

_COMMITS_MIN = 5
_FACTOR_MAX = 10  # beyond which the model does not describe what wrote the table


@dataclass(frozen=True, slots=True)
class OwnSpeed:
    """Medians of `commits_count` commits, as recorded and as modelled, in wall seconds.

    `factor` is the median of modelled over recorded, the `resources.core_speed` that makes both alike.
    """

    commits_count: int
    recorded_s: float
    modelled_s: float
    factor: float


def own_speed(history: TableHistory, scenario: Scenario) -> OwnSpeed | None:
    """None if the history has fewer than 5 commits with a duration, or far other ones than the model.

    `scenario` replays the history with its own compactions, so that commits meet the table that they met.
    """
    ticks = ticks_of(
        (commit.at_ms for commit in history.commits), history.facts.from_ms, scenario.commit_interval_ms
    )
    recorded = {
        tick: commit.wall_s
        for tick, commit in zip(ticks, history.commits, strict=True)
        if commit.wall_s and not commit.is_compaction
    }
    if len(recorded) < _COMMITS_MIN:
        return None
    modelled = dict(_modelled(scenario, recorded))
    ratios = [wall_s / recorded[tick] for tick, wall_s in modelled.items()]
    if not ratios or not 1 / _FACTOR_MAX <= median(ratios) <= _FACTOR_MAX:
        return None
    return OwnSpeed(
        len(ratios), median(recorded[tick] for tick in modelled), median(modelled.values()), median(ratios)
    )


def _modelled(scenario: Scenario, of: Mapping[int, float]) -> Iterator[tuple[int, float]]:
    """The wall seconds of the commits at some ticks."""
    for _, batch, outcome in committed(scenario, scenario.strategies[0]):
        if batch.spec.index in of:
            yield batch.spec.index, outcome.cost.wall_s
