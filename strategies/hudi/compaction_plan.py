"""Which file slices a compaction merges: the options of Hudi's plan generator, and its rules.

The order in which Hudi lists partitions, and slices within one, is not defined; here it is that of their
paths and file ids.

Source: HoodieCompactionConfig, HoodieWriteConfig and BaseHoodieCompactionPlanGenerator of Hudi 1.2.0.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from strategies.grouping import by_key
from strategies.hudi.commands import Command
from strategies.hudi.compaction_strategies import (
    DEFAULT_TARGET_IO_MIB,
    DEFAULT_TARGET_PARTITIONS,
    CompactionStrategy,
    Operation,
    Settings,
    reads,
)
from strategies.hudi.files import Action, HudiState
from strategies.hudi.incremental import INCREMENTAL, all_partitions, incremental_partitions
from strategies.java_values import parse_boolean, parse_int, parse_long
from strategies.options import NumberOption, OptionValue, at_least, check_known, option_texts, read_fields

TARGET_IO = "hoodie.compaction.target.io"
LOG_BYTES_MIN = "hoodie.compaction.logfile.size.threshold"
LOG_FILES_MIN = "hoodie.compaction.logfile.num.threshold"
TARGET_PARTITIONS = "hoodie.compaction.daybased.target.partitions"
PARTITION_REGEX = "hoodie.compaction.partition.path.regex"

COMPACTION_OPTIONS: Mapping[str, str] = {
    TARGET_IO: f"{DEFAULT_TARGET_IO_MIB} (MiB)",
    LOG_BYTES_MIN: "0 (bytes)",
    LOG_FILES_MIN: "0",
    TARGET_PARTITIONS: str(DEFAULT_TARGET_PARTITIONS),
    PARTITION_REGEX: "none",
    INCREMENTAL: "true",
}
_STRATEGY = "hoodie.compaction.strategy"
_NUMBERS: Mapping[str, NumberOption[int]] = {  # by the field of `Settings`
    "target_io_mib": NumberOption(TARGET_IO, parse_long, unit="MiB"),
    "log_bytes_min": NumberOption(LOG_BYTES_MIN, parse_long, unit="bytes"),
    "log_files_min": NumberOption(LOG_FILES_MIN, parse_long),
    "target_partitions": at_least(TARGET_PARTITIONS, parse_int, 0),
}
_FIELDS = {PARTITION_REGEX: "partition_regex", **{option.name: field for field, option in _NUMBERS.items()}}
_UNIX_DAY = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """The operations in the order of choice, and the partitions noted for the next plan; None: no note."""

    operations: tuple[Operation, ...] = ()
    missing_partitions: tuple[str, ...] | None = None


def compaction_texts(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Options as the texts that Hudi parses.

    Raises ValueError on an unknown name, on a value that Hudi would reject, and on a regular expression that
    Python cannot parse.
    """
    if _STRATEGY in options:
        raise ValueError(f"option {_STRATEGY!r} is a field of the planner: set strategy instead")
    check_known(options, COMPACTION_OPTIONS)
    texts = option_texts(options)
    compaction_settings(texts, today=None)
    return texts


def without_effect(options: Iterable[str], strategy: str) -> list[str]:
    """The options that a strategy, or several, does not read. Raises as `strategy_of` does."""
    fields = reads(strategy)
    return [name for name in options if name in _FIELDS and _FIELDS[name] not in fields]


def compaction_settings(texts: Mapping[str, str], today: date | None) -> Settings:
    """Option texts parsed, with Hudi's defaults. Raises ValueError on a text that Hudi would reject."""
    return Settings(
        **read_fields(_NUMBERS, texts),
        partition_regex=_regex(texts.get(PARTITION_REGEX)),
        is_incremental=parse_boolean(texts.get(INCREMENTAL, "true")),
        today=None if today is None else today.toordinal() - _UNIX_DAY,
    )


def _regex(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(
            f"{PARTITION_REGEX}={text!r} cannot be evaluated by Python's re, which previews and simulations "
            f"use: {error}"
        ) from error
    return text


def plan_compaction(
    state: HudiState, strategy: CompactionStrategy, settings: Settings, max_file_bytes: int
) -> CompactionPlan:
    """What Hudi would plan for the table; without operations it schedules nothing.

    `max_file_bytes` is hoodie.parquet.max.file.size. Raises ValueError where the strategy's class fails.
    """
    is_incremental = settings.is_incremental
    candidates = incremental_partitions(state, Action.COMMIT) if is_incremental else all_partitions(state)
    partitions = strategy.partitions(candidates, settings)
    operations = _operations(state, partitions.chosen, max_file_bytes)
    if not operations:
        return CompactionPlan()
    choice = strategy.operations(operations, settings)
    missing = tuple(dict.fromkeys((*choice.missing, *partitions.missing)))
    return CompactionPlan(tuple(choice.chosen), missing if is_incremental else None)


def _operations(state: HudiState, partitions: Sequence[str], max_file_bytes: int) -> list[Operation]:
    """One for each free slice that has log files, partition by partition."""
    with_logs = (free for free in state.free_slices(Command.COMPACTION) if free.logs)
    by_partition = by_key(with_logs, lambda free: free.group.partition)
    chosen = (free for partition in partitions for free in by_partition.get(partition, ()))
    return [Operation(free, max_file_bytes) for free in chosen]
