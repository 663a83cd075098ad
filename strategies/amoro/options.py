"""Amoro's table properties, parsed.

Times are milliseconds, as in Amoro, or a duration such as "1h". Sizes are bytes or a size such as "128MiB".
Every other value is parsed as Java parses it, with Java's ranges.

Source: upstream `TableProperties`, `TableConfigurations.parseOptimizingConfig` and `OptimizingConfig` at
96a4d78, and `PropertyUtil` of Iceberg 1.7.2.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from strategies.amoro.partition_filter import PartitionFilter, read_filter
from strategies.java_values import (
    MAX_INT,
    divided,
    long_of,
    parse_boolean,
    parse_double,
    parse_int,
    parse_long,
    text_of,
)
from strategies.options import OptionValue, check_known
from strategies.quantities import parse_bytes, parse_duration_ms
from strategies.state import MIB

_ELSEWHERE = "it changes no plan: how tasks run is up to the engine, when to evaluate is up to the trigger"
_GROUP = "set the planner's resources by its own fields threads and max_input_per_thread"
REFUSED_OPTIONS: Mapping[str, str] = {
    "self-optimizing.max-file-count": "it has no effect on native Iceberg tables, contrary to Amoro's guide",
    "self-optimizing.group": _GROUP,
    "self-optimizing.quota": f"it limits the tasks that run at once, not the plan; {_GROUP}",
    "self-optimizing.allow-partial-commit": _ELSEWHERE,
    "self-optimizing.execute.num-retries": _ELSEWHERE,
    "self-optimizing.refresh-table.adaptive.max-interval-ms": _ELSEWHERE,
    "self-optimizing.refresh-table.adaptive.increase-step-ms": _ELSEWHERE,
    "self-optimizing.rewrite.use-parquet-row-group-merge.enabled": _ELSEWHERE,
    "self-optimizing.rewrite.use-parquet-row-group-merge.min-avg-row-group-size-bytes": _ELSEWHERE,
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the planner; a negative interval is off."""

    is_enabled: bool = True
    filter: PartitionFilter | None = None
    target_bytes: int = 128 * MIB
    max_task_bytes: int = 128 * MIB
    fragment_ratio: int = 8
    min_target_ratio: float = 0.75
    minor_files_count: int = 12
    minor_interval_ms: int = 3_600_000
    duplicate_ratio: float = 0.1
    full_interval_ms: int = -1
    full_rewrites_all: bool = True
    min_plan_interval_ms: int = 60_000
    fallback_interval_ms: int = -1
    mse_tolerance_bytes: int = 0
    open_file_cost_bytes: int = 4 * MIB

    @property
    def fragment_bytes(self) -> int:
        """The size of the largest fragment: 16 MiB at a target of 128 MiB."""
        return divided(self.target_bytes, self.fragment_ratio)

    @property
    def min_target_bytes(self) -> int:
        """The size of the largest file that has not reached the target: 96 MiB at a target of 128 MiB."""
        return long_of(self.target_bytes * self.min_target_ratio)

    @property
    def task_bytes(self) -> int:
        return max(self.target_bytes, self.max_task_bytes)

    @property
    def warning(self) -> str:
        """The warning that Amoro logs about the sizes at every evaluation; "" if they are consistent.

        At a ratio of 0.9 a file of 115 MiB is undersized, and every other undersized file is larger than
        16 MiB, so the two never fit into 128 MiB. Source: CommonPartitionEvaluator's constructor.
        """
        if self.min_target_bytes <= self.target_bytes - self.fragment_bytes:
            return ""
        return (
            f"min-target-size-ratio={self.min_target_ratio} is large: an undersized file of "
            f"{self.min_target_bytes} bytes can be merged with no other within {self.target_bytes} bytes"
        )


def read_settings(options: Mapping[str, OptionValue]) -> Settings:
    """Parse Amoro's options. Raises ValueError if one is unknown, has no effect here or is out of range."""
    for name, reason in REFUSED_OPTIONS.items():
        if name in options:
            raise ValueError(f"option {name} = {options[name]!r} is not supported: {reason}; leave it out")
    check_known(options, KNOWN_OPTIONS)
    values: dict[str, Any] = {_OPTIONS[name].field: _read(name, value) for name, value in options.items()}
    return Settings(**values)


@dataclass(frozen=True, slots=True)
class _Option:
    """A property, the field of `Settings` it sets, its parser, and a description of its default.

    `read` raises ValueError with a message that starts with "must be".
    """

    name: str
    field: str
    read: Callable[[str], object]
    default: str


def _read(name: str, value: OptionValue) -> object:
    try:
        return _OPTIONS[name].read(text_of(value))
    except ValueError as error:
        raise ValueError(f"option {name} = {value!r} {error}") from error


def _size(text: str) -> int:
    """Bytes as a Java long, or a size with a unit."""
    return _number(text, parse_long, parse_bytes, 'bytes as a Java long, or a size such as "128MiB"')


def _long_interval_ms(text: str) -> int:
    rule = 'milliseconds or a duration such as "1h"; negative: off'
    return _number(text, parse_long, parse_duration_ms, rule)


def _int_interval_ms(text: str) -> int:
    """An interval that Amoro stores as an int; Amoro cannot load a table with a longer one."""
    interval_ms = _long_interval_ms(text)
    if not -MAX_INT - 1 <= interval_ms <= MAX_INT:
        raise ValueError(
            f"must be at most {MAX_INT} ms (24.8 days): Amoro parses it as a Java int, and fails on "
            f"{interval_ms} ms; set a shorter interval, or -1 for none"
        )
    return interval_ms


def _number(text: str, plain: Callable[[str], int], with_unit: Callable[[str], int], rule: str) -> int:
    for read in (plain, with_unit):
        try:
            return read(text)
        except ValueError:
            continue
    raise ValueError(f"must be {rule}")


def _target_size(text: str) -> int:
    """A target of 0 is refused: Amoro would plan with it, but no file can be written to that size."""
    target_bytes = _size(text)
    if target_bytes < 1:
        raise ValueError("must be at least 1 byte")
    return target_bytes


def _fragment_ratio(text: str) -> int:
    """Amoro divides by the ratio, so it fails on 0; with a negative ratio no file is a fragment."""
    ratio = parse_int(text)
    if ratio == 0:
        raise ValueError("must not be 0: Amoro divides the target size by it")
    return ratio


_OPTIONS = {
    option.name: option
    for option in (
        _Option(
            "self-optimizing.enabled", "is_enabled", parse_boolean,
            "true; any value but true disables planning, as in Java",
        ),
        _Option(
            "self-optimizing.filter", "filter", read_filter,
            "none; a SQL condition on partition columns, without parentheses",
        ),
        _Option(
            "self-optimizing.target-size", "target_bytes", _target_size,
            "128MiB, regardless of the table's target file size",
        ),
        _Option(
            "self-optimizing.max-task-size-bytes", "max_task_bytes", _size,
            "128MiB; a task takes up to the larger of this and target-size",
        ),
        _Option(
            "self-optimizing.fragment-ratio", "fragment_ratio", _fragment_ratio,
            "8: files of at most target-size / 8 are fragments",
        ),
        _Option(
            "self-optimizing.min-target-size-ratio", "min_target_ratio", parse_double,
            "0.75: files above 0.75 of target-size have reached it",
        ),
        _Option(
            "self-optimizing.minor.trigger.file-count", "minor_files_count", parse_int,
            "12 fragments and equality delete files in a partition",
        ),
        _Option(
            "self-optimizing.minor.trigger.interval", "minor_interval_ms", _int_interval_ms,
            "1h (a plain number is ms); negative: off; at most 24.8 days",
        ),
        _Option(
            "self-optimizing.major.trigger.duplicate-ratio", "duplicate_ratio", parse_double,
            "0.1: the share of a file's rows deleted by position",
        ),
        _Option(
            "self-optimizing.full.trigger.interval", "full_interval_ms", _int_interval_ms,
            "-1: off (a plain number is ms); at most 24.8 days",
        ),
        _Option("self-optimizing.full.rewrite-all-files", "full_rewrites_all", parse_boolean, "true"),
        _Option(
            "self-optimizing.min-plan-interval", "min_plan_interval_ms", _long_interval_ms,
            "1min (a plain number is ms)",
        ),
        _Option(
            "self-optimizing.evaluation.fallback-interval", "fallback_interval_ms", _long_interval_ms,
            "-1: off (a plain number is ms)",
        ),
        _Option(
            "self-optimizing.evaluation.file-size.mse-tolerance", "mse_tolerance_bytes", _size,
            "0B: off",
        ),
        _Option(
            "read.split.open-file-cost", "open_file_cost_bytes", _size,
            "4MiB: the cost of opening a file, in bytes",
        ),
    )
}  # fmt: skip
KNOWN_OPTIONS: Mapping[str, str] = {name: option.default for name, option in _OPTIONS.items()}


def property_texts(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Options as Amoro reads them from a table's properties: sizes in bytes, intervals in milliseconds."""
    values = {name: _read(name, value) for name, value in options.items()}
    is_number = {
        name: isinstance(value, int) and not isinstance(value, bool) for name, value in values.items()
    }
    return {name: str(values[name]) if is_number[name] else text_of(options[name]) for name in options}
