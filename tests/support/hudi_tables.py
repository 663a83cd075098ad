"""Hudi tables by hand: file slices in partitions, and their timelines."""

from types import MappingProxyType

from hypothesis import strategies as st

from strategies.hudi.files import Action, BaseFile, HudiState, Instant, LogFile
from strategies.state import MIB, PartitionStats

DAY_MS = 86_400_000


def base_file(file_id, partition="2026/01/01", size_bytes=4 * MIB, rows=1000):
    return BaseFile(f"{partition}/{file_id}.parquet", size_bytes, rows, partition, file_id=file_id)


def log_file(file_id, number=1, partition="2026/01/01", size_bytes=MIB, rows=100):
    return LogFile(f"{partition}/.{file_id}.log.{number}", size_bytes, rows, partition, file_id=file_id)


def slice_files(file_id, partition="2026/01/01", base_bytes=4 * MIB, log_bytes=(MIB,)):
    """The files of one file slice; without a base file if `base_bytes` is None."""
    base = [] if base_bytes is None else [base_file(file_id, partition, base_bytes)]
    logs = [log_file(file_id, number, partition, size) for number, size in enumerate(log_bytes)]
    return [*base, *logs]


def hudi_table(files, timeline=(), pending_groups=None, observed_at_ms=0, epoch_ms=None, **fields):
    bases = [file for file in files if isinstance(file, BaseFile)]
    logs = [file for file in files if isinstance(file, LogFile)]
    stats = {}
    for file in files:
        before = stats.get(file.partition, PartitionStats())
        stats[file.partition] = PartitionStats(before.files_count + 1, before.size_bytes + file.size_bytes)
    fields |= {
        "timeline": tuple(timeline),
        "pending_groups": pending_groups or {},
        "stream_epoch_ms": epoch_ms,
    }
    return HudiState(observed_at_ms, 128 * MIB, bases, logs, MappingProxyType(stats), **fields)


def delta_commit(at_ms, partitions=("2026/01/01",)):
    return Instant(Action.DELTA_COMMIT, at_ms, at_ms, frozenset(partitions))


def compaction(requested_at_ms, completed_at_ms=None, partitions=(), missing=None):
    missing = None if missing is None else tuple(missing)
    return Instant(Action.COMMIT, requested_at_ms, completed_at_ms, frozenset(partitions), missing)


DAYS = [f"2026/01/{day:02}" for day in range(1, 9)]


@st.composite
def hudi_tables(draw):
    """Tables of a few file slices in partitions by day, of any sizes around whole MiB."""
    sizes = st.integers(0, 20).flatmap(lambda mib: st.integers(max(0, mib * MIB - 2), mib * MIB + 2))
    files = []
    for number in range(draw(st.integers(0, 12))):
        partition = draw(st.sampled_from(DAYS))
        base_bytes = draw(st.none() | sizes)
        log_bytes = draw(st.lists(sizes, min_size=base_bytes is None, max_size=5))
        files += slice_files(f"f{number}", partition, base_bytes, log_bytes)
    return hudi_table(files, epoch_ms=DAY_MS * 20_454)  # 2026-01-01
