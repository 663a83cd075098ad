"""The planner that runs OPTIMIZE: it decides when and on which partitions, Delta decides which files."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import ClassVar

from strategies.delta.calls import call
from strategies.delta.commands import Command
from strategies.delta.files import delta_state
from strategies.delta.optimize_options import (
    OPTIMIZE_OPTIONS,
    optimize_options,
    optimize_texts,
)
from strategies.options import OptionValue
from strategies.partitions import fields_of
from strategies.plan import Capability, Compact, Plan, Reason
from strategies.state import TableState

DAYS_AGO_MAX = 36_525  # a century


@dataclass(frozen=True, slots=True)
class Optimize:
    """Run OPTIMIZE, which merges small files and rewrites those with many deleted rows.

    `where` is a predicate on partition columns. `days_ago` restricts it to partitions of those days before
    the day of the evaluation (0 is that day itself), in a table partitioned by day. `min_small_files`
    restricts it to partitions with at least so many files smaller than minFileSize, which is what automatic
    compaction means to do: it counts files of any size, and only those that its own session has written, and
    compacts a partition at the first write into it.

    `options` have the names of Delta's settings `spark.databricks.delta.optimize.*`; sizes may have units,
    such as "128MiB". On a table with liquid clustering OPTIMIZE clusters, and only the whole table.
    """

    where: str | None = None
    days_ago: tuple[int, ...] = ()
    min_small_files: int = 0
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    known_options: ClassVar[Mapping[str, str]] = OPTIMIZE_OPTIONS

    def __post_init__(self) -> None:
        if self.where is not None and self._chooses:
            raise ValueError(f"where={self.where!r} cannot be combined with days_ago or min_small_files")
        if any(not 0 <= days <= DAYS_AGO_MAX for days in self.days_ago):
            raise ValueError(
                f"days_ago={self.days_ago} must be between 0 and {DAYS_AGO_MAX}: 1 is the day before the "
                "evaluation"
            )
        if self.min_small_files < 0:
            raise ValueError(f"min_small_files={self.min_small_files} must be >= 0")
        optimize_texts(self.options, self.known_options)

    @property
    def _chooses(self) -> bool:
        """Whether it looks at the table to choose partitions."""
        return bool(self.days_ago) or self.min_small_files > 0

    @property
    def reads_state(self) -> bool:
        return self._chooses

    @property
    def needs(self) -> frozenset[str]:
        """The capabilities its plan requires; `where` requires more than the command does."""
        if self._chooses:
            return frozenset({Capability.COMPACT})
        return frozenset({Command.OPTIMIZE, *([Capability.ROW_FILTER] if self.where is not None else [])})

    def decide(self, state: TableState) -> Plan | None:
        if not self._chooses:
            return call(Command.OPTIMIZE, {"where": self.where}, self.options, self.known_options)
        texts = optimize_texts(self.options, self.known_options)
        partitions = self._partitions(state, texts)
        if not partitions:
            return None
        reason = Reason.SMALL_FILES if self.min_small_files else Reason.SCHEDULED
        return Plan((Compact(partitions, texts),), reason)

    def _partitions(self, state: TableState, texts: Mapping[str, str]) -> tuple[str, ...]:
        small_bytes = optimize_options(texts, state.target_file_size_bytes).min_file_bytes
        files = delta_state(state).data_files
        small = Counter(file.partition for file in files if file.size_bytes < small_bytes)
        days = self._days(state)
        return tuple(
            partition
            for partition in state.partitions
            if small[partition] >= self.min_small_files
            and (days is None or not days.isdisjoint(fields_of(partition).values()))
        )

    def _days(self, state: TableState) -> frozenset[str] | None:
        """The days as partition values; None for any day, and none if the day is not known."""
        if not self.days_ago:
            return None
        today = state.calendar_day
        return frozenset(
            () if today is None else ((today - timedelta(days=ago)).isoformat() for ago in self.days_ago)
        )
