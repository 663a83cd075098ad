"""Random tables and options for the comparison with Hudi's strategies, with sums near the thresholds."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from hudi_tables import hudi_table, slice_files
from hypothesis import strategies as st

from strategies.hudi.compaction_plan import (
    INCREMENTAL,
    LOG_BYTES_MIN,
    LOG_FILES_MIN,
    PARTITION_REGEX,
    TARGET_IO,
    TARGET_PARTITIONS,
)
from strategies.hudi.compaction_strategies import STRATEGIES
from strategies.hudi.files import HudiState
from strategies.state import MIB

DAY_MS = 86_400_000
_BY_DATE = ("DayBased", "BoundedPartitionAware", "UnBoundedPartitionAware")
_SIZES = st.integers(0, 6).flatmap(lambda mib: st.integers(max(0, mib * MIB - 1), mib * MIB + 1))
_LOG_SIZES = st.just(-1) | _SIZES  # to Hudi, an unknown size is negative
_NAMES: tuple[Callable[[date], str], ...] = (  # of the partition of a day
    "{0:%Y/%m/%d}".format,
    "year={0:%Y}/month={0:%m}/day={0:%d}".format,
    "dt={0:%Y/%m/%d}".format,
    "{0:%Y/%m/%d}/12".format,
    lambda day: f"{day.year}/{day.month}/{day.day}",
    lambda day: f"{day.year - 1}/{day.month + 12}/{day.day:02}",
)
_REGEXES = ("/0[1-5]", "2$", "^20", "a", "")


@dataclass(frozen=True)
class Case:
    state: HudiState
    strategy: str
    options: dict[str, str]


@st.composite
def cases(draw, today: date):
    """`today` is the day of Hudi's own clock; some partitions are later."""
    strategy = ",".join(draw(st.lists(st.sampled_from(sorted(STRATEGIES)), min_size=1, max_size=3)))
    is_dated = any(name in strategy for name in _BY_DATE)
    partitions = draw(st.lists(_partitions(today, is_dated), min_size=1, max_size=6, unique=True))
    files = []
    for number in range(draw(st.integers(0, 7))):
        base_bytes = draw(st.none() | _SIZES)
        logs = draw(st.lists(_LOG_SIZES, min_size=1, max_size=3))
        files += slice_files(f"f{number}", draw(st.sampled_from(partitions)), base_bytes, logs)
    epoch_ms = (today - date(1970, 1, 1)).days * DAY_MS
    return Case(hudi_table(files, epoch_ms=epoch_ms), strategy, draw(_options(strategy)))


def of_one_day(today: date) -> list[Case]:
    """Several partitions of one day, for each of four days: their order is that of a Java map."""
    epoch_ms = (today - date(1970, 1, 1)).days * DAY_MS
    made = []
    for days in range(4):
        paths = dict.fromkeys(name(today - timedelta(days=days)) for name in _NAMES)
        files = [file for n, path in enumerate(paths) for file in slice_files(f"f{n}", path, MIB, [MIB])]
        table = hudi_table(files, epoch_ms=epoch_ms)
        made.append(Case(table, "BoundedPartitionAware", {INCREMENTAL: "true"}))
    return made


def _partitions(today: date, is_dated: bool) -> st.SearchStrategy[str]:
    days = st.integers(-6, 3).map(lambda days: today + timedelta(days=days))
    dated = st.one_of(*map(days.map, _NAMES))
    other = st.sampled_from(("", "Oslo", "us/2026/01/01", "2026-01-01", "dt=2026-01-01"))
    return st.one_of(dated, dated, dated, other) if is_dated else dated | other


@st.composite
def _options(draw, strategy: str):
    options = {INCREMENTAL: draw(st.sampled_from(("true", "false")))}
    drawn = {
        TARGET_IO: st.integers(-1, 60),
        LOG_BYTES_MIN: st.integers(0, 8).flatmap(lambda mib: st.integers(mib * MIB - 1, mib * MIB + 1)),
        LOG_FILES_MIN: st.integers(0, 4),
        TARGET_PARTITIONS: st.integers(0, 7),
    }
    for name, values in drawn.items():
        if draw(st.booleans()):
            options[name] = str(draw(values))
    if "PartitionRegexBased" in strategy:
        options[PARTITION_REGEX] = draw(st.sampled_from(_REGEXES))
    return options
