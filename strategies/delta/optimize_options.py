"""The options of OPTIMIZE, parsed. Delta reads them from Spark's configuration.

Source: DeltaSQLConf of delta-spark 3.3.2, `spark.databricks.delta.optimize.*`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from strategies.java_values import parse_double, parse_int, parse_long
from strategies.options import NumberOption, OptionValue, at_least, check_known, option_texts
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

DEFAULT_MAX_DELETED_ROWS_RATIO = 0.05
DEFAULT_MIN_CUBE_BYTES = 100 * GIB
DEFAULT_TARGET_CUBE_BYTES = 150 * GIB

# Delta's own defaults of the two file sizes are 1 GiB each. Tables have no property for them, so a scenario's
# target file size takes their place.
_TARGET = "the table's target_file_size (Delta's own: 1 GiB)"
COMPACTION_OPTIONS: Mapping[str, str] = {
    MIN_FILE_SIZE: _TARGET,
    MAX_FILE_SIZE: _TARGET,
    MAX_DELETED_ROWS_RATIO: "0.05",
    BATCH_SIZE: "no limit: one commit",
    MAX_THREADS: "15",
    REPARTITION: "false",
}
SORTING_OPTIONS: Mapping[str, str] = {  # of commands that take files whatever their sizes
    name: COMPACTION_OPTIONS[name] for name in (MAX_FILE_SIZE, BATCH_SIZE, MAX_THREADS)
}
PURGING_OPTIONS: Mapping[str, str] = {**SORTING_OPTIONS, REPARTITION: COMPACTION_OPTIONS[REPARTITION]}
CLUSTERING_OPTIONS: Mapping[str, str] = {MIN_CUBE_SIZE: "100 GiB", TARGET_CUBE_SIZE: "150 GiB"}
OPTIMIZE_OPTIONS: Mapping[str, str] = {**COMPACTION_OPTIONS, **CLUSTERING_OPTIONS}
_DEFAULTS: Mapping[str, str] = {
    MAX_DELETED_ROWS_RATIO: str(DEFAULT_MAX_DELETED_ROWS_RATIO),
    MIN_CUBE_SIZE: str(DEFAULT_MIN_CUBE_BYTES),
    TARGET_CUBE_SIZE: str(DEFAULT_TARGET_CUBE_BYTES),
}
_SIZES = frozenset({MIN_FILE_SIZE, MAX_FILE_SIZE, BATCH_SIZE, MIN_CUBE_SIZE, TARGET_CUBE_SIZE})


@dataclass(frozen=True, slots=True)
class OptimizeOptions:
    """What decides which files are rewritten, and into how many.

    A file smaller than `min_file_bytes` is a candidate, and so is one of whose rows more than
    `max_deleted_rows_ratio` are deleted. Files up to `max_file_bytes` together become one. `batch_bytes` None
    means one commit.
    """

    min_file_bytes: int
    max_file_bytes: int
    max_deleted_rows_ratio: float = DEFAULT_MAX_DELETED_ROWS_RATIO
    batch_bytes: int | None = None
    min_cube_bytes: int = DEFAULT_MIN_CUBE_BYTES
    target_cube_bytes: int = DEFAULT_TARGET_CUBE_BYTES

    @property
    def max_cube_bytes(self) -> int:
        return max(self.target_cube_bytes, self.min_cube_bytes)


def optimize_texts(options: Mapping[str, OptionValue], known: Mapping[str, str]) -> dict[str, str]:
    """Options as the texts that Delta parses; sizes may have units, which Delta itself rejects.

    Raises ValueError on an unknown name, an unknown unit, and a value that Delta would reject.
    """
    check_known(options, known)
    texts = option_texts(options, _SIZES)
    for name in texts:
        _READERS[name](texts)
    return texts


def complete_texts(options: Mapping[str, str], target_bytes: int) -> dict[str, str]:
    """Delta's option texts with the defaults of those that decide which files are rewritten.

    `BATCH_SIZE` has no default. Raises ValueError on an unknown name.
    """
    check_known(options, _READERS)
    sizes = dict.fromkeys((MIN_FILE_SIZE, MAX_FILE_SIZE), str(target_bytes))
    return {**sizes, **_DEFAULTS, **options}


def optimize_options(options: Mapping[str, str], target_bytes: int) -> OptimizeOptions:
    """Parse Delta's option texts, completed by `complete_texts`.

    Raises ValueError on an unknown name, and on a text that is no number or out of range.
    """
    texts = complete_texts(options, target_bytes)
    values = {name: _READERS[name](texts) for name in texts}
    return OptimizeOptions(
        min_file_bytes=values[MIN_FILE_SIZE],
        max_file_bytes=values[MAX_FILE_SIZE],
        max_deleted_rows_ratio=values[MAX_DELETED_ROWS_RATIO],
        batch_bytes=values.get(BATCH_SIZE),
        min_cube_bytes=values[MIN_CUBE_SIZE],
        target_cube_bytes=values[TARGET_CUBE_SIZE],
    )


def _repartition(texts: Mapping[str, str]) -> bool:
    """Spark's own reading of a boolean setting: true or false in any case (ConfigHelpers.toBoolean)."""
    text = texts[REPARTITION].strip().lower()
    if text not in ("true", "false"):
        raise ValueError(f"{REPARTITION}={texts[REPARTITION]!r} must be true or false")
    return text == "true"


_NUMBERS = (
    at_least(MIN_FILE_SIZE, parse_long, 0),
    # Delta accepts a maximum of 0, with which every file gets a bin of its own and nothing is merged.
    at_least(MAX_FILE_SIZE, parse_long, 1),
    NumberOption(MAX_DELETED_ROWS_RATIO, parse_double, ">= 0 and <= 1", lambda value: 0 <= value <= 1),
    at_least(BATCH_SIZE, parse_long, 1),
    at_least(MAX_THREADS, parse_int, 1),
    at_least(MIN_CUBE_SIZE, parse_long, 0),
    at_least(TARGET_CUBE_SIZE, parse_long, 0),
)
_READERS: Mapping[str, Callable[[Mapping[str, str]], Any]] = {
    **{option.name: option.read_if_given for option in _NUMBERS},
    REPARTITION: _repartition,
}
