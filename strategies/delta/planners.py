"""Planners that run Delta's commands: they decide when and where, Delta decides which files."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import ClassVar

from strategies.delta.commands import Command
from strategies.delta.files import DeltaState
from strategies.delta.optimize_options import (
    OPTIMIZE_OPTIONS,
    PURGING_OPTIONS,
    SORTING_OPTIONS,
    optimize_options,
    optimize_texts,
)
from strategies.options import OptionValue
from strategies.partitions import fields_of
from strategies.plan import Action, Capability, Compact, Native, Plan, Reason, state_as
from strategies.planner import Planner, PlannerTraits
from strategies.state import TableState

_DAYS_AGO_MAX = 36_525  # a century


@dataclass(frozen=True, slots=True)
class Optimize(Planner):
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
        if any(not 0 <= days <= _DAYS_AGO_MAX for days in self.days_ago):
            raise ValueError(
                f"days_ago={self.days_ago} must be between 0 and {_DAYS_AGO_MAX}: 1 is the day before the "
                "evaluation"
            )
        if self.min_small_files < 0:
            raise ValueError(f"min_small_files={self.min_small_files} must be >= 0")
        optimize_texts(self.options, self.known_options)

    @property
    def _chooses(self) -> bool:
        """Whether it looks at the table to choose partitions."""
        return bool(self.days_ago) or self.min_small_files > 0

    def traits(self) -> PlannerTraits:
        if self._chooses:
            return PlannerTraits(needs=frozenset({Capability.COMPACT}))
        return _command_traits(Command.OPTIMIZE, self.where)

    def decide(self, state: TableState) -> Plan | None:
        texts = optimize_texts(self.options, self.known_options)
        if not self._chooses:
            return _plan(_command(Command.OPTIMIZE, self.where, texts))
        partitions = self._partitions(state, texts)
        if not partitions:
            return None
        reason = Reason.SMALL_FILES if self.min_small_files else Reason.SCHEDULED
        return _plan(Compact(partitions, texts), reason)

    def _partitions(self, state: TableState, texts: Mapping[str, str]) -> tuple[str, ...]:
        small_bytes = optimize_options(texts, state.target_file_size_bytes).min_file_bytes
        files = state_as(DeltaState, state).data_files
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


@dataclass(frozen=True, slots=True)
class ZOrder(Planner):
    """Run OPTIMIZE with ZORDER BY, which rewrites every file of the table or of the partitions of `where`.

    Rows that are close in `columns` come into the same files, so that queries on any of these columns can
    skip more files. It rewrites all files each time, whether anything has changed or not. `options` have the
    names of Delta's settings `spark.databricks.delta.optimize.*`.
    """

    columns: tuple[str, ...]
    where: str | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    known_options: ClassVar[Mapping[str, str]] = SORTING_OPTIONS

    def __post_init__(self) -> None:
        if not self.columns:
            raise ValueError("columns=() must name at least one column to order by")
        optimize_texts(self.options, self.known_options)

    def traits(self) -> PlannerTraits:
        return _command_traits(Command.ZORDER, self.where, self.columns)

    def decide(self, state: TableState) -> Plan | None:
        texts = optimize_texts(self.options, self.known_options)
        return _plan(_command(Command.ZORDER, self.where, texts, columns=", ".join(self.columns)))


@dataclass(frozen=True, slots=True)
class Reorg(Planner):
    """Run REORG TABLE with APPLY (PURGE), which rewrites every file that has a deleted row.

    OPTIMIZE leaves such a file alone if there is nothing to merge it with, however many of its rows are
    deleted. `where` is a predicate on partition columns. `options` have the names of Delta's settings
    `spark.databricks.delta.optimize.*`.
    """

    where: str | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    known_options: ClassVar[Mapping[str, str]] = PURGING_OPTIONS

    def __post_init__(self) -> None:
        optimize_texts(self.options, self.known_options)

    def traits(self) -> PlannerTraits:
        return _command_traits(Command.REORG, self.where)

    def decide(self, state: TableState) -> Plan | None:
        texts = optimize_texts(self.options, self.known_options)
        return _plan(_command(Command.REORG, self.where, texts), Reason.DELETES)


@dataclass(frozen=True, slots=True)
class Vacuum(Planner):
    """Run VACUUM, which deletes files that left the table more than `retain_ms` of scenario time ago.

    Older versions can no longer be read afterwards. Delta's default is 7 days
    (delta.deletedFileRetentionDuration), which is longer than most scenarios.
    """

    retain_ms: int = 7 * 86_400_000

    def __post_init__(self) -> None:
        if not self.retain_ms >= 0:
            raise ValueError(f"retain_ms={self.retain_ms} must be >= 0")

    def traits(self) -> PlannerTraits:
        return _command_traits(Command.VACUUM)

    def decide(self, state: TableState) -> Plan | None:
        keep_from_ms = state.observed_at_ms - self.retain_ms
        if keep_from_ms <= 0:
            return None
        return _plan(Native(Command.VACUUM, {"older_than_at_ms": str(keep_from_ms)}), Reason.RETENTION)


@dataclass(frozen=True, slots=True)
class Repartition(Planner):
    """Compact by hand, as before Delta 1.2: overwrite partitions with `dataChange` set to false.

    Every partition with more than `files` files is read, repartitioned and rewritten into so many files,
    whatever their sizes.
    """

    files: int = 1

    def __post_init__(self) -> None:
        if self.files < 1:
            raise ValueError(f"files={self.files} must be >= 1")

    def traits(self) -> PlannerTraits:
        return PlannerTraits(needs=frozenset({Command.REPARTITION}))

    def decide(self, state: TableState) -> Plan | None:
        partitions = state_as(DeltaState, state).partitions
        due = [name for name, stats in partitions.items() if stats.files_count > self.files]
        actions = tuple(
            Native(Command.REPARTITION, {"partition": partition, "files": str(self.files)})
            for partition in due
        )
        return Plan(actions, Reason.SMALL_FILES) if actions else None


def _command_traits(
    command: Command, where: str | None = None, columns: tuple[str, ...] = ()
) -> PlannerTraits:
    """The traits of a planner that leaves the choice of files to a command, within `where`."""
    needs = {command} if where is None else {command, Capability.ROW_FILTER}
    return PlannerTraits(needs=frozenset(needs), columns=columns, reads_state=False)


def _command(command: Command, where: str | None, options: Mapping[str, str], **arguments: str) -> Native:
    return Native(command, arguments if where is None else {**arguments, "where": where}, options)


def _plan(action: Action, reason: Reason = Reason.SCHEDULED) -> Plan:
    return Plan((action,), reason)
