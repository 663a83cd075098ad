"""The options of `rewrite_data_files`, parsed, and the thresholds that follow from them.

Sources: Iceberg SizeBasedFileRewritePlanner, BinPackRewriteFilePlanner and, for sorting,
SparkShufflingDataRewritePlanner, all at 1.11.0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from strategies.java_values import long_of, parse_boolean, parse_double, parse_int, parse_long
from strategies.options import NumberOption, at_least, read_fields
from strategies.state import GIB, KIB

NO_LIMIT_BYTES = 2**62  # a target file size that no file reaches, for writers that make one file
_SPLIT_OVERHEAD_BYTES = 5 * KIB  # SPLIT_OVERHEAD
_MIN_FACTOR, _MAX_FACTOR = 0.75, 1.80  # MIN_FILE_SIZE_DEFAULT_RATIO, MAX_FILE_SIZE_DEFAULT_RATIO
_TOLERATED_FACTOR = 1.1  # expectedOutputFiles: by how much the mean file may exceed the target


class JobOrder(StrEnum):
    """The order in which groups run."""

    NONE = "none"
    BYTES_ASC = "bytes-asc"
    BYTES_DESC = "bytes-desc"
    FILES_ASC = "files-asc"
    FILES_DESC = "files-desc"


def job_order(texts: Mapping[str, str]) -> JobOrder:
    """Parse a job order as `RewriteJobOrder.fromName` does: case-insensitive, "Bytes_DESC" as "bytes-desc".

    Raises ValueError on an unknown order.
    """
    text = texts.get("rewrite-job-order", "none")
    name = text.replace("-", "_", 1).upper()
    if name not in JobOrder.__members__:
        raise ValueError(f"rewrite-job-order={text!r} must be one of {', '.join(JobOrder)}")
    return JobOrder[name]


# Types and ranges: SizeBasedFileRewritePlanner, BinPackRewriteFilePlanner, SparkShufflingDataRewritePlanner,
# SparkShufflingFileRewriteRunner, SparkZOrderFileRewriteRunner and RewriteDataFilesSparkAction at 1.11.0.
TARGET_SIZE = at_least("target-file-size-bytes", parse_long, 1)
MIN_SIZE = at_least("min-file-size-bytes", parse_long, 0)
MAX_SIZE = NumberOption("max-file-size-bytes", parse_long)
SHUFFLE_PARTITIONS = at_least("shuffle-partitions-per-file", parse_int, 1)
_BY_FIELD: Mapping[str, NumberOption[Any]] = {  # of `RewriteOptions`
    "min_input_files": at_least("min-input-files", parse_int, 1),
    "max_file_group_bytes": at_least("max-file-group-size-bytes", parse_long, 1),
    "max_file_group_files": at_least("max-file-group-input-files", parse_long, 1),
    "delete_file_threshold": at_least("delete-file-threshold", parse_int, 0),
    "delete_ratio_threshold": NumberOption(
        "delete-ratio-threshold", parse_double, "> 0 and <= 1", lambda value: 0 < value <= 1
    ),
    "max_files": at_least("max-files-to-rewrite", parse_int, 1),
    "compression_factor": NumberOption("compression-factor", parse_double, "> 0", lambda value: value > 0),
}
_NUMBERS: tuple[NumberOption[Any], ...] = (
    TARGET_SIZE, MIN_SIZE, MAX_SIZE, SHUFFLE_PARTITIONS, *_BY_FIELD.values(),
    at_least("max-concurrent-file-group-rewrites", parse_int, 1),
    NumberOption("partial-progress.max-commits", parse_int),
    NumberOption("partial-progress.max-failed-commits", parse_int),
    NumberOption("output-spec-id", parse_int),
    at_least("max-output-size", parse_int, 1),
    at_least("var-length-contribution", parse_int, 1),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RewriteOptions:
    """The options that the planner uses.

    `delete_file_threshold`, `max_files` and `max_file_group_files` are None if there is no limit.

    Raises ValueError if newly written files would immediately count as too small or too large.
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
        target = f"target-file-size-bytes={self.target_bytes}: every new file would be too"
        if self.min_bytes >= self.target_bytes:
            raise ValueError(f"min-file-size-bytes={self.min_bytes} must be below {target} small")
        if self.max_bytes <= self.target_bytes:
            raise ValueError(f"max-file-size-bytes={self.max_bytes} must be above {target} large")

    @property
    def max_output_file_bytes(self) -> int:
        """The size at which a writer rolls over to a new file.

        It is half-way from target to maximum, so that a small excess over the target does not become a tiny
        file of its own.
        """
        return int(self.target_bytes + (self.max_bytes - self.target_bytes) * 0.5)

    def is_right_size(self, size_bytes: int) -> bool:
        return self.min_bytes <= size_bytes <= self.max_bytes

    def is_group_due(self, files_count: int, input_bytes: int) -> bool:
        """Whether a group is worth a rewrite, apart from deletes (`filterFileGroups`).

        It is with enough files or content to merge; even a single file above the maximum must be split.
        """
        is_enough = files_count >= self.min_input_files or input_bytes > self.target_bytes
        return (files_count > 1 and is_enough) or input_bytes > self.max_bytes

    def too_many_deletes(self, delete_files_count: int) -> bool:
        """Then a data file is rewritten whatever its size."""
        return self.delete_file_threshold is not None and delete_files_count >= self.delete_file_threshold

    def too_high_delete_ratio(self, deleted_rows: int, rows: int) -> bool:
        """Then a data file is rewritten whatever its size.

        `deleted_rows` counts file-scoped deletes only: the metadata of others does not give rows per file.
        """
        return rows > 0 and deleted_rows / rows >= self.delete_ratio_threshold

    def expected_output_files(self, input_bytes: int) -> int:
        """How many files a rewrite of `input_bytes` should produce.

        At a target of 512 MiB, 563 MiB become one file and 564 MiB two.
        """
        if self.is_shuffled:
            input_bytes = long_of(input_bytes * self.compression_factor)
        if input_bytes < self.target_bytes:
            return 1
        without_remainder, remainder = divmod(input_bytes, self.target_bytes)
        with_remainder = without_remainder + (remainder > 0)
        if remainder > self.min_bytes:
            # The remainder is large enough for a file that the next rewrite will leave alone.
            return with_remainder
        mean_bytes = input_bytes // without_remainder
        if mean_bytes < min(_TOLERATED_FACTOR * self.target_bytes, float(self.max_output_file_bytes)):
            # Distributed over the other files, the remainder makes each less than a tenth larger than the
            # target. So it does not need a small file of its own.
            return without_remainder
        # There are too few other files to absorb the remainder: one small file is better than only too
        # large ones.
        return with_remainder

    def split_bytes(self, input_bytes: int) -> int:
        """The bytes that one task should read: an output file's share plus overhead, at least the target.

        It is limited to `max_output_file_bytes`, so that a task writes one file.
        """
        share = input_bytes // self.expected_output_files(input_bytes) + _SPLIT_OVERHEAD_BYTES
        return self.target_bytes if share < self.target_bytes else min(share, self.max_output_file_bytes)


def for_sorting(target_bytes: int) -> RewriteOptions:
    """The options by which an explicit group that sorts is split: the defaults of `rewrite_data_files`."""
    return rewrite_options({}, target_bytes, is_shuffled=True)


def rewrite_options(
    texts: Mapping[str, str], default_target_bytes: int, is_shuffled: bool = False
) -> RewriteOptions:
    """Parse Iceberg's option texts. Options that do not affect the plan are ignored.

    Raises ValueError if Java cannot parse a text as a number, or if a number is out of range.
    """
    target_bytes = TARGET_SIZE.read(texts, default_target_bytes)
    SHUFFLE_PARTITIONS.read_if_given(texts)  # it affects no figure, but Iceberg rejects an invalid value
    return RewriteOptions(
        target_bytes=target_bytes,
        min_bytes=MIN_SIZE.read(texts, int(target_bytes * _MIN_FACTOR)),
        max_bytes=MAX_SIZE.read(texts, int(target_bytes * _MAX_FACTOR)),
        rewrite_all=parse_boolean(texts.get("rewrite-all", "false")),
        job_order=job_order(texts),
        is_shuffled=is_shuffled,
        **read_fields(_BY_FIELD, texts),
    )


def check_option_texts(texts: Mapping[str, str]) -> None:
    """Raise ValueError on the first text that Iceberg would reject for any table.

    `rewrite_options` checks the sizes against the target, which may come from the table.
    """
    job_order(texts)
    for option in _NUMBERS:
        option.read_if_given(texts)
