"""How a table is partitioned, and how the rows of a commit are distributed over its partitions."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from workloads.dates import DateWindow
from workloads.orders import EPOCH_MS
from workloads.words import vocabulary

Shares = tuple[tuple[str, float], ...]

DAY_S = 86_400
_COLUMNS = {"none": None, "day": "partition_day", "bucket": "partition_bucket", "city": "user_city"}
_RECORDED = "recorded"
_FIRST_DAY = date(1970, 1, 1) + timedelta(milliseconds=EPOCH_MS)


@dataclass(frozen=True, slots=True)
class Partitioning:
    """Partitioning by UTC day of `order_date`, by hash bucket of `order_id`, by `user_city`, or none.

    `by` is "none", "day", "bucket" or "city", or for an imported table "recorded"; `buckets` applies to
    "bucket" only. `recorded_columns` are the columns of an imported table's partition paths, in their order.
    """

    by: str = "none"
    buckets: int = 8
    recorded_columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.by not in (*_COLUMNS, _RECORDED):
            raise ValueError(f"by={self.by!r} must be one of {', '.join(_COLUMNS)}")
        if self.buckets < 1:
            raise ValueError(f"buckets={self.buckets} must be >= 1")

    @property
    def is_recorded(self) -> bool:
        return self.by == _RECORDED

    @property
    def columns(self) -> tuple[str, ...]:
        if self.is_recorded:
            return self.recorded_columns
        return () if self.column is None else (self.column,)

    @property
    def column(self) -> str | None:
        """The first column."""
        if self.is_recorded:
            return next(iter(self.recorded_columns), None)
        return _COLUMNS[self.by]

    @property
    def derived(self) -> dict[str, str]:
        """Columns to add to the payload: name -> Spark SQL over the payload, independent of the time zone."""
        if self.by == "day":
            day = f"CAST(order_date div {DAY_S * 1000} AS INT)"
            return {"partition_day": f"CAST(date_from_unix_date({day}) AS STRING)"}
        if self.by == "bucket":
            return {"partition_bucket": f"CAST(pmod(xxhash64(order_id), {self.buckets}) AS INT)"}
        return {}

    def shares(self, seed: int, dates: DateWindow) -> Shares:
        """The expected share (0..1, sum 1) of a commit's rows in each partition that it can touch.

        A partition is named like "partition_day=2026-01-01"; it is "" in an unpartitioned table.
        """
        if self.by == "day":
            return tuple((f"{self.column}={day}", share) for day, share in _day_shares(dates))
        values: tuple[object, ...] = ()
        if self.by == "bucket":
            values = tuple(range(self.buckets))
        if self.by == "city":
            values = vocabulary(seed, "cities")
        return tuple((f"{self.column}={value}", 1 / len(values)) for value in values) or (("", 1.0),)


def _day_shares(dates: DateWindow) -> Iterator[tuple[str, float]]:
    first_day = math.floor(dates.earliest_s / DAY_S)
    end_day = math.ceil(dates.to_s / DAY_S)
    for day in range(first_day, end_day):
        share = dates.share_before((day + 1) * DAY_S) - dates.share_before(day * DAY_S)
        if share > 0:
            yield (_FIRST_DAY + timedelta(days=day)).isoformat(), share
