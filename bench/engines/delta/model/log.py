"""The log of a simulated Delta table: the bytes that versions write, and the files that a reader opens."""

from dataclasses import dataclass

from bench.engines.delta.model.coefficients import Log

LISTED_IN_CHECKSUM_MAX = 50  # live files up to which a checksum file lists them all (allFilesInCrc)


@dataclass(frozen=True, slots=True)
class Entry:
    """A version; `checkpointed_count`: the files and tombstones in its checkpoint, None without one."""

    version: int
    size_bytes: int
    files_count: int
    checkpointed_count: int | None


class SimulatedLog:
    """A version is a JSON file and a checksum file, and a checkpoint every `checkpoint_interval` versions.

    Removed files stay in the log as tombstones: they expire after a week of real time
    (delta.deletedFileRetentionDuration), which no run takes, and VACUUM keeps them. Old versions stay for 30
    days (delta.logRetentionDuration). `_last_checkpoint` is not counted. Source: OptimisticTransaction,
    Checkpoints and Checksum of delta-spark 3.3.2.
    """

    def __init__(self, sizes: Log, checkpoint_interval: int) -> None:
        self._sizes, self._interval = sizes, checkpoint_interval
        self._next = 0
        self._checkpoint: int | None = None  # the version of the last one
        self._live_count = self._tombstones_count = 0
        self.storage_bytes = 0

    def append(self, adds_count: int, removes_count: int) -> Entry:
        """Write a version. A file whose vector changes counts as removed and added."""
        version, sizes = self._next, self._sizes
        self._next += 1
        self._live_count += adds_count - removes_count
        self._tombstones_count += removes_count
        written = [
            sizes.commit_bytes
            + sizes.bytes_per_add * adds_count
            + sizes.bytes_per_remove * removes_count
            + (0 if version else sizes.schema_bytes),
            self._checksum_bytes(),
        ]
        checkpointed_count = None
        if version and version % self._interval == 0:
            self._checkpoint = version
            checkpointed_count = self._live_count + self._tombstones_count
            written.append(self._checkpoint_bytes())
        size_bytes = sum(written)
        self.storage_bytes += size_bytes
        return Entry(version, size_bytes, len(written), checkpointed_count)

    @property
    def read_files_count(self) -> int:
        """The last checkpoint, and the versions after it."""
        if self._checkpoint is None:
            return self._next
        return self._next - self._checkpoint

    def _checksum_bytes(self) -> int:
        is_listing = self._live_count <= LISTED_IN_CHECKSUM_MAX
        return self._sizes.checksum_bytes + is_listing * self._live_count * self._sizes.bytes_per_add

    def _checkpoint_bytes(self) -> int:
        return (
            self._sizes.checkpoint_bytes
            + self._sizes.checkpoint_bytes_per_file * self._live_count
            + self._sizes.checkpoint_bytes_per_tombstone * self._tombstones_count
        )
