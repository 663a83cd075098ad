"""The files that Spark's MERGE makes of a commit, merge-on-read or copy-on-write.

Merge-on-read deletes rows of older files by position, in one delete file for each data file that takes the
place of the one before (write.delete.granularity = file; SparkPositionDeltaWrite of Iceberg 1.11.0). Its new
rows are shuffled by partition, and adaptive execution puts those of a partition into one task.

Copy-on-write writes all live rows of the files that have changed ones again, with the new rows: in one task
for each partition, and of an unpartitioned table, which is not shuffled once more, in the tasks of the join.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bench.engines.contract import TableSpec
from bench.engines.iceberg.ledger import IcebergLedger
from bench.engines.iceberg.model.files import FileMaker, bounds_of, keys_of
from bench.engines.iceberg.table_keys import MERGE_ON_READ
from bench.engines.simulated.contents import Contents
from bench.engines.simulated.key_ranges import KeyRange, ends_of_keys, ranges_of_rows, span_of_ranges
from bench.engines.simulated.live_rows import Place
from bench.engines.simulated.rolling import rolled
from strategies.grouping import by_key
from strategies.iceberg.files import IcebergDataFile, IcebergDeleteFile
from strategies.preview import even_share
from strategies.series import Run
from workloads.commit import CommitSpec, PartitionShape
from workloads.spread import hashed_writers

_Files = list[Run[IcebergDataFile]]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Files of one partition, and those that hold their live rows and `new_rows` with `keys` instead."""

    gone: _Files
    made: list[IcebergDataFile]
    new_rows: int
    keys: list[KeyRange | None]


@dataclass(slots=True)
class Merged:
    """What a MERGE adds and removes."""

    added: _Files = field(default_factory=list)  # of new rows alone
    deletes: list[IcebergDeleteFile] = field(default_factory=list)
    removed_deletes: list[str] = field(default_factory=list)
    rewritten: list[Rewritten] = field(default_factory=list)

    @property
    def removed(self) -> _Files:
        return [run for one in self.rewritten for run in one.gone]

    @property
    def data(self) -> _Files:
        return [*self.added, *(file for one in self.rewritten for file in one.made)]


class MergeMaker:
    """Makes the files of commits by MERGE. `full_rows` are those of a file of the table's target size."""

    def __init__(
        self, spec: TableSpec, ledger: IcebergLedger, maker: FileMaker, full_rows: int, join_tasks_count: int
    ) -> None:
        self._ledger, self._maker, self._full_rows = ledger, maker, full_rows
        self._is_merge_on_read = spec.upsert_mode == MERGE_ON_READ
        self._tasks_count = spec.files_per_commit or join_tasks_count

    def of(
        self, spec: CommitSpec, touched: Mapping[Place, int], contents: Contents, sequence_number: int
    ) -> Merged:
        """The files of a commit; `touched` is each file that loses rows, with the live rows left in it."""
        files = [(self._ledger.data_files.at(*place), left) for place, left in touched.items()]
        if self._is_merge_on_read:
            return self._marked(spec, files, sequence_number)
        return self._rewritten(spec, [run for run, _ in files], contents, sequence_number)

    def _marked(
        self, spec: CommitSpec, touched: Sequence[tuple[Run[IcebergDataFile], int]], number: int
    ) -> Merged:
        """A delete file has all deleted rows of its data file, those of the file before it included."""
        merged = Merged()
        for shape in spec.partitions:
            merged.added += self._new_files(spec, shape, number)
        merged.deletes = [
            self._maker.written_deletes(run.first, run.first.rows - left, number) for run, left in touched
        ]
        marked = {run.first.path for run, _ in touched}
        deletes = self._ledger.delete_files.items()
        merged.removed_deletes = [key for key, file in deletes if file.referenced_data_file in marked]
        return merged

    def _new_files(self, spec: CommitSpec, shape: PartitionShape, number: int) -> _Files:
        count = sum(1 for _ in rolled(shape.live_rows, self._full_rows))
        return self._maker.new_files(spec, shape.partition, shape.live_rows, count, number)

    def _rewritten(
        self, spec: CommitSpec, touched: Iterable[Run[IcebergDataFile]], contents: Contents, number: int
    ) -> Merged:
        gone = by_key(touched, lambda run: run.first.partition)
        new_rows = {shape.partition: shape.live_rows for shape in spec.partitions}
        merged = Merged()
        for partition in dict.fromkeys((*new_rows, *gone)):
            replaced, own_rows = gone.get(partition, []), new_rows.get(partition, 0)
            keys = ranges_of_rows(spec, own_rows, 1) if own_rows else []
            old = (ends_of_keys(keys_of(run.first), run.key_step, run.count) for run in replaced)
            span = bounds_of(span_of_ranges([*(ends for pair in old for ends in pair), *keys]))
            rows = self._task_rows(partition, contents.kept(replaced) + own_rows)
            made = [self._maker.data_file(count, partition, span, number) for count in rows]
            merged.rewritten.append(Rewritten(replaced, made, own_rows, keys))
        return merged

    def _task_rows(self, partition: str, rows: int) -> Iterator[int]:
        """The rows of each file that the tasks of a partition write."""
        tasks_count = hashed_writers(rows, 1 if partition else self._tasks_count)
        for index in range(tasks_count):
            yield from rolled(even_share(rows, index, tasks_count), self._full_rows)
