"""The files of a recorded commit in a simulated Hudi table, which other table services may have changed.

A recorded file goes to the group that has the rows of its own group now: the same one, unless a simulated
clustering has replaced it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from bench.engines.contract import TableSpec
from bench.engines.hudi.model.coefficients import HudiCoefficients
from bench.engines.hudi.model.commits import Written
from bench.engines.hudi.model.groups import Groups
from bench.engines.hudi.table_keys import keys_of
from bench.engines.simulated.recorded_files import resized
from bench.engines.simulated.recorded_rows import recorded_path
from strategies.hudi.files import BaseFile, FileGroupId, LogFile
from workloads.commit import CommitSpec
from workloads.recorded import NO_RECORDED_CHANGE, RecordedFile

_LOOKS_UP = "UPSERT"  # the operation that reads the keys of base files, without a bucket index


class RecordedWriter:
    """Applies the recorded commits of an imported table."""

    def __init__(self, spec: TableSpec, groups: Groups, coefficients: HudiCoefficients) -> None:
        self._groups, self._schema, self._coefficients = groups, spec.schema, coefficients
        self._looks_up_keys = keys_of(spec).index != "bucket"
        self._own: dict[str, FileGroupId] = {}  # the recorded group of each recorded file, by path
        self._present: set[FileGroupId] = set()  # recorded groups that have not left the table

    def commit(self, spec: CommitSpec, at_ms: int) -> Written:
        change, written = spec.recorded or NO_RECORDED_CHANGE, Written()
        self._groups.commit(spec)
        if self._looks_up_keys and change.operation == _LOOKS_UP:
            partitions = {file.partition for file in change.added}
            counts = (self._groups.bases_in(partition).files_count for partition in partitions)
            written.looked_up_count = sum(counts)
        self._own |= ((recorded_path(file.id), _group_of(file)) for file in change.added)
        bases = [file for file in change.added if file.is_data]
        replaced, left = self._replaced(bases, change.removed)
        for base in bases:
            self._add_base(base, replaced[base.id], at_ms, written)
        self._leave(left, at_ms, written)
        for log in change.added:
            if not log.is_data:
                self._add_log(log, at_ms, written)
        return written

    def _replaced(
        self, bases: Iterable[RecordedFile], removed: Iterable[RecordedFile]
    ) -> tuple[Mapping[int, list[RecordedFile]], list[RecordedFile]]:
        """The removed files that each base file replaces, by its id, and those that leave with their rows.

        A base file replaces those of its group. If these and the commit have fewer rows than it, it has those
        of other groups as well, which a clustering that is left out had merged with its own.
        """
        by_group = defaultdict[FileGroupId, list[RecordedFile]](list)
        for file in removed:
            by_group[self._group_of(file)].append(file)
        replaced = {base.id: by_group.pop(_group_of(base), []) for base in bases}
        for base in bases:
            own, before_rows = replaced[base.id], base.rows - (base.new_rows or 0) + (base.hit_rows or 0)
            others = [group for group in by_group if group.partition == base.partition]
            while others and before_rows > _live_rows(own):
                own += by_group.pop(others.pop(0))
        return replaced, [file for files in by_group.values() for file in files]

    def _add_base(
        self, base: RecordedFile, replaced: Sequence[RecordedFile], at_ms: int, written: Written
    ) -> None:
        """As recorded if it replaces what it did; otherwise with all live rows of the groups it replaces."""
        groups, id_ = self._groups, self._groups.holder(_group_of(base))
        paths = {recorded_path(file.id) for file in replaced}
        gone = [file for file in self._files(id_) if file.path in paths or not self._is_recorded_log(file)]
        others = {groups.holder(self._group_of(file)) for file in replaced} - {id_}
        of_others = [file for other in sorted(others) for file in self._files(other)]
        groups.hit([id_, *sorted(others)], base.hit_rows or 0)
        if {file.path for file in (*gone, *of_others)} != paths:
            rows = groups.kept([*gone, *of_others]) + (base.new_rows or 0)
            base = resized(base, rows, self._schema, self._coefficients)
        groups.drop(others, at_ms, successor=id_)
        self._present -= {self._group_of(file) for file in replaced}
        self._present.add(_group_of(base))
        path, partition = recorded_path(base.id), base.partition
        made = BaseFile(path, base.size_bytes, base.rows, partition, file_id=id_.file_id)
        groups.put_base(made, gone, at_ms)
        written.added.append(made)
        written.removed += (*gone, *of_others)

    def _leave(self, files: Iterable[RecordedFile], at_ms: int, written: Written) -> None:
        """Groups leave with all their rows; one that a clustering has given others too keeps those."""
        by_group = defaultdict[FileGroupId, list[RecordedFile]](list)
        for file in files:
            by_group[self._group_of(file)].append(file)
        self._present -= {*by_group}
        staying = {self._groups.holder(group) for group in self._present} if by_group else set()
        for group, own in by_group.items():
            holder = self._groups.holder(group)
            if holder in staying:
                self._groups.hit([holder], _live_rows(own))
            else:
                written.removed += self._files(holder)
                self._groups.drop({holder}, at_ms)

    def _add_log(self, log: RecordedFile, at_ms: int, written: Written) -> None:
        """Its hits are in the slice of its base file, in several groups if a clustering is left out."""
        own, rows = _group_of(log), log.rows if log.new_rows is None else log.new_rows
        paths = (recorded_path(id_) for id_ in log.targets)
        hit = {own, *(self._own[path] for path in paths if path in self._own)}
        holders = sorted({self._groups.holder(group) for group in hit})
        self._groups.hit(holders, rows if log.hit_rows is None else log.hit_rows)
        path, file_id = recorded_path(log.id), self._groups.holder(own).file_id
        made = LogFile(path, log.size_bytes, log.rows, log.partition, file_id=file_id)
        self._groups.add_log(made, rows, None, at_ms)
        self._present.add(own)
        written.added.append(made)

    def _group_of(self, file: RecordedFile) -> FileGroupId:
        """The group that a removed file was added to: that of a clustering that is left out is another."""
        return self._own[recorded_path(file.id)]

    def _files(self, group: FileGroupId) -> Sequence[BaseFile | LogFile]:
        return self._groups[group].files if group in self._groups else ()

    def _is_recorded_log(self, file: BaseFile | LogFile) -> bool:
        return isinstance(file, LogFile) and file.path in self._own


def _group_of(file: RecordedFile) -> FileGroupId:
    """Numbers of groups are in the order of their names."""
    return FileGroupId(file.partition, f"recorded-{file.group:08}")


def _live_rows(files: Iterable[RecordedFile]) -> int:
    """The rows of file slices."""
    return sum(file.rows if file.is_data else (file.new_rows or 0) - (file.hit_rows or 0) for file in files)
