"""The table state, kept incrementally: adding or removing a file costs the same whatever the table holds."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from bench.engines.contract import Change, Cost, Observation, Ticket, Version
from strategies.plan import Plan, Rewrite
from strategies.state import (
    CommitSeen,
    CompactionSeen,
    DataFile,
    DeleteFile,
    DeleteKind,
    PartitionStats,
    PendingPlan,
    TableState,
    key_of,
)

HISTORY_LIMIT = 1000  # commits and compactions a planner can look back on


class Ledger:
    """Live files by `key_of` with sums per partition, and a bounded history.

    Invariant: the sums equal those over the live files, and a partition without files has no entry.
    """

    def __init__(self, target_file_size_bytes: int, properties: Mapping[str, str], spec_id: int = 0) -> None:
        self._target_file_size_bytes = target_file_size_bytes
        self._properties = MappingProxyType(dict(properties))
        self._spec_id = spec_id
        self._data: dict[str, DataFile] = {}
        self._delete_files: dict[str, DeleteFile] = {}
        self._partitions: dict[str, PartitionStats] = {}
        self._commits: deque[CommitSeen] = deque(maxlen=HISTORY_LIMIT)
        self._compactions: deque[CompactionSeen] = deque(maxlen=HISTORY_LIMIT)
        self._commits_total_count = 0
        self.pending: tuple[PendingPlan, ...] = ()
        self.version: str | None = None

    @property
    def data_files(self) -> Mapping[str, DataFile]:
        """Live data files by path."""
        return MappingProxyType(self._data)

    @property
    def delete_files(self) -> Mapping[str, DeleteFile]:
        """Live delete and log files by key, which is the path but for deletion vectors."""
        return MappingProxyType(self._delete_files)

    def add(self, files: Iterable[DataFile | DeleteFile]) -> None:
        """Take files in. Raises ValueError when a key is live already."""
        for file in files:
            key = key_of(file)
            if key in self._data or key in self._delete_files:
                raise ValueError(f"{key} is in the table already")
            if isinstance(file, DataFile):
                self._data[key] = file
            else:
                self._delete_files[key] = file
            self._count(file, 1)

    def remove(self, keys: Iterable[str]) -> None:
        """Let files go. Raises KeyError when a key is not live."""
        for key in keys:
            file = self._data.pop(key) if key in self._data else self._delete_files.pop(key)
            self._count(file, -1)

    def follow(self, live: Mapping[str, DataFile | DeleteFile]) -> None:
        """Let go what is not in `live`, files by key, or is known otherwise now; take in the rest."""
        known = {**self._data, **self._delete_files}
        changed = [key for key, file in live.items() if known.get(key) is not file and known.get(key) != file]
        self.remove([*(known.keys() - live.keys()), *(key for key in changed if key in known)])
        self.add(live[key] for key in changed)

    def saw_versions(self, versions: Iterable[Version]) -> None:
        """Note what the table went through: those tagged as commits of the stream are its history.

        The last one is the version that states are of from now on.
        """
        for version in versions:
            self.version = version.id or self.version
            tag, change = version.tag, version.change
            if tag is not None and tag.is_stream_commit:
                seen = CommitSeen(tag.at_ms, change.files_added_count, change.added_bytes, tag.rows)
                self._commits.append(seen)
                self._commits_total_count += 1

    def saw_compaction(self, compaction: CompactionSeen) -> None:
        """Note a compaction that ended, whatever became of it."""
        self._compactions.append(compaction)

    @property
    def data_bytes(self) -> int:
        """Bytes of the live data files."""
        return sum(partition.size_bytes for partition in self._partitions.values())

    @property
    def size_bytes(self) -> int:
        """Bytes of all live files, delete files included."""
        return self.data_bytes + sum(p.delete_size_bytes for p in self._partitions.values())

    def state(self, at_ms: int) -> TableState:
        """A view of the table now; it follows later changes, so it is valid until the next one."""
        return TableState(
            observed_at_ms=at_ms,
            target_file_size_bytes=self._target_file_size_bytes,
            data_files=self._data.values(),
            delete_files=self._delete_files.values(),
            partitions=MappingProxyType(self._partitions),
            commits_total_count=self._commits_total_count,
            commits=tuple(self._commits),
            compactions=tuple(self._compactions),
            pending=self.pending,
            properties=self._properties,
            spec_id=self._spec_id,
            version=self.version,
        )

    def observation(self, cost: Cost, storage_bytes: int, metadata_storage_bytes: int) -> Observation:
        """The table as it stands; the caller adds what the ledger cannot know."""
        sums = self._partitions.values()
        return Observation(
            cost=cost,
            version=self.version,
            data_files_count=len(self._data),
            delete_files_count=len(self._delete_files),
            live_bytes=self.size_bytes,
            rows=sum(p.rows for p in sums),
            storage_bytes=storage_bytes,
            metadata_storage_bytes=metadata_storage_bytes,
            delete_rows=sum(p.delete_rows for p in sums),
            equality_files_count=sum(p.equality_files_count for p in sums),
        )

    def _count(self, file: DataFile | DeleteFile, sign: int) -> None:
        before = self._partitions.get(file.partition, PartitionStats())
        if isinstance(file, DataFile):
            after = replace(
                before,
                files_count=before.files_count + sign,
                size_bytes=before.size_bytes + sign * file.size_bytes,
                rows=before.rows + sign * file.rows,
            )
        else:
            is_equality = file.kind is DeleteKind.EQUALITY
            after = replace(
                before,
                delete_files_count=before.delete_files_count + sign,
                delete_size_bytes=before.delete_size_bytes + sign * file.size_bytes,
                delete_rows=before.delete_rows + sign * file.rows,
                equality_files_count=before.equality_files_count + sign * is_equality,
            )
        if after.files_count or after.delete_files_count:
            self._partitions[file.partition] = after
        else:
            del self._partitions[file.partition]


def compaction_seen(
    at_ms: int, status: str, plan: Plan, scheduled_at_ms: int, change: Change, cost: Cost
) -> CompactionSeen:
    """A compaction that ended as the history keeps it; `scheduled_at_ms` is its ticket's."""
    return CompactionSeen(
        at_ms, status, plan.reason,
        files_removed_count=change.files_removed_count,
        files_added_count=change.files_added_count,
        replaced_bytes=change.replaced_bytes,
        added_bytes=change.added_bytes,
        wall_s=cost.wall_s,
        cpu_s=cost.cpu_s,
        kind=plan.kind,
        scheduled_at_ms=scheduled_at_ms,
    )  # fmt: skip


def pending_plan(ticket: Ticket) -> PendingPlan:
    """A plan scheduled and not yet complete, with the files it names and those its preview replaces."""
    rewrites = (action for action in ticket.plan.actions if isinstance(action, Rewrite))
    named = frozenset(key for rewrite in rewrites for key in rewrite.keys)
    paths = named | ticket.preview.keys
    return PendingPlan(ticket.scheduled_at_ms, ticket.due_at_ms, ticket.plan.reason, paths)
