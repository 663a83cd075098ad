"""Which files Delta's OPTIMIZE and REORG rewrite, and in which bins.

A bin is rewritten by one Spark job into one file, in Z-ordering and clustering into several. Partitions come
in the order of the state's data files; in Delta they come in that of a hash map, and which of two files of
equal size comes first is not defined either.

Source: OptimizeExecutor and OptimizeTableStrategy of delta-spark 3.3.2.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from strategies.delta.clustering import cluster_candidates
from strategies.delta.files import DeletionVector, DeltaDataFile, DeltaState
from strategies.delta.optimize_options import OptimizeOptions
from strategies.grouping import by_key
from strategies.preview import Preview, RewriteGroup, equal_shares

_Item = TypeVar("_Item")
_Bins = Iterable[tuple[str, Sequence[DeltaDataFile]]]  # with their partitions


def plan_compaction(
    state: DeltaState, options: OptimizeOptions, partitions: Collection[str] | None = None
) -> Preview:
    """OPTIMIZE of these partitions (None: all), which clusters if the table has clustering columns."""
    files = [file for file in state.data_files if partitions is None or file.partition in partitions]
    if state.clustering_columns:
        return _clustered(state, files, options)
    return _merged(state, filter(is_due(state, options), files), options, files_min=2)


def is_due(state: DeltaState, options: OptimizeOptions) -> Callable[[DeltaDataFile], bool]:
    """Whether OPTIMIZE would rewrite a file if there were another to merge it with."""
    vectors = vectors_of(state)

    def due(file: DeltaDataFile) -> bool:
        return file.size_bytes < options.min_file_bytes or _is_due_for_deletes(file, vectors, options)

    return due


def plan_purge(state: DeltaState, options: OptimizeOptions) -> Preview:
    """REORG TABLE ... APPLY (PURGE): every file with a deleted row, also one that is alone.

    On a table with clustering columns it clusters these files, as if the others did not exist: it leaves them
    if those in their Z-cube reach the minimum size of a cube, or if they all belong to one Z-cube.

    Not reproduced: the real command also rewrites files with dropped columns, which no metadata shows.
    """
    vectors = vectors_of(state)
    due = [
        file
        for file in state.data_files
        if file.path in vectors and (not file.has_rows_count or vectors[file.path].rows > 0)
    ]
    if state.clustering_columns:
        return _clustered(state, due, options)
    return _merged(state, due, options, files_min=1)


def plan_zorder(state: DeltaState, options: OptimizeOptions) -> Preview:
    """OPTIMIZE ... ZORDER BY: every file of each partition, whatever its size, in one bin."""
    bins = by_key(state.data_files, lambda file: file.partition).items()
    return _preview(bins, vectors_of(state), options, is_sorted=True)


def plan_repartition(state: DeltaState, partition: str, files_count: int) -> Preview:
    """All files of one partition, rewritten into so many of about the same number of rows."""
    files = tuple(file for file in state.data_files if file.partition == partition)
    group = _group(
        partition, files, vectors_of(state), files_count, target_bytes=state.target_file_size_bytes
    )
    return Preview((group,))


def vectors_of(state: DeltaState) -> Mapping[str, DeletionVector]:
    """The deletion vectors by the data file that they belong to; computed once per version of the table."""
    return state.derived(_by_data_file, state.delete_files)


def batches(groups: Iterable[RewriteGroup], batch_bytes: int | None) -> list[list[RewriteGroup]]:
    """The groups of each commit, in the order of the commits."""
    if batch_bytes is None:
        return [list(groups)]
    return next_fit(sorted(groups, key=_input_bytes), _input_bytes, batch_bytes)


def deleted_ratio(file: DeltaDataFile, vector: DeletionVector | None) -> float | None:
    """The share of a file's rows that are deleted, as Delta computes it; None without statistics.

    It is 1 minus the share of the other rows: 50 deleted rows of 1,000 make 0.050000000000000044, which is
    above the default threshold of 0.05 (FileAction.deletedToPhysicalRecordsRatio).
    """
    if not file.has_rows_count or not file.rows:
        return None
    deleted_rows = 0 if vector is None else vector.rows
    return 1.0 - (file.rows - deleted_rows) / file.rows


def _merged(
    state: DeltaState, files: Iterable[DeltaDataFile], options: OptimizeOptions, *, files_min: int
) -> Preview:
    """The files that share a bin with at least `files_min` - 1 others, each bin into one file."""
    packed = _packed(files, options.max_file_bytes)
    bins = ((partition, bin_) for partition, bin_ in packed if len(bin_) >= files_min)
    return _preview(bins, vectors_of(state), options)


def _clustered(state: DeltaState, files: Collection[DeltaDataFile], options: OptimizeOptions) -> Preview:
    """The files that liquid clustering takes, each bin into a Z-cube. There are no partitions."""
    vectors = vectors_of(state)
    candidates = cluster_candidates(files, vectors, state.clustering_columns, options.min_cube_bytes)
    bins = (("", bin_) for bin_ in next_fit(candidates, _bytes_of, options.max_cube_bytes))
    return _preview(bins, vectors, options, is_sorted=True)


def _by_data_file(vectors: Collection[DeletionVector]) -> Mapping[str, DeletionVector]:
    return {vector.data_file: vector for vector in vectors}


def _is_due_for_deletes(
    file: DeltaDataFile, vectors: Mapping[str, DeletionVector], options: OptimizeOptions
) -> bool:
    """Whether a file is a candidate whatever its size: too many of its rows are deleted, or unknown."""
    vector = vectors.get(file.path)
    if vector is not None and not file.has_rows_count:
        return True
    ratio = deleted_ratio(file, vector)
    return ratio is not None and ratio > options.max_deleted_rows_ratio


def _packed(files: Iterable[DeltaDataFile], capacity_bytes: int) -> _Bins:
    for partition, members in by_key(files, lambda file: file.partition).items():
        for bin_ in next_fit(sorted(members, key=_bytes_of), _bytes_of, capacity_bytes):
            yield partition, bin_


def _bytes_of(file: DeltaDataFile) -> int:
    return file.size_bytes


def _input_bytes(group: RewriteGroup) -> int:
    return group.input_bytes


def _preview(
    bins: _Bins, vectors: Mapping[str, DeletionVector], options: OptimizeOptions, *, is_sorted: bool = False
) -> Preview:
    groups = [
        _group(
            partition,
            files,
            vectors,
            _sorted_files_count(files, options) if is_sorted else 1,
            options.max_file_bytes,
        )
        for partition, files in bins
    ]
    ordered = tuple(group for batch in batches(groups, options.batch_bytes) for group in batch)
    return Preview(ordered, is_sorted=is_sorted)


def _sorted_files_count(files: Sequence[DeltaDataFile], options: OptimizeOptions) -> int:
    """How many files a sort writes. It rounds down, so that a file may have almost twice the maximum size."""
    return max(1, sum(map(_bytes_of, files)) // options.max_file_bytes)


def _group(
    partition: str,
    files: Sequence[DeltaDataFile],
    vectors: Mapping[str, DeletionVector],
    outputs_count: int,
    target_bytes: int,
) -> RewriteGroup:
    input_bytes = sum(map(_bytes_of, files))
    applied = [vectors[file.path] for file in files if file.path in vectors]
    return RewriteGroup(
        partition=partition,
        files=tuple(files),
        delete_files_count=len(applied),
        delete_bytes=sum(vector.size_bytes for vector in applied),
        max_output_file_bytes=target_bytes,
        expected_output_files=outputs_count,
        tasks=equal_shares(input_bytes, sum(file.rows for file in files), outputs_count),
        delete_rows=sum(vector.rows for vector in applied),
    )


def next_fit(
    items: Iterable[_Item], size_of: Callable[[_Item], int], capacity_bytes: int
) -> list[list[_Item]]:
    """Consecutive items in bins of at most `capacity_bytes`; a larger item gets a bin of its own.

    Only the last bin is open, so space in earlier ones is never filled. Sizes 2 3 6 4 with a capacity of
    10: 2 3 | 6 4. Source: OptimizeExecutor.groupFilesIntoBins and BinPackingUtils.binPackBySize of
    delta-spark 3.3.2, both of which are given items in ascending order of size.
    """
    bins: list[list[_Item]] = []
    room_bytes = 0
    for item in items:
        size_bytes = size_of(item)
        if not bins or size_bytes > room_bytes:
            bins.append([])
            room_bytes = capacity_bytes
        bins[-1].append(item)
        room_bytes -= size_bytes
    return bins
