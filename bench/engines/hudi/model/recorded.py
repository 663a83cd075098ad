"""The files of a recorded commit in a simulated Hudi table, which other table services may have changed.

A recorded file goes to the group that has the rows of its own group now: the same one, unless a simulated
clustering has replaced it.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set

from bench.engines.contract import TableSpec
from bench.engines.hudi.model.coefficients import HudiCoefficients
from bench.engines.hudi.model.commits import Written
from bench.engines.hudi.model.groups import Groups
from bench.engines.hudi.table_keys import keys_of
from bench.engines.simulated.recorded_files import resized
from bench.engines.simulated.recorded_rows import recorded_path
from strategies.grouping import by_key
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
        bases = [file for file in change.added if file.is_data]
        self._name(change.added)
        replaced, left = self._replaced(bases, change.removed)
        for base in bases:
            self._add_base(base, replaced[base.id], at_ms, written)
        self._leave(left, at_ms, written)
        for log in change.added:
            if not log.is_data:
                self._add_log(log, at_ms, written)
        both = {file.path for file in written.added} & {file.path for file in written.removed}
        written.added = [file for file in written.added if file.path not in both]
        written.removed = [file for file in written.removed if file.path not in both]
        return written

    def _name(self, files: Iterable[RecordedFile]) -> None:
        """Note the groups of new files: a second base file of a group gets one of its own.

        There are such if a clustering that is left out had made more groups than there were.
        """
        taken = set[FileGroupId]()
        for file in files:
            group = FileGroupId(file.partition, f"recorded-{file.group:08}")  # in the order of their names
            if group in taken:
                group = group._replace(file_id=f"{group.file_id}-{file.id}")
            if file.is_data:
                taken.add(group)
            self._own[recorded_path(file.id)] = group

    def _replaced(
        self, bases: Sequence[RecordedFile], removed: Iterable[RecordedFile]
    ) -> tuple[Mapping[int, list[RecordedFile]], list[RecordedFile]]:
        """The removed files that each base file replaces, by its id, and those that leave with their rows.

        A base file replaces those of its group. If the base files in a partition had more rows than their
        groups, a clustering that is left out had merged other groups with these: each with the one before it.
        """
        by_group = by_key(removed, self._group_of)
        replaced = {base.id: by_group.pop(self._group_of(base), []) for base in bases}
        more_rows = Counter[str]()
        for base in bases:
            before_rows = base.rows - (base.new_rows or 0) + (base.hit_rows or 0)
            more_rows[base.partition] += before_rows - _live_rows(replaced[base.id])
        starts = sorted((self._group_of(base), base.id) for base in bases)
        for group in [group for group in by_group if more_rows[group.partition] > 0]:
            place = max(0, bisect_right(starts, (group, 0)) - 1)
            place += starts[place][0].partition != group.partition
            replaced[starts[place][1]] += by_group.pop(group)
        return replaced, [file for files in by_group.values() for file in files]

    def _add_base(
        self, base: RecordedFile, replaced: Sequence[RecordedFile], at_ms: int, written: Written
    ) -> None:
        """Add a base file with its new rows and all live rows of the groups it replaces.

        It is as recorded if these are. It replaces its own group, and others that have no other rows.
        """
        groups, own = self._groups, self._group_of(base)
        id_, paths = groups.holder(own), {recorded_path(file.id) for file in replaced}
        gone = [file for file in self._files(id_) if file.path in paths or not self._is_recorded_log(file)]
        recorded = {self._group_of(file) for file in replaced}
        others = sorted(self._only_in(recorded) - {id_}) if recorded - {own} else []
        read = [*gone, *(file for other in others for file in self._files(other))]
        groups.hit([id_, *others], base.hit_rows or 0)
        is_estimated = any(file.new_rows is None for file in replaced)
        if not is_estimated or {file.path for file in read} != paths:
            rows = groups.kept(read) + (base.new_rows or 0)
            base = resized(base, rows, self._schema, self._coefficients)
        groups.drop(others, at_ms, successor=id_)
        self._present -= recorded
        self._present.add(own)
        path, partition = recorded_path(base.id), base.partition
        made = BaseFile(path, base.size_bytes, base.rows, partition, file_id=id_.file_id)
        groups.put_base(made, gone, at_ms)
        written.added.append(made)
        written.removed += read

    def _leave(self, files: Iterable[RecordedFile], at_ms: int, written: Written) -> None:
        """Groups leave with all their rows; one that a clustering has given others too keeps those."""
        by_group = by_key(files, self._group_of)
        gone = self._only_in({*by_group})
        self._present -= {*by_group}
        for group, own in by_group.items():
            holder = self._groups.holder(group)
            if holder not in gone:
                self._groups.hit([holder], _live_rows(own))
        for holder in sorted(gone):
            written.removed += self._files(holder)
            self._groups.drop({holder}, at_ms)

    def _add_log(self, log: RecordedFile, at_ms: int, written: Written) -> None:
        """Its hits are in the slice of its base file, in several groups if a clustering is left out."""
        own, rows = self._group_of(log), log.rows if log.new_rows is None else log.new_rows
        paths = (recorded_path(id_) for id_ in log.targets)
        hit = {own, *(self._own[path] for path in paths if path in self._own)}
        self._groups.hit(sorted(self._holders(hit)), rows if log.hit_rows is None else log.hit_rows)
        path, file_id = recorded_path(log.id), self._groups.holder(own).file_id
        made = LogFile(path, log.size_bytes, log.rows, log.partition, file_id=file_id)
        self._groups.add_log(made, rows, None, at_ms)
        self._present.add(own)
        written.added.append(made)

    def _group_of(self, file: RecordedFile) -> FileGroupId:
        """The group that a file was added to: that of a clustering that is left out is another."""
        return self._own[recorded_path(file.id)]

    def _holders(self, groups: Iterable[FileGroupId]) -> set[FileGroupId]:
        return {self._groups.holder(group) for group in groups}

    def _only_in(self, recorded: Set[FileGroupId]) -> set[FileGroupId]:
        """The groups that have the rows of recorded ones and none of any other."""
        if not recorded:
            return set()
        return self._holders(recorded) - self._holders(self._present - recorded)

    def _files(self, group: FileGroupId) -> Sequence[BaseFile | LogFile]:
        return self._groups[group].files if group in self._groups else ()

    def _is_recorded_log(self, file: BaseFile | LogFile) -> bool:
        return isinstance(file, LogFile) and file.path in self._own


def _live_rows(files: Iterable[RecordedFile]) -> int:
    """The rows of file slices."""
    return sum(file.rows if file.is_data else (file.new_rows or 0) - (file.hit_rows or 0) for file in files)
