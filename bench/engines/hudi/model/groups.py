"""The file groups of a simulated Hudi table, and which of their rows are live.

A base file and each log file have rows of their own: those that the commit put there. A commit kills rows of
earlier files, and a compaction puts the live rows of a slice into a new base file.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bench.engines.hudi.ledger import HudiLedger
from bench.engines.simulated.key_ranges import KeyRange, span_of_ranges
from bench.engines.simulated.live_rows import LiveRows
from strategies.hudi.commands import Command
from strategies.hudi.files import BaseFile, FileGroupId, LogFile, busy_groups
from strategies.state import DataFile
from workloads.commit import CommitSpec


@dataclass(slots=True)
class Group:
    """A file group: the base file and the log files of its latest slice, oldest first.

    The records of log files in `superseded` are in one that a log compaction has made of them. They stay
    files of their slice: readers open them and skip what is in them.
    """

    base: BaseFile | None = None
    logs: list[LogFile] = field(default_factory=list)
    superseded: set[str] = field(default_factory=set)

    @property
    def files(self) -> tuple[BaseFile | LogFile, ...]:
        """All files of the slice."""
        return (*self.logs,) if self.base is None else (self.base, *self.logs)

    @property
    def read(self) -> tuple[BaseFile | LogFile, ...]:
        """Those whose rows readers take."""
        return tuple(file for file in self.files if file.path not in self.superseded)


class Groups:
    """The file groups by their ids. Every change is told to the ledger."""

    def __init__(self, ledger: HudiLedger) -> None:
        self._ledger = ledger
        self._groups: dict[FileGroupId, Group] = {}
        self._rows = LiveRows()
        self._live: dict[str, int] = {}  # of each file, as of the last commit
        self._keys: dict[str, KeyRange | None] = {}
        self._deletes: dict[str, int] = {}  # of each log file, the keys that it says are deleted

    @property
    def live_rows(self) -> int:
        """The live rows of the table."""
        return self._rows.total

    def __contains__(self, group: FileGroupId) -> bool:
        return group in self._groups

    def __getitem__(self, group: FileGroupId) -> Group:
        return self._groups[group]

    def in_partition(self, partition: str) -> Mapping[FileGroupId, Group]:
        """The groups of one partition."""
        return {each: group for each, group in self._groups.items() if each.partition == partition}

    def free_in(self, partition: str) -> Mapping[FileGroupId, Group]:
        """The groups of one partition that may get new rows: those a compaction could plan for."""
        busy = busy_groups(self._ledger.pending_groups, Command.COMPACTION)
        return {each: group for each, group in self.in_partition(partition).items() if each not in busy}

    def items(self) -> Iterable[tuple[FileGroupId, Group]]:
        """All groups."""
        return self._groups.items()

    def keys(self, path: str) -> KeyRange | None:
        """The lowest and the highest key of a file; None if they are not known."""
        return self._keys[path]

    def commit(self, spec: CommitSpec) -> Mapping[FileGroupId, int]:
        """Apply a commit, whose files come later: the rows that each group loses to it, whole ones."""
        self._rows.commit(spec)
        lost: dict[FileGroupId, int] = {}
        for each, group in self._groups.items():
            for file in group.read:
                left = self._rows.live(file.path)
                if left < self._live[file.path]:
                    lost[each] = lost.get(each, 0) + self._live[file.path] - left
                    self._live[file.path] = left
        return lost

    def kept(self, files: Iterable[BaseFile | LogFile]) -> int:
        """The live rows of files, as a rewrite of them writes them; superseded ones have none."""
        return self._rows.kept(file.path for file in files if file.path in self._live)

    def add_base(self, file: BaseFile, keys: KeyRange | None, at_ms: int) -> None:
        """Add the first base file of a group, of rows of the last commit."""
        self._groups.setdefault(file.group, Group()).base = file
        self._rows.add(file, file.rows, keys)
        self._known(file.path, keys)
        self._ledger.add([file], at_ms)

    def deletes(self, logs: Iterable[LogFile]) -> int:
        """How many keys these log files say are deleted; superseded ones say nothing."""
        return sum(self._deletes[log.path] for log in logs if log.path in self._live)

    def add_log(self, file: LogFile, live_rows: int, keys: KeyRange | None, at_ms: int) -> None:
        """Add a log file of the last commit, whose other records than these say that a key is deleted."""
        self._deletes[file.path] = file.rows - live_rows
        self._groups.setdefault(file.group, Group()).logs.append(file)
        self._rows.add(DataFile(file.path, file.size_bytes, live_rows), live_rows, keys)
        self._known(file.path, keys)
        self._ledger.add([file], at_ms)

    def replace_base(
        self,
        file: BaseFile,
        gone: Collection[BaseFile | LogFile],
        at_ms: int,
        added_rows: int = 0,
        added_keys: KeyRange | None = None,
    ) -> None:
        """Put a base file in the place of others of its group; it has their live rows and `added_rows`."""
        group = self._groups[file.group]
        self._replace(file, gone, added_rows, [added_keys] if added_rows else [])
        group.base = file
        group.logs = [log for log in group.logs if log not in gone]
        group.superseded -= {each.path for each in gone}
        self._ledger.remove([each.key for each in gone])
        self._ledger.add([file], at_ms)

    def merge_logs(self, file: LogFile, merged: Sequence[LogFile], at_ms: int) -> None:
        """Add a log file of the records of others of its group, which it supersedes."""
        group = self._groups[file.group]
        rows = self.kept(merged)
        self._deletes[file.path] = file.rows - rows
        self._replace(DataFile(file.path, file.size_bytes, rows), merged, 0, [])
        group.superseded |= {log.path for log in merged}
        group.logs.append(file)
        self._ledger.add([file], at_ms)

    def cluster(self, made: Sequence[BaseFile], gone: Collection[FileGroupId], at_ms: int) -> None:
        """Put new groups in the place of others."""
        groups = [self._groups.pop(each) for each in gone]
        read = [file for group in groups for file in group.read]
        keys = span_of_ranges(self._keys.pop(file.path) for file in read)
        self._rows.replace([file.path for file in read], made)
        for file in read:
            del self._live[file.path]
        for base in made:
            self._groups[base.group] = Group(base)
            self._known(base.path, keys)
        self._ledger.remove([file.key for group in groups for file in group.files])
        self._ledger.add(made, at_ms)

    def _replace(
        self,
        made: DataFile,
        gone: Collection[BaseFile | LogFile],
        added_rows: int,
        added_keys: Sequence[KeyRange | None],
    ) -> None:
        read = [file.path for file in gone if file.path in self._live]
        keys = span_of_ranges([*(self._keys.pop(path) for path in read), *added_keys])
        self._rows.replace(read, [made] if made.rows else [], added_rows)
        if not made.rows:  # of deleted keys alone
            self._rows.add(made, 0)
        for path in read:
            del self._live[path]
        self._known(made.path, keys)

    def _known(self, path: str, keys: KeyRange | None) -> None:
        self._keys[path] = keys
        self._live[path] = self._rows.live(path)
