"""Amoro's health score of a table, from 0 (worst) to 100.

Every partition has the same weight. Clean files of the target size are not counted, so a partition of such
files alone is healthy. Source: upstream `CommonPartitionEvaluator.getHealthScore` and
`AbstractOptimizingEvaluator.PendingInput`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from strategies.amoro.evaluation import Partition
from strategies.amoro.options import Settings

_SMALL, _EQUALITY, _POSITION = 40, 40, 20  # the maximum of each score


@dataclass(frozen=True, slots=True)
class Health:
    """Scores for small files (up to 40), equality deletes (up to 40) and position deletes (up to 20)."""

    small_files: int
    equality_deletes: int
    position_deletes: int

    @property
    def total(self) -> int:
        return self.small_files + self.equality_deletes + self.position_deletes


def health(partitions: Sequence[Partition], settings: Settings) -> Health:
    """The mean scores of the partitions, rounded up; without a partition every score is at its maximum."""
    scores = [partition_health(partition, settings) for partition in partitions]
    return Health(
        _mean([score.small_files for score in scores], _SMALL),
        _mean([score.equality_deletes for score in scores], _EQUALITY),
        _mean([score.position_deletes for score in scores], _POSITION),
    )


def partition_health(partition: Partition, settings: Settings) -> Health:
    """The mean file size is not truncated, as since upstream's ddd4ec46 (#3807)."""
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
    """How much the partition's problems count, from 0 (hardly any files or bytes) to 1."""
    data = partition.counted
    if data.files_count <= 1:
        return 0.0
    by_count = _share(data.files_count, settings.minor_files_count)
    return by_count * _share(data.size_bytes, settings.min_target_bytes)


def _share(part: float, whole: float) -> float:
    """`part` as a share of `whole`, at most 1; 0 if `whole` is not positive."""
    return 0.0 if whole <= 0 else min(part, whole) / whole


def _rounded_up(score: float) -> int:
    """The score as Java casts it to an int: NaN, which a ratio of NaN leads to, becomes 0."""
    return 0 if math.isnan(score) else math.ceil(score)


def _mean(scores: Sequence[int], default: int) -> int:
    return math.ceil(sum(scores) / len(scores)) if scores else default
