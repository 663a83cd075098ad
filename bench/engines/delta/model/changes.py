"""The changes to files by commits and commands of a simulated Delta table."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from bench.engines.contract import TableSpec
from bench.engines.delta.model.files import FileMaker, vector_bytes
from bench.engines.delta.model.writers import appended_files, is_merge, merged_files
from bench.engines.delta.table_keys import MERGE_ON_READ
from bench.engines.simulated.contents import Contents
from bench.engines.simulated.costs import Coefficients
from bench.engines.simulated.key_ranges import file_runs, ranges_of_rows
from bench.engines.simulated.live_rows import rows_of_outputs
from bench.engines.simulated.recorded_files import size_ratio
from strategies.delta.files import DeletionVector, DeltaDataFile
from strategies.grouping import by_key
from strategies.preview import RewriteGroup, even_share
from strategies.series import Run
from workloads.commit import CommitSpec

Touched = tuple[Run[DeltaDataFile], int]  # a file, and how many live rows a commit leaves in it


@dataclass(frozen=True, slots=True)
class Changes:
    """One version of the log. Data files that are `marked` get new `vectors`, in the same order, and stay."""

    operation: str
    removed: Sequence[Run[DeltaDataFile]] = ()
    added: Sequence[Run[DeltaDataFile]] = ()
    vectors: Sequence[DeletionVector] = ()
    marked: Sequence[Run[DeltaDataFile]] = ()  # the data files of these vectors


class ChangeMaker:
    """Makes the files of one table and updates its contents. Its changes have to be committed at once."""

    def __init__(
        self,
        spec: TableSpec,
        maker: FileMaker,
        contents: Contents,
        coefficients: Coefficients,
        *,
        optimizes_writes: bool,
        join_tasks_count: int,
    ) -> None:
        self._spec, self._maker, self._contents = spec, maker, contents
        self._coefficients = coefficients
        self._optimizes_writes, self._join_tasks_count = optimizes_writes, join_tasks_count

    def of_commit(self, spec: CommitSpec, touched: Sequence[Touched]) -> Changes:
        """`touched`: each file that loses rows to the commit, with the live rows left in it."""
        if not is_merge(spec):
            return self._appended(spec)
        if self._spec.upsert_mode == MERGE_ON_READ:
            return self._marked(spec, touched)
        return self._rewritten(spec, [file for file, _ in touched])

    def of_batch(
        self,
        batch: Iterable[tuple[RewriteGroup, Sequence[Run[DeltaDataFile]]]],
        operation: str,
        clustered_by: tuple[str, ...],
    ) -> Changes | None:
        """Rewrite groups, given with their live files, without their deleted rows; None if no row is left.

        With `clustered_by`, the new files of each group are a new Z-cube.
        """
        rows = [(group, gone, rows_of_outputs(group, self._contents.kept(gone))) for group, gone in batch]
        if not any(count for _, _, counts in rows for count in counts):
            return None
        added: list[Run[DeltaDataFile]] = []
        for group, gone, counts in rows:
            cube = self._maker.cube(clustered_by) if clustered_by else None
            ratio = size_ratio(gone, self._spec.schema, self._coefficients)
            made = [self._maker.data_file(count, group.partition, cube, ratio) for count in counts if count]
            self._contents.replace(gone, made)
            added += made
        return Changes(operation, [run for _, gone, _ in rows for run in gone], added)

    def _appended(self, spec: CommitSpec) -> Changes:
        writers = self._spec.files_per_commit or spec.writers
        counts = appended_files(spec, writers, is_optimized=self._optimizes_writes)
        made: list[Run[DeltaDataFile]] = []
        for shape, count in zip(spec.partitions, counts, strict=True):
            for files in file_runs(spec, shape.rows, count):
                made.append(self._maker.data_files(files, shape.partition))
                self._contents.add(made[-1], files.rows, files.keys)
        return Changes("WRITE", added=made)

    def _rewritten(self, spec: CommitSpec, touched: Sequence[Run[DeltaDataFile]]) -> Changes:
        """MERGE without deletion vectors: new files get all live rows of the touched ones."""
        gone = by_key(touched, lambda run: run.first.partition)
        rows = {shape.partition: shape.live_rows for shape in spec.partitions}
        added: list[Run[DeltaDataFile]] = []
        for partition in dict.fromkeys((*rows, *gone)):
            added += self._merged(spec, partition, gone.get(partition, ()), rows.get(partition, 0))
        return Changes("MERGE", touched, added)

    def _marked(self, spec: CommitSpec, touched: Sequence[Touched]) -> Changes:
        """MERGE with deletion vectors. A file without live rows is removed instead of marked."""
        gone = tuple(file for file, left in touched if not left)
        marked = tuple(file for file, left in touched if left)
        dead = ((file.first, file.first.rows - left) for file, left in touched if left)
        vectors = self._maker.vectors((file, rows, vector_bytes(rows, file.rows)) for file, rows in dead)
        self._contents.replace(gone, ())
        added: list[Run[DeltaDataFile]] = []
        for shape in spec.partitions:
            added += self._merged(spec, shape.partition, (), shape.live_rows)
        return Changes("MERGE", gone, added, vectors, marked)

    def _merged(
        self, spec: CommitSpec, partition: str, gone: Collection[Run[DeltaDataFile]], added_rows: int
    ) -> list[DeltaDataFile]:
        """The files that MERGE writes for one partition: live rows of the `gone` files, and `added_rows`."""
        rows = self._contents.kept(gone) + added_rows
        tasks = self._spec.files_per_commit or self._join_tasks_count
        count = merged_files(partition, rows, tasks, is_optimized=self._optimizes_writes)
        made = [self._maker.data_file(even_share(rows, index, count), partition) for index in range(count)]
        keys = ranges_of_rows(spec, added_rows, count) if added_rows else ()
        self._contents.replace(gone, made, added_rows, keys)
        return made
