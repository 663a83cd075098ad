"""The changes to files by commits and commands of a simulated Delta table."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.engines.contract import TableSpec
from bench.engines.delta.model.files import FileMaker
from bench.engines.delta.model.writers import appended_files, is_merge, merged_files
from bench.engines.delta.table_keys import MERGE_ON_READ
from bench.engines.simulated.contents import Contents
from bench.engines.simulated.key_ranges import ranges_of_rows
from bench.engines.simulated.live_rows import rows_of_outputs
from strategies.delta.files import DeletionVector, DeltaDataFile
from strategies.preview import RewriteGroup, even_share
from workloads.commit import CommitSpec


@dataclass(frozen=True, slots=True)
class Changes:
    """One version of the log; `vectors` belong to data files that stay."""

    operation: str
    removed: Collection[str] = ()
    added: Sequence[DeltaDataFile] = ()
    vectors: Sequence[DeletionVector] = ()


class ChangeMaker:
    """Makes the files of one table and updates its contents. Its changes have to be committed at once."""

    def __init__(
        self,
        spec: TableSpec,
        maker: FileMaker,
        contents: Contents,
        *,
        optimizes_writes: bool,
        join_tasks_count: int,
    ) -> None:
        self._spec, self._maker, self._contents = spec, maker, contents
        self._optimizes_writes, self._join_tasks_count = optimizes_writes, join_tasks_count

    def of_commit(
        self, spec: CommitSpec, touched: Mapping[str, int], data: Mapping[str, DeltaDataFile]
    ) -> Changes:
        """`touched`: the live rows left in each file that loses rows to the commit."""
        if not is_merge(spec):
            return self._appended(spec)
        if self._spec.upsert_mode == MERGE_ON_READ:
            return self._marked(spec, touched, data)
        return self._rewritten(spec, touched, data)

    def of_batch(
        self, batch: Iterable[RewriteGroup], operation: str, clustered_by: tuple[str, ...]
    ) -> Changes | None:
        """Rewrite groups without their deleted rows; None if no row is left.

        With `clustered_by`, the new files of each group are a new Z-cube.
        """
        paths = [(group, tuple(file.path for file in group.files)) for group in batch]
        rows = [(group, gone, rows_of_outputs(group, self._contents.kept(gone))) for group, gone in paths]
        if not any(count for _, _, counts in rows for count in counts):
            return None
        added: list[DeltaDataFile] = []
        for group, gone, counts in rows:
            cube = self._maker.cube(clustered_by) if clustered_by else None
            made = [self._maker.data_file(count, group.partition, cube) for count in counts if count]
            self._contents.replace(gone, made)
            added += made
        return Changes(operation, [path for _, gone in paths for path in gone], added)

    def _appended(self, spec: CommitSpec) -> Changes:
        writers = self._spec.files_per_commit or spec.writers
        counts = appended_files(spec, writers, is_optimized=self._optimizes_writes)
        made: list[DeltaDataFile] = []
        for shape, count in zip(spec.partitions, counts, strict=True):
            for index, keys in enumerate(ranges_of_rows(spec, shape.rows, count) if count else ()):
                made.append(self._maker.data_file(even_share(shape.rows, index, count), shape.partition))
                self._contents.add(made[-1], keys)
        return Changes("WRITE", added=made)

    def _rewritten(
        self, spec: CommitSpec, touched: Collection[str], data: Mapping[str, DeltaDataFile]
    ) -> Changes:
        """MERGE without deletion vectors: new files get all live rows of the touched ones."""
        gone: dict[str, list[str]] = defaultdict(list)
        for path in touched:
            gone[data[path].partition].append(path)
        rows = {shape.partition: shape.live_rows for shape in spec.partitions}
        added: list[DeltaDataFile] = []
        for partition in dict.fromkeys((*rows, *gone)):
            added += self._merged(spec, partition, gone.get(partition, ()), rows.get(partition, 0))
        return Changes("MERGE", tuple(touched), added)

    def _marked(
        self, spec: CommitSpec, touched: Mapping[str, int], data: Mapping[str, DeltaDataFile]
    ) -> Changes:
        """MERGE with deletion vectors. A file without live rows is removed instead of marked."""
        gone = tuple(path for path, left in touched.items() if not left)
        marked = ((data[path], data[path].rows - left) for path, left in touched.items() if left)
        vectors = self._maker.vectors(marked)
        self._contents.replace(gone, ())
        added: list[DeltaDataFile] = []
        for shape in spec.partitions:
            added += self._merged(spec, shape.partition, (), shape.live_rows)
        return Changes("MERGE", gone, added, vectors)

    def _merged(
        self, spec: CommitSpec, partition: str, gone: Collection[str], added_rows: int
    ) -> list[DeltaDataFile]:
        """The files that MERGE writes for one partition: live rows of the `gone` files, and `added_rows`."""
        rows = self._contents.kept(gone) + added_rows
        tasks = self._spec.files_per_commit or self._join_tasks_count
        count = merged_files(partition, rows, tasks, is_optimized=self._optimizes_writes)
        made = [self._maker.data_file(even_share(rows, index, count), partition) for index in range(count)]
        keys = ranges_of_rows(spec, added_rows, count) if added_rows else ()
        self._contents.replace(gone, made, added_rows, keys)
        return made
