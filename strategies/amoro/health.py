"""Amoro's health score, 0 (sick) to 100, as it reports it for a table (reference 3.1).

Every partition weighs the same. Clean files of the target size are in no figure, so a partition that has
nothing else is healthy. Source: upstream `CommonPartitionEvaluator.getHealthScore` and
`AbstractOptimizingEvaluator.PendingInput`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from strategies.amoro.clocks import read_clocks
from strategies.amoro.evaluation import Partition, amoro_index, evaluate, filtered
from strategies.amoro.options import Settings
from strategies.iceberg.files import IcebergState

_SMALL, _EQUALITY, _POSITION = 40, 40, 20  # the most of each score


@dataclass(frozen=True, slots=True)
class Health:
    """Scores of small files (at most 40), equality deletes (40) and position deletes (20)."""

    small_files: int
    equality_deletes: int
    position_deletes: int

    @property
    def total(self) -> int:
        """The health score: their sum."""
        return self.small_files + self.equality_deletes + self.position_deletes


def health(state: IcebergState, settings: Settings) -> Health:
    """The scores of the table as it stands, each the mean over partitions rounded up.

    Where optimizing is disabled no file is looked at, and the score is the highest. Raises ValueError as
    `amoro_index` and `PartitionFilter.admits` do.
    """
    if not settings.is_enabled:
        return Health(_SMALL, _EQUALITY, _POSITION)
    full_due = read_clocks(state).is_full_due(settings)
    partitions = evaluate(filtered(state.data_files, settings), amoro_index(state), settings, full_due)
    own = [partition_health(partition, settings) for partition in partitions]
    return Health(
        _mean([h.small_files for h in own], _SMALL),
        _mean([h.equality_deletes for h in own], _EQUALITY),
        _mean([h.position_deletes for h in own], _POSITION),
    )


def partition_health(partition: Partition, settings: Settings) -> Health:
    """The scores of one partition. The mean file size is a fraction, since upstream's ddd4ec46 (#3807)."""
    data, ratio = partition.counted, settings.duplicate_ratio
    weight = _weight(partition, settings)
    mean_bytes = data.size_bytes / data.files_count if data.files_count else 0.0
    small = 1 - _share(mean_bytes, settings.min_target_bytes)
    equality = _share(_share(partition.equality.rows, data.rows), ratio)
    position = _share(_share(partition.position.rows, data.rows), ratio * 2)
    return Health(
        _rounded_up(_SMALL - weight * _SMALL * small),
        _rounded_up(_EQUALITY - weight * _EQUALITY * equality),
        _rounded_up(_POSITION - weight * _POSITION * position),
    )


def _weight(partition: Partition, settings: Settings) -> float:
    """How much a partition of so few files and bytes can hurt, 0 to 1."""
    data = partition.counted
    if data.files_count <= 1:
        return 0.0
    by_count = _share(data.files_count, settings.minor_files_count)
    return by_count * _share(data.size_bytes, settings.min_target_bytes)


def _share(part: float, whole: float) -> float:
    """`part` of `whole`, at most 1; 0 of nothing."""
    return 0.0 if whole <= 0 else min(part, whole) / whole


def _rounded_up(score: float) -> int:
    """As Java casts: a score that is no number, as by a ratio of NaN, is 0."""
    return 0 if math.isnan(score) else math.ceil(score)


def _mean(scores: Sequence[int], without_any: int) -> int:
    return math.ceil(sum(scores) / len(scores)) if scores else without_any
