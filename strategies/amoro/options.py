"""Amoro's table properties as numbers. Source: reference 1.1, upstream `TableProperties` at 96a4d78.

Times are milliseconds, as in Amoro; a text such as "1h" is read as a duration. Sizes are bytes or a text
such as "128MiB".
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from strategies.options import OptionValue, check_known
from strategies.quantities import parse_bytes, parse_duration_s
from strategies.state import MIB

KNOWN_OPTIONS: Mapping[str, str] = {
    "self-optimizing.enabled": "true; false plans nothing",
    "self-optimizing.target-size": "128MiB, whatever the table's own target file size",
    "self-optimizing.max-task-size-bytes": "128MiB; a task takes up to the larger of this and target-size",
    "self-optimizing.fragment-ratio": "8: files of at most target-size / 8 are fragments",
    "self-optimizing.min-target-size-ratio": "0.75: files above 0.75 of target-size have reached it",
    "self-optimizing.minor.trigger.file-count": "12 fragments and equality delete files of a partition",
    "self-optimizing.minor.trigger.interval": "1h (plain numbers are ms); below 0 is off",
    "self-optimizing.major.trigger.duplicate-ratio": "0.1 of a file's rows deleted by position",
    "self-optimizing.full.trigger.interval": "-1, off (plain numbers are ms)",
    "self-optimizing.full.rewrite-all-files": "true",
    "self-optimizing.min-plan-interval": "1min (plain numbers are ms)",
    "self-optimizing.evaluation.fallback-interval": "-1, off (plain numbers are ms)",
    "self-optimizing.evaluation.file-size.mse-tolerance": "0B, off",
    "read.split.open-file-cost": "4MiB: what opening a file costs, in bytes",
}

_ELSEWHERE = "it changes no plan: how tasks run is the engine's, when the table is looked at the trigger's"
_GROUP = "resources are the planner's own fields threads and max_input_per_thread"
REFUSED_OPTIONS: Mapping[str, str] = {
    "self-optimizing.filter": "a table state has no columns to evaluate a predicate on",
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
    """What the planner decides by; an interval below 0 is off."""

    is_enabled: bool = True
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
        """The largest fragment: 16 MiB of a target of 128."""
        return self.target_bytes // self.fragment_ratio

    @property
    def min_target_bytes(self) -> int:
        """The largest file that has not reached the target: 96 MiB of 128."""
        return int(self.target_bytes * self.min_target_ratio)

    @property
    def task_bytes(self) -> int:
        """How many bytes of data files a task takes."""
        return max(self.target_bytes, self.max_task_bytes)

    @property
    def warning(self) -> str:
        """What Amoro's log says of the sizes at every look; "" where they are sound.

        At a ratio of 0.9 a file of 115 MiB is undersized, and any other such file is above 16 MiB: the two
        exceed 128 MiB. Source: CommonPartitionEvaluator's constructor.
        """
        if self.min_target_bytes <= self.target_bytes - self.fragment_bytes:
            return ""
        return (
            f"min-target-size-ratio={self.min_target_ratio} is large: an undersized file of "
            f"{self.min_target_bytes} bytes finds no other to make at most {self.target_bytes} with"
        )


def read_settings(given: Mapping[str, OptionValue]) -> Settings:
    """Raises ValueError on an option that is unknown, that cannot have an effect, or out of its range."""
    for name, reason in REFUSED_OPTIONS.items():
        if name in given:
            raise ValueError(f"option {name} = {given[name]!r} is not taken: {reason}; leave it out")
    check_known(given, KNOWN_OPTIONS)
    values: dict[str, Any] = {_READERS[name].field: _read(name, value) for name, value in given.items()}
    return Settings(**values)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Into which field of `Settings` an option goes, how, and what its value must be."""

    field: str
    read: Callable[[OptionValue], float]
    rule: str
    is_allowed: Callable[[float], bool] = lambda value: True


def _read(name: str, value: OptionValue) -> float:
    reader = _READERS[name]
    try:
        number = reader.read(value)
    except ValueError as error:
        raise ValueError(f"option {name} = {value!r} must be {reader.rule}") from error
    if not reader.is_allowed(number):
        raise ValueError(f"option {name} = {value!r} must be {reader.rule}")
    return number


def _flag(value: OptionValue) -> bool:
    text = str(value).lower()
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"


def _whole(value: OptionValue) -> int:
    if isinstance(value, bool | float):
        raise ValueError(value)
    return int(value)


def _ratio(value: OptionValue) -> float:
    if isinstance(value, bool):
        raise ValueError(value)
    return float(value)


def _size(value: OptionValue) -> int:
    return parse_bytes(value) if isinstance(value, str) and not value.isdigit() else _whole(value)


def _milliseconds(value: OptionValue) -> int:
    if isinstance(value, str) and not value.removeprefix("-").isdigit():
        return round(parse_duration_s(value) * 1000)
    return _whole(value)


def _flag_reader(field: str) -> _Reader:
    return _Reader(field, _flag, "true or false")


def _size_reader(field: str, least: int) -> _Reader:
    return _Reader(field, _size, f'a size such as "128MiB", at least {least}', lambda value: value >= least)


def _count_reader(field: str) -> _Reader:
    return _Reader(field, _whole, "a whole number, at least 1", lambda value: value >= 1)


def _interval_reader(field: str) -> _Reader:
    return _Reader(field, _milliseconds, 'milliseconds or a duration such as "1h"; below 0 is off')


_READERS: Mapping[str, _Reader] = {
    "self-optimizing.enabled": _flag_reader("is_enabled"),
    "self-optimizing.target-size": _size_reader("target_bytes", 1),
    "self-optimizing.max-task-size-bytes": _size_reader("max_task_bytes", 1),
    "self-optimizing.fragment-ratio": _count_reader("fragment_ratio"),
    "self-optimizing.min-target-size-ratio": _Reader(
        "min_target_ratio", _ratio, "a number above 0, at most 1: else every file written is too small",
        lambda value: 0 < value <= 1,
    ),
    "self-optimizing.minor.trigger.file-count": _count_reader("minor_files_count"),
    "self-optimizing.minor.trigger.interval": _interval_reader("minor_interval_ms"),
    "self-optimizing.major.trigger.duplicate-ratio": _Reader(
        "duplicate_ratio", _ratio, "a number, at least 0", lambda value: 0 <= value < math.inf
    ),
    "self-optimizing.full.trigger.interval": _interval_reader("full_interval_ms"),
    "self-optimizing.full.rewrite-all-files": _flag_reader("full_rewrites_all"),
    "self-optimizing.min-plan-interval": _interval_reader("min_plan_interval_ms"),
    "self-optimizing.evaluation.fallback-interval": _interval_reader("fallback_interval_ms"),
    "self-optimizing.evaluation.file-size.mse-tolerance": _size_reader("mse_tolerance_bytes", 0),
    "read.split.open-file-cost": _size_reader("open_file_cost_bytes", 0),
}  # fmt: skip
