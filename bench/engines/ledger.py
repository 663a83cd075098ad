"""The table state, updated incrementally: adding or removing a run of files takes constant time."""

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from bench.engines.contract import Observation, Ticket, Version
from bench.engines.live_files import LiveFiles
from bench.results.values import Cost, TableFigures
from strategies.plan import Rewrite
from strategies.series import Run, Series
from strategies.state import (
    CommitSeen,
    DataFile,
    DeleteFile,
    DerivedValues,
    PartitionStats,
    PendingPlan,
    TableState,
)

HISTORY_LIMIT = 1000  # commits, queries and compactions that a planner can look back on


Data = TypeVar("Data", bound=DataFile)
Delete = TypeVar("Delete", bound=DeleteFile)
State = TypeVar("State", bound=TableState, covariant=True)


@dataclass(frozen=True, slots=True)
class TableReading:
    """Live files by key, and the versions since the last reading, in commit order.

    `data_bytes` and `metadata_bytes` count all files in storage.
    """

    live: Mapping[str, DataFile | DeleteFile]
    versions: tuple[Version, ...]
    data_bytes: int
    metadata_bytes: int


class Ledger(Generic[Data, Delete, State]):
    """The live files of a table of any format by key, their sums per partition, and its latest commits.

    `make_state` is the format's state class, called with the fields of `TableState` by name. `counters` count
    some of the format's delete files, under their field names in records.

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
        self._data = LiveFiles[Data]()
        self._delete_files: dict[str, Delete] = {}
        # A heap of the times at which they were added, with their keys; it has removed files too.
        self._delete_times_ms: list[tuple[int, str]] = []
        self._read: dict[str, Data | Delete] = {}  # the files of the last call of `follow`
        # The view is made once: states cache what they derive from files by its identity.
        self._delete_view = self._delete_files.values()
        self._derived_values = DerivedValues()
        self._partitions: dict[str, PartitionStats] = {}
        self._total = PartitionStats()
        self._commits: deque[CommitSeen] = deque(maxlen=HISTORY_LIMIT)
        self._commits_total_count = 0
        self._rewritten: set[str] = set()  # partitions in which files were removed since the last observation
        self.pending: Callable[[], tuple[PendingPlan, ...]] = tuple  # asked when a state is made
        self.version: str | None = None

    @property
    def data_files(self) -> LiveFiles[Data]:
        """Live data files by path; not to be changed."""
        return self._data

    @property
    def delete_files(self) -> Mapping[str, Delete]:
        """Live delete files by key: the path, or for a deletion vector its path and data file."""
        return MappingProxyType(self._delete_files)

    def add(self, added: Iterable[Run[Data] | Delete], at_ms: int | None) -> None:
        """Add files at a time; None keeps their `added_at_ms`.

        Raises ValueError when a key is live already.
        """
        for item in added:
            if isinstance(item, DeleteFile):
                self._add_delete(item if at_ms is None else replace(item, added_at_ms=at_ms))
                continue
            if item.origin in self._delete_files:
                raise ValueError(f"{item.origin} is already in the table")
            self._data.add(item if at_ms is None else _added(item, at_ms))
            self._update_data_sums(item, 1)

    def _add_delete(self, file: Delete) -> None:
        key = file.key
        if key in self._data or key in self._delete_files:
            raise ValueError(f"{key} is already in the table")
        self._delete_files[key] = file
        if file.added_at_ms is not None:
            heapq.heappush(self._delete_times_ms, (file.added_at_ms, key))
        self._update_delete_sums(file, 1)

    def remove(self, keys: Iterable[str]) -> None:
        """Raises KeyError when a key is not live."""
        for key in keys:
            delete = self._delete_files.pop(key, None)
            if delete is None:
                self.remove_data(self._data.located([self._data[key]]))
            else:
                self._update_delete_sums(delete, -1)

    def remove_data(self, runs: Iterable[Run[Data]]) -> None:
        """Raises KeyError for a run that is not live."""
        for run in runs:
            self._data.remove(run)
            self._update_data_sums(run, -1)

    def follow(self, live: Mapping[str, Data | Delete], at_ms: int) -> None:
        """Replace the live files by `live`, given by key: new ones are added at `at_ms`.

        A file whose description has changed is replaced, but keeps the time at which it was added.
        """
        known: dict[str, Data | Delete] = {file.key: file for file in self._data.values()}
        known |= self._delete_files
        # A reader returns the same object for a file it has seen before; identity is cheaper than equality.
        read, self._read = self._read, dict(live)
        new = (key for key, file in live.items() if read.get(key) is not file)
        changed = [key for key in new if known.get(key) != live[key]]
        times_ms = {key: known[key].added_at_ms for key in changed if key in known}
        self.remove([*(known.keys() - live.keys()), *(key for key in changed if key in known)])
        for key in changed:
            self.add([live[key]], times_ms.get(key, at_ms))

    def saw_versions(self, versions: Iterable[Version]) -> None:
        """The last of these new versions becomes the state's; commits of the stream go into the history."""
        for version in versions:
            self.version = version.id or self.version
            tag, change = version.tag, version.change
            if tag is not None and tag.is_stream_commit:
                seen = CommitSeen(tag.at_ms, change.files_added_count, change.added_bytes, tag.rows)
                self._commits.append(seen)
                self._commits_total_count += 1

    @property
    def data_bytes(self) -> int:
        return self._total.size_bytes

    @property
    def size_bytes(self) -> int:
        """Data and delete files."""
        return self._total.size_bytes + self._total.delete_size_bytes

    @property
    def partitions(self) -> Mapping[str, PartitionStats]:
        return MappingProxyType(self._partitions)

    def partition(self, name: str) -> PartitionStats:
        """The sums of the files in a partition."""
        return self._partitions.get(name, PartitionStats())

    @property
    def data_rows(self) -> int:
        """The rows of all data files, deletes not applied."""
        return self._total.rows

    def state(self, at_ms: int) -> State:
        """A view of the table, valid until the next change."""
        return self._make_state(
            observed_at_ms=at_ms,
            target_file_size_bytes=self._target_file_size_bytes,
            data_files=self._data.values(),
            delete_files=self._delete_view,
            partitions=self.partitions,
            commits_total_count=self._commits_total_count,
            commits=tuple(self._commits),
            pending=self.pending(),
            properties=self._properties,
            version=self.version,
            stream_epoch_ms=self._stream_epoch_ms,
            derived_values=self._derived_values,
        )

    def observation(self, cost: Cost, storage_bytes: int, metadata_storage_bytes: int) -> Observation:
        """The table now, with all bytes in storage, those of old versions included.

        Resets the partitions in which files were removed.
        """
        total, rewritten, self._rewritten = self._total, frozenset(self._rewritten), set()
        table = TableFigures(
            data_files_count=total.files_count,
            delete_files_count=total.delete_files_count,
            live_bytes=self.size_bytes,
            rows=total.rows,
            delete_rows=total.delete_rows,
            storage_bytes=storage_bytes,
            metadata_storage_bytes=metadata_storage_bytes,
            delete_bytes_by_partition={
                name: p.delete_size_bytes for name, p in self._partitions.items() if p.delete_files_count
            },
            data_bytes_by_partition={name: p.size_bytes for name, p in self._partitions.items()},
            oldest_delete_at_ms=self._oldest_delete_ms(),
            **self._delete_counts,
        )
        return Observation(cost, self.version, table, rewritten)

    def _oldest_delete_ms(self) -> int | None:
        times = self._delete_times_ms
        while times:
            at_ms, key = times[0]
            file = self._delete_files.get(key)
            if file is not None and file.added_at_ms == at_ms:
                return at_ms
            heapq.heappop(times)  # removed since, or added again
        return None

    def _update_data_sums(self, run: Run[Data], sign: int) -> None:
        count, file = sign * run.count, run.first
        self._update_sums(
            file.partition, sign, PartitionStats(count, count * file.size_bytes, count * file.rows)
        )

    def _update_delete_sums(self, file: Delete, sign: int) -> None:
        for name, counts in self._counters.items():
            self._delete_counts[name] += sign * counts(file)
        change = PartitionStats(
            delete_files_count=sign,
            delete_size_bytes=sign * file.size_bytes,
            delete_rows=sign * file.rows,
        )
        self._update_sums(file.partition, sign, change)

    def _update_sums(self, partition: str, sign: int, change: PartitionStats) -> None:
        self._derived_values = DerivedValues()
        if sign < 0:
            self._rewritten.add(partition)
        self._total += change
        after = self._partitions.get(partition, PartitionStats()) + change
        if after.files_count or after.delete_files_count:
            self._partitions[partition] = after
        else:
            del self._partitions[partition]


AnyLedger = Ledger[Any, Any, TableState]


def pending_plan(ticket: Ticket) -> PendingPlan:
    """The paths are the files that the plan names, and those that its preview replaces."""
    rewrites = (action for action in ticket.plan.actions if isinstance(action, Rewrite))
    named = frozenset(key for rewrite in rewrites for key in rewrite.keys)
    paths = named | ticket.preview.keys
    return PendingPlan(ticket.scheduled_at_ms, ticket.due_at_ms, ticket.plan.reason, paths)


def _added(run: Run[Data], at_ms: int) -> Run[Data]:
    """The run with the time at which it was added."""
    first = replace(run.first, added_at_ms=at_ms)
    return Series(first, run.count, run.names, run.number, run.key_step) if isinstance(run, Series) else first
