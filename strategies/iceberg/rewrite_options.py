"""The options of `rewrite_data_files` as numbers, and the sizes that follow from them.

Sources: Iceberg SizeBasedFileRewritePlanner, BinPackRewriteFilePlanner and, for sorting,
SparkShufflingDataRewritePlanner, all at 1.11.0.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from strategies.state import GIB, KIB

Number = TypeVar("Number", int, float)

_SPLIT_OVERHEAD_BYTES = 5 * KIB  # SPLIT_OVERHEAD
_MIN_FACTOR, _MAX_FACTOR = 0.75, 1.80  # MIN_FILE_SIZE_DEFAULT_RATIO, MAX_FILE_SIZE_DEFAULT_RATIO
_TOLERATED_FACTOR = 1.1  # expectedOutputFiles: how far the mean file may exceed the target


class JobOrder(StrEnum):
    """Which groups run first."""

    NONE = "none"
    BYTES_ASC = "bytes-asc"
    BYTES_DESC = "bytes-desc"
    FILES_ASC = "files-asc"
    FILES_DESC = "files-desc"


@dataclass(frozen=True, slots=True)
class RewriteOptions:
    """What the planner decides by.

    `delete_file_threshold`, `max_files` and `max_file_group_files` are None where there is no limit.

    Raises ValueError when new files would count as too small or too large at once, or when a number is
    out of its range.
    """

    target_bytes: int
    min_bytes: int
    max_bytes: int
    min_input_files: int = 5
    rewrite_all: bool = False
    max_file_group_bytes: int = 100 * GIB
    max_file_group_files: int | None = None
    delete_file_threshold: int | None = None
    delete_ratio_threshold: float = 0.3
    max_files: int | None = None
    job_order: JobOrder = JobOrder.NONE
    is_shuffled: bool = False
    compression_factor: float = 1.0

    def __post_init__(self) -> None:
        _demand(self.target_bytes > 0, "target-file-size-bytes", self.target_bytes, "> 0")
        _demand(self.min_bytes >= 0, "min-file-size-bytes", self.min_bytes, ">= 0")
        below_target = f"below target-file-size-bytes={self.target_bytes}: every new file would be too small"
        _demand(self.min_bytes < self.target_bytes, "min-file-size-bytes", self.min_bytes, below_target)
        above_target = f"above target-file-size-bytes={self.target_bytes}: every new file would be too large"
        _demand(self.max_bytes > self.target_bytes, "max-file-size-bytes", self.max_bytes, above_target)
        _demand(self.min_input_files > 0, "min-input-files", self.min_input_files, "> 0")
        _demand(self.max_file_group_bytes > 0, "max-file-group-size-bytes", self.max_file_group_bytes, "> 0")
        _demand(
            0 < self.delete_ratio_threshold <= 1,
            "delete-ratio-threshold",
            self.delete_ratio_threshold,
            "> 0 and <= 1",
        )
        _demand(self.compression_factor > 0, "compression-factor", self.compression_factor, "> 0")
        for name, given, least in (
            ("max-file-group-input-files", self.max_file_group_files, 1),
            ("delete-file-threshold", self.delete_file_threshold, 0),
            ("max-files-to-rewrite", self.max_files, 1),
        ):
            _demand(given is None or given >= least, name, given, f">= {least}")

    @property
    def max_output_file_bytes(self) -> int:
        """Where a writer starts another file: half-way from target to maximum, so that no tail is cut off."""
        return int(self.target_bytes + (self.max_bytes - self.target_bytes) * 0.5)

    def is_right_size(self, size_bytes: int) -> bool:
        """Whether a file of `size_bytes` is left alone for its size."""
        return self.min_bytes <= size_bytes <= self.max_bytes

    def is_worth_it(self, files_count: int, input_bytes: int) -> bool:
        """Whether a group is rewritten for its size. A single file only is where it is too large."""
        has_enough = files_count >= self.min_input_files or input_bytes > self.target_bytes
        return (files_count > 1 and has_enough) or input_bytes > self.max_bytes

    def expected_output_files(self, input_bytes: int) -> int:
        """How many files a group of `input_bytes` should become.

        A remainder above the minimum becomes a file of its own. A smaller one is spread over the others
        while their mean stays under 1.1 x target: 563 MiB at 512 MiB is one file, 564 MiB are two.
        """
        if self.is_shuffled:
            input_bytes = int(input_bytes * self.compression_factor)
        if input_bytes < self.target_bytes:
            return 1
        whole, remainder = divmod(input_bytes, self.target_bytes)
        tolerated = min(_TOLERATED_FACTOR * self.target_bytes, float(self.max_output_file_bytes))
        if remainder <= self.min_bytes and input_bytes // whole < tolerated:
            return whole
        return whole + (remainder > 0)

    def split_bytes(self, input_bytes: int) -> int:
        """How much one task should read: an output file's share and some slack, from target to maximum."""
        share = input_bytes // self.expected_output_files(input_bytes) + _SPLIT_OVERHEAD_BYTES
        return self.target_bytes if share < self.target_bytes else min(share, self.max_output_file_bytes)


def for_sorting(target_bytes: int) -> RewriteOptions:
    """How an explicit group that sorts is cut into files: as by `rewrite_data_files` without options."""
    return rewrite_options({}, target_bytes, is_shuffled=True)


def rewrite_options(
    given: Mapping[str, str], default_target_bytes: int, is_shuffled: bool = False
) -> RewriteOptions:
    """Read Iceberg's option texts. Options that do not touch the plan are passed over.

    Raises ValueError when a text is no number, or its number is out of range.
    """
    target_bytes = _number(given, "target-file-size-bytes", int, default_target_bytes)
    order = given.get("rewrite-job-order", "none")
    if order.lower() not in list(JobOrder):
        raise ValueError(f"rewrite-job-order={order!r} must be one of {', '.join(JobOrder)}")
    shuffle_count = _number(given, "shuffle-partitions-per-file", int, 1)
    _demand(shuffle_count > 0, "shuffle-partitions-per-file", shuffle_count, "> 0")
    return RewriteOptions(
        target_bytes=target_bytes,
        min_bytes=_number(given, "min-file-size-bytes", int, int(target_bytes * _MIN_FACTOR)),
        max_bytes=_number(given, "max-file-size-bytes", int, int(target_bytes * _MAX_FACTOR)),
        min_input_files=_number(given, "min-input-files", int, 5),
        rewrite_all=given.get("rewrite-all", "false").lower() == "true",
        max_file_group_bytes=_number(given, "max-file-group-size-bytes", int, 100 * GIB),
        max_file_group_files=_number_or_none(given, "max-file-group-input-files"),
        delete_file_threshold=_number_or_none(given, "delete-file-threshold"),
        delete_ratio_threshold=_number(given, "delete-ratio-threshold", float, 0.3),
        max_files=_number_or_none(given, "max-files-to-rewrite"),
        job_order=JobOrder(order.lower()),
        is_shuffled=is_shuffled,
        compression_factor=_number(given, "compression-factor", float, 1.0),
    )


def _number(given: Mapping[str, str], name: str, read: Callable[[str], Number], default: Number) -> Number:
    text = given.get(name)
    if text is None:
        return default
    try:
        return read(text)
    except ValueError as error:
        raise ValueError(f"{name}={text!r} must be a number") from error


def _number_or_none(given: Mapping[str, str], name: str) -> int | None:
    return _number(given, name, int, 0) if name in given else None


def _demand(met: bool, name: str, value: object, rule: str) -> None:
    if not met:
        raise ValueError(f"{name}={value} must be {rule}")
