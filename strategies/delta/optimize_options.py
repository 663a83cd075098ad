"""The options of OPTIMIZE, parsed. Delta reads them from Spark's configuration.

Source: DeltaSQLConf of delta-spark 3.3.2, `spark.databricks.delta.optimize.*`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from strategies.java_values import parse_double, parse_int, parse_long
from strategies.options import NumberOption, OptionValue, at_least, check_known, option_texts, read_fields
from strategies.state import GIB

CONF_PREFIX = "spark.databricks.delta.optimize."

MIN_FILE_SIZE = "minFileSize"
MAX_FILE_SIZE = "maxFileSize"
MAX_DELETED_ROWS_RATIO = "maxDeletedRowsRatio"
BATCH_SIZE = "batchSize"
MAX_THREADS = "maxThreads"
REPARTITION = "repartition.enabled"
MIN_CUBE_SIZE = "clustering.mergeStrategy.minCubeSize.threshold"
TARGET_CUBE_SIZE = "clustering.mergeStrategy.minCubeSize.targetCubeSize"

# Delta's own defaults of the two file sizes are 1 GiB each. Tables have no property for them, so a scenario's
# target file size takes their place.
_TARGET = "the table's target_file_size (Delta's own: 1 GiB)"
OPTIMIZE_OPTIONS: Mapping[str, str] = {
    MIN_FILE_SIZE: _TARGET,
    MAX_FILE_SIZE: _TARGET,
    MAX_DELETED_ROWS_RATIO: "0.05",
    BATCH_SIZE: "no limit: one commit",
    MAX_THREADS: "15",
    REPARTITION: "false",
    MIN_CUBE_SIZE: "100 GiB",
    TARGET_CUBE_SIZE: "150 GiB",
}
SORTING_OPTIONS: Mapping[str, str] = {  # of commands that take files whatever their sizes
    name: OPTIMIZE_OPTIONS[name] for name in (MAX_FILE_SIZE, BATCH_SIZE, MAX_THREADS)
}
PURGING_OPTIONS: Mapping[str, str] = {**SORTING_OPTIONS, REPARTITION: OPTIMIZE_OPTIONS[REPARTITION]}
_SIZES = frozenset({MIN_FILE_SIZE, MAX_FILE_SIZE, BATCH_SIZE, MIN_CUBE_SIZE, TARGET_CUBE_SIZE})
_MAX_THREADS = at_least(MAX_THREADS, parse_int, 1)
_BY_FIELD: Mapping[str, NumberOption[Any]] = {  # of `OptimizeOptions`
    "min_file_bytes": at_least(MIN_FILE_SIZE, parse_long, 0),
    # Delta accepts a maximum of 0, with which every file gets a bin of its own and nothing is merged.
    "max_file_bytes": at_least(MAX_FILE_SIZE, parse_long, 1),
    "max_deleted_rows_ratio": NumberOption(
        MAX_DELETED_ROWS_RATIO, parse_double, ">= 0 and <= 1", lambda value: 0 <= value <= 1
    ),
    "batch_bytes": at_least(BATCH_SIZE, parse_long, 1),
    "min_cube_bytes": at_least(MIN_CUBE_SIZE, parse_long, 0),
    "target_cube_bytes": at_least(TARGET_CUBE_SIZE, parse_long, 0),
}


@dataclass(frozen=True, slots=True)
class OptimizeOptions:
    """What decides which files are rewritten, and into how many.

    A file smaller than `min_file_bytes` is a candidate, and so is a file with more than
    `max_deleted_rows_ratio` of its rows deleted. Files up to `max_file_bytes` together become one.
    `batch_bytes` None means one commit.
    """

    min_file_bytes: int
    max_file_bytes: int
    max_deleted_rows_ratio: float = 0.05
    batch_bytes: int | None = None
    min_cube_bytes: int = 100 * GIB
    target_cube_bytes: int = 150 * GIB

    @property
    def max_cube_bytes(self) -> int:
        return max(self.target_cube_bytes, self.min_cube_bytes)


def optimize_texts(options: Mapping[str, OptionValue], known: Mapping[str, str]) -> dict[str, str]:
    """Options as the texts that Delta parses; sizes may have units, which Delta itself rejects.

    Raises ValueError on an unknown name, an unknown unit, and a value that Delta would reject.
    """
    check_known(options, known)
    texts = option_texts(options, _SIZES)
    _read(texts)
    return texts


def complete_texts(options: Mapping[str, str], target_bytes: int) -> dict[str, str]:
    """Delta's option texts with the defaults of the ones that decide which files are rewritten.

    `BATCH_SIZE` has no default. Raises ValueError on an unknown name.
    """
    check_known(options, OPTIMIZE_OPTIONS)
    defaults = OptimizeOptions(target_bytes, target_bytes)
    values = {option.name: getattr(defaults, field) for field, option in _BY_FIELD.items()}
    return {name: str(value) for name, value in values.items() if value is not None} | dict(options)


def optimize_options(options: Mapping[str, str], target_bytes: int) -> OptimizeOptions:
    """Parse Delta's option texts; `target_bytes` is the default of both file sizes.

    Raises ValueError on an unknown name, and on a text that is no number or out of range.
    """
    check_known(options, OPTIMIZE_OPTIONS)
    sizes = {"min_file_bytes": target_bytes, "max_file_bytes": target_bytes}
    return OptimizeOptions(**{**sizes, **_read(options)})


def _read(texts: Mapping[str, str]) -> dict[str, Any]:
    """The values that are set, by the fields of `OptimizeOptions`. Options without a field are checked."""
    _MAX_THREADS.read_if_given(texts)
    # Spark's own reading of a boolean setting: true or false in any case (ConfigHelpers.toBoolean).
    if texts.get(REPARTITION, "false").strip().lower() not in ("true", "false"):
        raise ValueError(f"{REPARTITION}={texts[REPARTITION]!r} must be true or false")
    return read_fields(_BY_FIELD, texts)
