"""The table state, kept incrementally: adding or removing a file costs the same whatever the table holds."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from bench.engines.contract import Change, Cost, Observation, Ticket, Version
from strategies.plan import Plan, Rewrite
from strategies.state import (
    CommitSeen,
    CompactionSeen,
    DataFile,
    DeleteFile,
    DerivedValues,
    PartitionStats,
    PendingPlan,
    TableState,
)

HISTORY_LIMIT = 1000  # commits and compactions a planner can look back on


Data = TypeVar("Data", bound=DataFile)
Delete = TypeVar("Delete", bound=DeleteFile)
State = TypeVar("State", bound=TableState, covariant=True)


class Ledger(Generic[Data, Delete, State]):
    """Live files by key with sums per partition, and a bounded history; of any format.

    `make_state` is the format's class of state, taking the fields of `TableState` by name. `counters` are
    what the format counts of its delete files besides, by the name records have for it.

    Invariant: the sums equal those over the live files, and a partition without files has no entry.
    """

    def __init__(
        self,
        make_state: Callable[..., State],
        target_file_size_bytes: int,
        properties: Mapping[str, str],
        counters: Mapping[str, Callable[[Delete], bool]] = MappingProxyType({}),
        stream_epoch_ms: int | None = None,
    ) -> None:
        self._make_state = make_state
        self._target_file_size_bytes = target_file_size_bytes
        self._properties = MappingProxyType(dict(properties))
        self._counters, self._delete_counts = counters, dict.fromkeys(counters, 0)
        self._stream_epoch_ms = stream_epoch_ms
        self._data: dict[str, Data] = {}
        self._delete_files: dict[str, Delete] = {}
        self._read: dict[str, Data | Delete] = {}  # as last followed
        # One view of each for good: what states derive from the files is kept by the identity of these.
        self._data_view, self._delete_view = self._data.values(), self._delete_files.values()
        self._derived_values = DerivedValues()
        self._partitions: dict[str, PartitionStats] = {}
        self._commits: deque[CommitSeen] = deque(maxlen=HISTORY_LIMIT)
        self._compactions: deque[CompactionSeen] = deque(maxlen=HISTORY_LIMIT)
        self._commits_total_count = 0
        self.pending: tuple[PendingPlan, ...] = ()
        self.version: str | None = None

    @property
    def data_files(self) -> Mapping[str, Data]:
        """Live data files by key, which is the path."""
        return MappingProxyType(self._data)

    @property
    def delete_files(self) -> Mapping[str, Delete]:
        """Live delete files by key, which is not the path alone for deletion vectors."""
        return MappingProxyType(self._delete_files)

    def add(self, files: Iterable[Data | Delete], at_ms: int | None) -> None:
        """Take files in that come into the table at `at_ms`; None keeps what data files say themselves.

        Raises ValueError when a key is live already.
        """
        for file in files:
            key = file.key
            if key in self._data or key in self._delete_files:
                raise ValueError(f"{key} is in the table already")
            self._changed(file, 1)
            if isinstance(file, DataFile):
                self._data[key] = file if at_ms is None else replace(file, added_at_ms=at_ms)
            else:
                self._delete_files[key] = file

    def remove(self, keys: Iterable[str]) -> None:
        """Let files go. Raises KeyError when a key is not live."""
        for key in keys:
            self._changed(self._data.pop(key) if key in self._data else self._delete_files.pop(key), -1)

    def follow(self, live: Mapping[str, Data | Delete], at_ms: int) -> None:
        """Let go what is not in `live`, files by key; take in what is new, which came in at `at_ms`.

        A file that is the same and now described otherwise is replaced, and keeps the time it came in.
        """
        known = {**self._data, **self._delete_files}
        # A file that was read before is the same object again, which is quicker to tell than its equal.
        read, self._read = self._read, dict(live)
        new = (key for key, file in live.items() if read.get(key) is not file)
        changed = [key for key in new if known.get(key) != live[key]]
        times_ms = {key: self._data[key].added_at_ms for key in changed if key in self._data}
        self.remove([*(known.keys() - live.keys()), *(key for key in changed if key in known)])
        for key in changed:
            self.add([live[key]], times_ms.get(key, at_ms))

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

    def state(self, at_ms: int) -> State:
        """A view of the table now; it follows later changes, so it is valid until the next one."""
        return self._make_state(
            observed_at_ms=at_ms,
            target_file_size_bytes=self._target_file_size_bytes,
            data_files=self._data_view,
            delete_files=self._delete_view,
            partitions=MappingProxyType(self._partitions),
            commits_total_count=self._commits_total_count,
            commits=tuple(self._commits),
            compactions=tuple(self._compactions),
            pending=self.pending,
            properties=self._properties,
            version=self.version,
            stream_epoch_ms=self._stream_epoch_ms,
            derived_values=self._derived_values,
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
            delete_counts=dict(self._delete_counts),
        )

    def _changed(self, file: Data | Delete, sign: int) -> None:
        """Count a file in (1) or out (-1); what was derived from the files holds no longer."""
        self._derived_values = DerivedValues()
        before = self._partitions.get(file.partition, PartitionStats())
        if isinstance(file, DataFile):
            after = replace(
                before,
                files_count=before.files_count + sign,
                size_bytes=before.size_bytes + sign * file.size_bytes,
                rows=before.rows + sign * file.rows,
            )
        else:
            for name, counts in self._counters.items():
                self._delete_counts[name] += sign * counts(file)
            after = replace(
                before,
                delete_files_count=before.delete_files_count + sign,
                delete_size_bytes=before.delete_size_bytes + sign * file.size_bytes,
                delete_rows=before.delete_rows + sign * file.rows,
            )
        if after.files_count or after.delete_files_count:
            self._partitions[file.partition] = after
        else:
            del self._partitions[file.partition]


AnyLedger = Ledger[Any, Any, TableState]


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
