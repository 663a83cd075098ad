"""The log of a simulated Delta table: what commits and checkpoints write, and what a reader lists."""

from dataclasses import dataclass

from bench.engines.delta.model.coefficients import Log

LISTED_IN_CHECKSUM_MAX = 50  # live files up to which a checksum file lists them all (allFilesInCrc)


@dataclass(frozen=True, slots=True)
class Entry:
    """A version of the log: its number, and what was written for it.

    `checkpointed_count` is the number of files and tombstones in its checkpoint; None if it has none.
    """

    version: int
    size_bytes: int
    files_count: int
    checkpointed_count: int | None


class SimulatedLog:
    """Each version is a JSON file and a checksum file; after `checkpoint_interval` versions, a checkpoint.

    Tombstones, the removed files, stay in the log: they expire a week of real time after their removal
    (delta.deletedFileRetentionDuration), which no run takes, and VACUUM does not remove them. Old versions
    stay for 30 days (delta.logRetentionDuration). `_last_checkpoint` is not counted. Source:
    OptimisticTransaction, Checkpoints and Checksum of delta-spark 3.3.2.
    """

    def __init__(self, sizes: Log, checkpoint_interval: int) -> None:
        self._sizes, self._interval = sizes, checkpoint_interval
        self._next = 0
        self._checkpoint: int | None = None  # the version of the last one
        self._live_count = self._tombstones_count = 0
        self.storage_bytes = 0

    def append(self, adds_count: int, removes_count: int) -> Entry:
        """Write a version with so many actions. A file whose vector changes is both removed and added."""
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
        """The files from which a reader learns the state: the last checkpoint and the versions after it."""
        if self._checkpoint is None:
            return self._next
        return self._next - self._checkpoint  # the versions after it, and the checkpoint itself

    def _checksum_bytes(self) -> int:
        is_listing = self._live_count <= LISTED_IN_CHECKSUM_MAX
        return self._sizes.checksum_bytes + is_listing * self._live_count * self._sizes.bytes_per_add

    def _checkpoint_bytes(self) -> int:
        return (
            self._sizes.checkpoint_bytes
            + self._sizes.checkpoint_bytes_per_file * self._live_count
            + self._sizes.checkpoint_bytes_per_tombstone * self._tombstones_count
        )
