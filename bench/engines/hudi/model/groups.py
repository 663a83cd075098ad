"""The file groups of a simulated Hudi table, and which of their rows are live.

Base files and log files have the rows that a commit put there. Later commits supersede rows of earlier files,
and a compaction puts the live rows of a slice into a new base file.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bench.engines.hudi.ledger import HudiLedger
from bench.engines.simulated.contents import Contents
from bench.engines.simulated.key_ranges import KeyRange
from strategies.hudi.commands import Command
from strategies.hudi.files import BaseFile, FileGroupId, LogFile, busy_groups
from strategies.state import DataFile
from workloads.commit import CommitSpec


@dataclass(slots=True)
class Group:
    """The latest slice of a file group; log files are in the order of their commits.

    A log compaction has merged the log files in `superseded` into another one. They stay in the slice:
    readers open them and skip their records.
    """

    base: BaseFile | None = None
    logs: list[LogFile] = field(default_factory=list)
    superseded: set[str] = field(default_factory=set)

    @property
    def files(self) -> tuple[BaseFile | LogFile, ...]:
        return (*self.logs,) if self.base is None else (self.base, *self.logs)

    @property
    def read(self) -> tuple[BaseFile | LogFile, ...]:
        return tuple(file for file in self.files if file.path not in self.superseded)


class Groups:
    """File groups by their ids. Every change updates the ledger."""

    def __init__(self, ledger: HudiLedger) -> None:
        self._ledger = ledger
        self._groups: dict[FileGroupId, Group] = {}
        self._contents = Contents()  # of the files that are not superseded
        self._deletes: dict[str, int] = {}  # by log file

    @property
    def live_rows(self) -> int:
        return self._contents.live_rows

    def __contains__(self, group: FileGroupId) -> bool:
        return group in self._groups

    def __getitem__(self, group: FileGroupId) -> Group:
        return self._groups[group]

    def in_partition(self, partition: str) -> Mapping[FileGroupId, Group]:
        return {id_: group for id_, group in self._groups.items() if id_.partition == partition}

    def free_in(self, partition: str) -> Mapping[FileGroupId, Group]:
        """The groups of a partition that may get new rows: those that a compaction could plan for."""
        busy = busy_groups(self._ledger.pending_groups, Command.COMPACTION)
        return {id_: group for id_, group in self.in_partition(partition).items() if id_ not in busy}

    def items(self) -> Iterable[tuple[FileGroupId, Group]]:
        return self._groups.items()

    def keys(self, path: str) -> KeyRange | None:
        """The lowest and the highest key of a file; None if they are not known."""
        return self._contents.keys(path)

    def commit(self, spec: CommitSpec) -> Mapping[FileGroupId, int]:
        """Apply a commit without its new files; returns the number of rows that each group loses to it."""
        touched = self._contents.commit(spec)
        if not touched:
            return {}
        lost = {
            id_: sum(touched[file.path][0] for file in group.read if file.path in touched)
            for id_, group in self._groups.items()
        }
        return {id_: rows for id_, rows in lost.items() if rows}

    def kept(self, files: Iterable[BaseFile | LogFile]) -> int:
        """The number of live rows, which a rewrite writes; superseded files have none."""
        return self._contents.kept(file.path for file in files)

    def add_base(self, file: BaseFile, keys: KeyRange | None, at_ms: int) -> None:
        """Add the first base file of a group, of rows of the last commit."""
        self._groups.setdefault(file.group, Group()).base = file
        self._contents.add(file, keys)
        self._ledger.add([file], at_ms)

    def deletes(self, logs: Iterable[LogFile]) -> int:
        """The number of deletes in log files; superseded files have none."""
        return sum(self._deletes[log.path] for log in logs if log.path in self._contents)

    def add_log(self, file: LogFile, live_rows: int, keys: KeyRange | None, at_ms: int) -> None:
        """Add a log file of the last commit; its records beyond `live_rows` are deletes."""
        self._deletes[file.path] = file.rows - live_rows
        self._groups.setdefault(file.group, Group()).logs.append(file)
        self._contents.add(DataFile(file.path, file.size_bytes, live_rows), keys)
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
        group = self._groups[file.group]
        self._contents.replace(
            [old.path for old in gone], [file], added_rows, [added_keys] if added_rows else []
        )
        group.base = file
        group.logs = [log for log in group.logs if log not in gone]
        group.superseded -= {old.path for old in gone}
        self._ledger.remove([old.key for old in gone])
        self._ledger.add([file], at_ms)

    def merge_logs(self, file: LogFile, merged: Sequence[LogFile], at_ms: int) -> None:
        """Add a log file with the records of the `merged` ones, which it supersedes."""
        group = self._groups[file.group]
        rows = self.kept(merged)
        self._deletes[file.path] = file.rows - rows
        made = DataFile(file.path, file.size_bytes, rows)
        self._contents.replace([log.path for log in merged], [made])
        group.superseded |= {log.path for log in merged}
        group.logs.append(file)
        self._ledger.add([file], at_ms)

    def cluster(self, bases: Sequence[BaseFile], gone: Collection[FileGroupId], at_ms: int) -> None:
        """Replace groups by new ones with these base files."""
        groups = [self._groups.pop(id_) for id_ in gone]
        self._contents.replace([file.path for group in groups for file in group.files], bases)
        for base in bases:
            self._groups[base.group] = Group(base)
        self._ledger.remove([file.key for group in groups for file in group.files])
        self._ledger.add(bases, at_ms)
