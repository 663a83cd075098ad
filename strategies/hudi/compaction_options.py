"""The options of a compaction plan, by Hudi's names, parsed.

Source: HoodieCompactionConfig and HoodieWriteConfig of Hudi 1.2.0.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date

from strategies.hudi.compaction_strategies import (
    DEFAULT_TARGET_IO_MIB,
    DEFAULT_TARGET_PARTITIONS,
    Settings,
    reads,
)
from strategies.hudi.incremental import INCREMENTAL
from strategies.java_values import parse_boolean, parse_int, parse_long
from strategies.options import OptionValue, check_known, option_texts

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
_FIELDS: Mapping[str, str] = {
    TARGET_IO: "target_io_mib", LOG_BYTES_MIN: "log_bytes_min", LOG_FILES_MIN: "log_files_min",
    TARGET_PARTITIONS: "target_partitions", PARTITION_REGEX: "partition_regex",
}  # fmt: skip
_UNIX_DAY = date(1970, 1, 1).toordinal()


def compaction_texts(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Options as the texts that Hudi parses.

    Raises ValueError on an unknown name, on a value that Hudi would reject, and on a regular expression that
    Python cannot parse.
    """
    if _STRATEGY in options:
        raise ValueError(f"option {_STRATEGY!r} is the planner's strategy: set strategy, beside options")
    check_known(options, COMPACTION_OPTIONS)
    texts = option_texts(options)
    compaction_settings(texts, today=None)
    return texts


def without_effect(options: Iterable[str], strategy: str) -> list[str]:
    """Those of the options that a strategy, or several, does not go by. Raises as `strategy_of` does."""
    heeded = reads(strategy)
    return [name for name in options if name in _FIELDS and _FIELDS[name] not in heeded]


def compaction_settings(texts: Mapping[str, str], today: date | None) -> Settings:
    """Option texts parsed, with Hudi's defaults. Raises ValueError on a text that Hudi would reject."""
    given = {name: _read(name, text) for name, text in texts.items()}
    return Settings(
        target_io_mib=given.get(TARGET_IO, DEFAULT_TARGET_IO_MIB),
        log_bytes_min=given.get(LOG_BYTES_MIN, 0),
        log_files_min=given.get(LOG_FILES_MIN, 0),
        target_partitions=given.get(TARGET_PARTITIONS, DEFAULT_TARGET_PARTITIONS),
        partition_regex=_regex(texts.get(PARTITION_REGEX)),
        is_incremental=parse_boolean(texts.get(INCREMENTAL, "true")),
        today=None if today is None else today.toordinal() - _UNIX_DAY,
    )


_UNITS = {TARGET_IO: "is in MiB and ", LOG_BYTES_MIN: "is in bytes and "}
_NUMBERS = {TARGET_IO: parse_long, LOG_BYTES_MIN: parse_long, LOG_FILES_MIN: parse_long}


def _read(name: str, text: str) -> int:
    if name in (PARTITION_REGEX, INCREMENTAL):
        return 0
    try:
        value = _NUMBERS.get(name, parse_int)(text)
    except ValueError as error:
        raise ValueError(f"{name}={text!r} {_UNITS.get(name, '')}{error}") from error
    if name == TARGET_PARTITIONS and value < 0:
        raise ValueError(f"{name}={text} must be >= 0")
    return value


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
