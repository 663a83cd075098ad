"""The file groups of a simulated Hudi table, and which of their rows are live.

Base files and log files have the rows that a commit put there. Later commits supersede rows of earlier files,
and a compaction puts the live rows of a slice into a new base file.
"""

import itertools
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bench.engines.hudi.ledger import HudiLedger
from bench.engines.simulated.contents import Contents, Opened
from bench.engines.simulated.key_ranges import KeyRange
from bench.engines.simulated.recorded_rows import FileRows, RecordedRows
from bench.engines.simulated.selection import Selection
from strategies.hudi.commands import Command
from strategies.hudi.files import BaseFile, FileGroupId, LogFile, busy_groups
from strategies.state import DataFile, PartitionStats
from workloads.commit import CommitSpec

_NO_ROWS = 1e-6  # the error of sums of shares


@dataclass(slots=True)
class Group:
    """The latest slice of a file group; log files are in the order of their commits.

    A log compaction has merged the log files in `superseded` into another one. They stay in the slice:
    readers open them and skip their records.

    In an imported table, `log_rows` is the number of live rows in log files, of which the first `spent_count`
    have none.
    """

    number: int  # in the order in which groups are made
    base: BaseFile | None = None
    logs: list[LogFile] = field(default_factory=list)
    superseded: set[str] = field(default_factory=set)
    log_rows: float = 0.0
    spent_count: int = 0

    @property
    def files(self) -> tuple[BaseFile | LogFile, ...]:
        return (*self.logs,) if self.base is None else (self.base, *self.logs)

    @property
    def read(self) -> tuple[BaseFile | LogFile, ...]:
        return tuple(file for file in self.files if file.path not in self.superseded)


class Groups:
    """File groups by their ids. Every change updates the ledger.

    Base files below `small_file_bytes` are small: commits may add rows to them.
    """

    def __init__(self, ledger: HudiLedger, small_file_bytes: int, rows: FileRows) -> None:
        self._ledger, self._small_file_bytes, self._rows = ledger, small_file_bytes, rows
        self._groups: dict[FileGroupId, Group] = {}
        self._made_count = 0
        self._small: dict[str, dict[FileGroupId, Group]] = {}  # groups with a small base file, by partition
        self._group_of: dict[str, FileGroupId] = {}  # by the path of a file
        self._successors: dict[FileGroupId, FileGroupId] = {}  # of groups that were clustered
        self._contents = Contents(rows)  # of the files that are not superseded
        self._deletes: dict[str, int] = {}  # by log file
        self._merged_bytes: dict[FileGroupId, int] = {}  # of base files with log files

    @property
    def live_rows(self) -> int:
        return self._contents.live_rows

    def __contains__(self, group: FileGroupId) -> bool:
        return group in self._groups

    def __getitem__(self, group: FileGroupId) -> Group:
        return self._groups[group]

    def bases_in(self, partition: str) -> PartitionStats:
        """The sums of all base files in a partition."""
        return self._ledger.partition(partition)

    def small_in(self, partition: str) -> Mapping[FileGroupId, Group]:
        """The groups of a partition whose base file is small and that a compaction could plan for."""
        busy = busy_groups(self._ledger.pending_groups, Command.COMPACTION)
        return {id_: group for id_, group in self._small.get(partition, {}).items() if id_ not in busy}

    def items(self) -> Iterable[tuple[FileGroupId, Group]]:
        return self._groups.items()

    def opened(self, wanted: Selection) -> Opened:
        """What a query opens of the base files."""
        return self._contents.opened(wanted, self._ledger.data_files.runs)

    def merged_bytes(self, wanted: Selection) -> int:
        """The bytes of base files that a query merges with log files."""
        return sum(size for id_, size in self._merged_bytes.items() if wanted.admits(id_.partition))

    def commit(self, spec: CommitSpec) -> Mapping[FileGroupId, int]:
        """Apply a commit without its new files; returns the number of rows that each group loses to it."""
        touched = self._contents.commit(spec)
        if not touched:
            return {}
        lost = Counter[FileGroupId]()
        for (path, _), (rows, _) in touched.items():
            lost[self._group_of[path]] += rows
        return dict(sorted(lost.items(), key=lambda item: self._groups[item[0]].number))

    def losing(self, spec: CommitSpec) -> frozenset[FileGroupId]:
        """The groups of which a commit would change rows."""
        files = (file for _, group in self.items() for file in group.read)
        return frozenset(self._group_of[path] for path, _ in self._contents.losing(spec, files))

    def kept(self, files: Iterable[BaseFile | LogFile]) -> int:
        """The number of live rows, which a rewrite writes; superseded files have none."""
        return self._contents.kept(files)

    def add_base(self, file: BaseFile, keys: KeyRange | None, at_ms: int) -> None:
        """Add the first base file of a group, of rows of the last commit."""
        self._set_base(file, self._made(file.group))
        self._contents.add(file, file.rows, keys)
        self._ledger.add([file], at_ms)

    def deletes(self, logs: Iterable[LogFile]) -> int:
        """The number of deletes in log files; superseded files have none."""
        return sum(self._deletes[log.path] for log in logs if log in self._contents)

    def add_log(self, file: LogFile, live_rows: int, keys: KeyRange | None, at_ms: int) -> None:
        """Add a log file of the last commit; its records beyond `live_rows` are deletes."""
        self._deletes[file.path] = file.rows - live_rows
        group = self._made(file.group)
        group.logs.append(file)
        group.log_rows += live_rows
        self._weigh(file.group, group)
        self._group_of[file.path] = file.group
        self._contents.add(DataFile(file.path, file.size_bytes, live_rows), live_rows, keys, is_base=False)
        self._ledger.add([file], at_ms)

    def replace_base(
        self,
        file: BaseFile,
        gone: Collection[BaseFile | LogFile],
        at_ms: int,
        added_rows: int = 0,
        added_keys: KeyRange | None = None,
    ) -> None:
        """Replace files of a group by a base file with their live rows and `added_rows`."""
        self._contents.replace(gone, [file], added_rows, [added_keys] if added_rows else [])
        self._swap(file, gone, at_ms)

    def put_base(self, file: BaseFile, gone: Collection[BaseFile | LogFile], at_ms: int) -> None:
        """Replace files of a group by a base file that is all live, whatever they have."""
        self._contents.replace(gone, [])
        self._contents.add(file, file.rows, None)
        self._swap(file, gone, at_ms)

    def _swap(self, file: BaseFile, gone: Collection[BaseFile | LogFile], at_ms: int) -> None:
        group, gone_paths = self._made(file.group), {old.path for old in gone}
        self._forget(gone)
        group.logs = [log for log in group.logs if log.path not in gone_paths]
        self._set_base(file, group)
        group.log_rows, group.spent_count = float(self.kept(group.logs)), 0
        group.superseded -= gone_paths
        self._ledger.remove([old.key for old in gone])
        self._ledger.add([file], at_ms)

    def merge_logs(self, file: LogFile, merged: Sequence[LogFile], at_ms: int) -> None:
        """Add a log file with the records of the `merged` ones, which it supersedes."""
        group = self._groups[file.group]
        rows = self.kept(merged)
        self._deletes[file.path] = file.rows - rows
        made = DataFile(file.path, file.size_bytes, rows)
        self._contents.replace(merged, [made], is_base=False)
        group.superseded |= {log.path for log in merged}
        group.logs.append(file)
        self._group_of[file.path] = file.group
        self._ledger.add([file], at_ms)

    def cluster(self, bases: Sequence[BaseFile], gone: Collection[FileGroupId], at_ms: int) -> None:
        """Replace groups by new ones with these base files."""
        if bases and isinstance(self._rows, RecordedRows):
            self._successors |= zip(gone, self._shared(gone, bases), strict=True)
        groups = [self._groups.pop(id_) for id_ in gone]
        for id_ in gone:
            self._small.get(id_.partition, {}).pop(id_, None)
            self._merged_bytes.pop(id_, None)
        files = [file for group in groups for file in group.files]
        self._contents.replace(files, bases)
        self._forget(files)
        for base in bases:
            self._set_base(base, self._made(base.group))
        self._ledger.remove([file.key for file in files])
        self._ledger.add(bases, at_ms)

    def drop(self, groups: Iterable[FileGroupId], at_ms: int, successor: FileGroupId | None = None) -> None:
        """Remove groups from the table, or let their `successor` have what follows in them."""
        present = [id_ for id_ in groups if id_ in self._groups]
        self.cluster((), present, at_ms)
        if successor is not None:
            self._successors |= dict.fromkeys(present, successor)

    def _shared(self, gone: Iterable[FileGroupId], bases: Sequence[BaseFile]) -> Iterator[FileGroupId]:
        """The new group for each old one: they are distributed in their order, by rows."""
        ends = list(itertools.accumulate(base.rows for base in bases))
        before = 0
        for id_ in gone:
            yield bases[min(bisect_right(ends, before), len(bases) - 1)].group
            before += self.kept(self._groups[id_].files)

    def holder(self, id_: FileGroupId) -> FileGroupId:
        """The group that has the rows of a group now."""
        while id_ in self._successors:
            id_ = self._successors[id_]
        return id_

    def has_all(self, files: Iterable[BaseFile | LogFile]) -> bool:
        return all(file.path in self._group_of for file in files)

    def has_only(self, id_: FileGroupId, files: Iterable[BaseFile | LogFile]) -> bool:
        """Whether a group consists of these files."""
        return id_ in self._groups and {file.path for file in self._groups[id_].files} == {
            file.path for file in files
        }

    def hit(self, groups: Iterable[FileGroupId], rows: int) -> None:
        """Delete rows of an imported table, of each group in proportion to its live rows."""
        slices = [self._groups[id_] for id_ in groups if id_ in self._groups]
        live = [self._base_rows(group) + group.log_rows for group in slices]
        all_rows = sum(live)
        for group, own_rows in zip(slices, live, strict=True):
            if own_rows:
                self._hit(group, min(1.0, rows / all_rows))

    def _base_rows(self, group: Group) -> int:
        return 0 if group.base is None else self._rows.live(group.base.origin)

    def _hit(self, group: Group, share: float) -> None:
        """Delete a share of the rows of a slice: in its base file, and in log files from the first one on."""
        if not isinstance(self._rows, RecordedRows):
            raise TypeError("a generated stream hits rows by their keys")
        if group.base is not None:
            self._rows.hit_file(group.base.origin, share * self._base_rows(group))
        left = share * group.log_rows
        group.log_rows -= left
        while left > _NO_ROWS and group.spent_count < len(group.logs):
            log = group.logs[group.spent_count]
            left -= self._rows.hit_file(log.origin, left) if log in self._contents else 0.0
            group.spent_count += left > _NO_ROWS

    def _made(self, id_: FileGroupId) -> Group:
        """The group with this id, a new one if there is none."""
        if id_ not in self._groups:
            self._made_count += 1
            self._groups[id_] = Group(self._made_count)
        return self._groups[id_]

    def _weigh(self, id_: FileGroupId, group: Group) -> None:
        if group.base is not None and group.logs:
            self._merged_bytes[id_] = group.base.size_bytes
        else:
            self._merged_bytes.pop(id_, None)

    def _set_base(self, file: BaseFile, group: Group) -> None:
        group.base = file
        self._weigh(file.group, group)
        self._group_of[file.path] = file.group
        small = self._small.setdefault(file.partition, {})
        if file.size_bytes < self._small_file_bytes:
            small[file.group] = group
        else:
            small.pop(file.group, None)

    def _forget(self, files: Iterable[BaseFile | LogFile]) -> None:
        for file in files:
            self._group_of.pop(file.path, None)
            self._deletes.pop(file.path, None)
