"""Upsert: a CDC stream of inserts, updates and deletes on a table that is loaded first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from workloads import changes, orders
from workloads.arrival import Arrival, Constant
from workloads.commit import CommitSpec, KeyShape, PartitionShape, check, check_counts
from workloads.dates import DateWindow
from workloads.keys import KeyChoice, Skew
from workloads.mix import Mix, MixShares, mix_of
from workloads.partitioning import DAY_S, Partitioning, Shares
from workloads.schema import ColumnCount, Schema, schema_of
from workloads.spread import KeyPartitions, blended, change_shapes, data_shapes, whole_parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The expected size of initial files as a ratio of the target size. It is chosen so that the files end up in
# the range of 0.75 to 1.0 that no planner considers small. The actual size is up to 1.1 times the expected
# one in tables of 17 columns, whose bytes were measured with dates of a minute, and of 40 columns, because of
# their dictionaries. From eight files per partition on, each is expected to reach at least 0.75 (0.87 x 7/8).
_FILL_RATIO = 0.87


@dataclass(frozen=True, slots=True)
class Upsert:
    """CDC stream: `rows_per_commit` changes of a loaded table on average, by `files_per_commit` tasks.

    A share `insert_share` (0..1) of the changes inserts an order, `delete_share` deletes one, and the rest
    updates one. `key_skew` is the key distribution of updates and deletes: "uniform", "zipf" (hot keys
    scattered over the table) or "recent-first", the last two with exponent `key_exponent`. An update of an
    order that was deleted inserts it again, and a delete of it has no effect. A share `repeat_share` of the
    updates and deletes hits an order that the same commit changed before. A share `move_share` of the updates
    moves the row to a random city and to the day of the change.

    A share `late_share` of the changes happened up to `late_by_s` before the interval of their commit, by
    their `ts` (and the order date of an insert); they are applied when they arrive, as Flink does. A share
    `duplicate_share` (0 to 0.5) of the deliveries repeats the change delivered before.

    The stream starts from `initial_rows` orders, dated within `initial_span_s` before it and loaded as commit
    0 by `initial_files` tasks; 0 means as many as give files of 0.75 to 1.0 of the table's target size. With
    `initial_order` "random" their dates have nothing to do with their keys; with "by-date" the newest keys
    belong to the last days, so that a key_skew of "recent-first" changes the last days most.
    `arrival` says how traffic varies over time. `columns` is the number of columns of the table
    (`workloads.schema`); with 3, an update that does not move its row writes the same row again.

    Raises ValueError, which names the field and its value.
    """

    rows_per_commit: int
    files_per_commit: int
    initial_rows: int
    initial_files: int = 0
    initial_span_s: float = 30 * 86_400.0
    arrival: Arrival = field(default_factory=Constant)
    insert_share: float = 0.5
    delete_share: float = 0.05
    key_skew: Skew = "uniform"
    key_exponent: float = 1.0
    repeat_share: float = 0.0
    move_share: float = 0.0
    late_share: float = 0.0
    late_by_s: float = 86_400.0
    duplicate_share: float = 0.0
    columns: ColumnCount = 17
    initial_order: Literal["random", "by-date"] = "random"
    stream_epoch_ms: ClassVar[int] = orders.EPOCH_MS
    is_cdc: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_counts(self, rows_per_commit=1, files_per_commit=1, initial_rows=1, initial_files=0)
        for name in ("insert_share", "delete_share", "repeat_share", "move_share", "late_share"):
            check(name, getattr(self, name), 0 <= getattr(self, name) <= 1, "in [0, 1]")
        others_share = 1 - self.insert_share
        fits = self.delete_share <= others_share + 1e-9
        check("delete_share", self.delete_share, fits, f"<= {others_share:g} = 1 - insert_share")
        check("duplicate_share", self.duplicate_share, 0 <= self.duplicate_share <= 0.5, "in [0, 0.5]")
        skews = get_args(Skew)
        check("key_skew", self.key_skew, self.key_skew in skews, f"one of {', '.join(skews)}")
        for name in ("initial_span_s", "late_by_s", "key_exponent"):
            value = getattr(self, name)
            check(name, value, value > 0 and math.isfinite(value), "> 0 and finite")
        schema_of(self.columns)

    @property
    def schema(self) -> Schema:
        return schema_of(self.columns, self.initial_order == "random")

    @property
    def moves_rows(self) -> bool:
        return self.move_share > 0

    def sized_for(self, target_file_size_bytes: int, seed: int, partitioning: Partitioning) -> Upsert:
        """The workload with `initial_files` set, unless the scenario sets it."""
        if self.initial_files:
            return self
        partitions = len(partitioning.shares(seed, self._initial_dates))
        # By the sizes as they were measured: the number of files is part of the stream.
        partition_bytes = schema_of(self.columns).expected_bytes(self.initial_rows) / partitions
        files = max(1, math.ceil(partition_bytes / (_FILL_RATIO * target_file_size_bytes)))
        return replace(self, initial_files=files)

    def shape(
        self, seed: int, commits_count: int, commit_interval_ms: int, partitioning: Partitioning
    ) -> Iterator[CommitSpec]:
        """The location of an old row is estimated from the orders inserted so far, ignoring later moves."""
        old, choice = KeyPartitions(), self._choice
        yield self._load(seed, partitioning)
        for count, dates in self._initial_parts():
            old.add(count, dates.to_s, partitioning.shares(seed, dates))
        first_row = population = self.initial_rows
        for index in range(1, commits_count + 1):
            from_ms, at_ms = (index - 1) * commit_interval_ms, index * commit_interval_ms
            rows = self.arrival.rows(index, from_ms, at_ms, self.rows_per_commit, f"{seed}/arrival")
            new = partitioning.shares(seed, self._dates(from_ms, at_ms))
            mix = self._mix(seed, index, rows)
            hit = round(choice.distinct(mix.draws, population))
            keys = KeyShape(population, mix.inserts, hit, choice)
            yield CommitSpec(
                index=index, at_ms=at_ms, first_row=first_row, rows=mix.deliveries,
                inserts=mix.inserts + mix.twice_inserts, updates=mix.updates + mix.twice_updates,
                deletes=mix.deletes + mix.twice_deletes, writers=self.files_per_commit,
                partitions=self._shapes(seed, index, mix, hit, new, old.shares(choice)), keys=keys,
            )  # fmt: skip
            old.add(mix.inserts, at_ms / 1000, new)
            first_row += rows
            population += mix.inserts

    def rows(
        self, spark: SparkSession, seed: int, spec: CommitSpec, commit_interval_ms: int,
        earlier: DataFrame | None = None,
    ) -> DataFrame:  # fmt: skip
        if spec.keys is None:
            block = orders.RowBlock(spec.first_row, spec.rows, spec.writers, self._initial_dates, self.schema)
            return orders.rows(spark, seed, block)
        mix = self._mix(seed, spec.index, spec.rows)
        block_of_changes = changes.ChangeBlock(
            spec.first_row, spec.writers, mix, spec.keys,
            self._dates(spec.at_ms - commit_interval_ms, spec.at_ms), self._initial_dates,
            self.move_share, self.schema,
        )  # fmt: skip
        return changes.rows(spark, seed, block_of_changes, earlier)

    @property
    def _choice(self) -> KeyChoice:
        return KeyChoice(self.key_skew, self.key_exponent, self.initial_rows)

    @property
    def _initial_dates(self) -> DateWindow:
        ordered_rows = self.initial_rows if self.initial_order == "by-date" else 0
        return DateWindow(-self.initial_span_s, 0.0, ordered_rows=ordered_rows)

    def _initial_parts(self) -> Iterator[tuple[int, DateWindow]]:
        """Key counts and dates of the initial load in key order, one part per day if dates are ordered."""
        if self.initial_order == "random":
            yield self.initial_rows, self._initial_dates
            return
        from_s, keys_before = -self.initial_span_s, 0
        while from_s < 0:
            to_s = min(0.0, math.floor(from_s / DAY_S + 1) * DAY_S)
            keys = round(self.initial_rows * (1 + to_s / self.initial_span_s))
            yield keys - keys_before, DateWindow(from_s, to_s)
            from_s, keys_before = to_s, keys

    def _dates(self, from_ms: int, to_ms: int) -> DateWindow:
        return DateWindow(from_ms / 1000, to_ms / 1000, self.late_share, self.late_by_s)

    def _mix(self, seed: int, index: int, rows: int) -> Mix:
        shares = MixShares(self.insert_share, self.delete_share, self.repeat_share, self.duplicate_share)
        return mix_of(seed, index, rows, shares)

    def _load(self, seed: int, partitioning: Partitioning) -> CommitSpec:
        if not self.initial_files:
            raise ValueError("initial_files=0 must be resolved by sized_for before the stream is generated")
        shares = partitioning.shares(seed, self._initial_dates)
        shapes = data_shapes(self.schema, seed, 0, self.initial_rows, self.initial_files, shares)
        rows = self.initial_rows
        return CommitSpec(0, 0, 0, rows, rows, 0, 0, self.initial_files, shapes)

    def _shapes(
        self, seed: int, index: int, mix: Mix, hit: int, new: Shares, old: Shares
    ) -> tuple[PartitionShape, ...]:
        """Each delivery after the first for a key replaces a row of the same commit, unless after a delete.

        The replaced row is where new orders are if the repeat or second delivery hits one, otherwise where
        old rows are.
        """
        inserts = mix.inserts + mix.twice_inserts
        updates = mix.updates + mix.twice_updates
        repeated = mix.deliveries - mix.inserts - hit
        repeated_new = mix.twice_inserts + mix.repeats * mix.inserts / max(1, mix.inserts + mix.draws)
        not_deleted_share = (inserts + updates) / max(1, mix.deliveries)

        def landing(of_new: float, of_old: float) -> Shares:
            return blended((of_new + self.move_share * of_old, new), ((1 - self.move_share) * of_old, old))

        first_changes = blended((mix.inserts, new), (hit, old))
        superseded = round(repeated * not_deleted_share)
        replaced = landing(repeated_new, repeated - repeated_new)
        return change_shapes(
            self.schema,
            whole_parts(seed, f"partitions/{index}", inserts + updates, landing(inserts, updates)),
            whole_parts(seed, f"equality/{index}", mix.inserts + hit, first_changes),
            whole_parts(seed, f"position/{index}", superseded, replaced),
            self.files_per_commit,
        )
