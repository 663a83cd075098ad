"""Merging small files: which may be merged with which, and groups that each make one file.

A group above the target size would be split into files that are small again, and be rewritten for ever. So
groups are packed to at most the target, in ascending order of size: then no two groups fit into one file,
and what a plan writes is nothing to merge until new files come.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from strategies.plan import FileGroup
from strategies.series import Run, runs_of
from strategies.state import DataFile, Place, TableState

Runs: TypeAlias = list[Run[Any]]


def small_runs(
    state: TableState, largest_bytes: float, *, with_equal_keys: bool = False
) -> Mapping[Place, Runs]:
    """The runs of files of at most `largest_bytes` that no pending plan names, by place, in order of place.

    The runs of a place are in ascending order of size; of equal sizes the oldest come first. For
    `with_equal_keys` see `runs_of`.
    """
    busy, found = state.busy, defaultdict[Place, Runs](list)
    files: Iterable[DataFile] = state.data_files
    if busy:
        files = (file for file in files if file.key not in busy)
    for run in runs_of(files, with_equal_keys=with_equal_keys):
        file = run.first
        if file.size_bytes <= largest_bytes:
            found[file.place].append(run)
    return {place: sorted(runs, key=_order) for place, runs in sorted(found.items())}


def _order(run: Run[Any]) -> tuple[int, int, str]:
    file = run.first
    added_at_ms = file.added_at_ms
    return file.size_bytes, -1 if added_at_ms is None else added_at_ms, file.path


def size_of_each(run: Run[Any]) -> int:
    return int(run.first.size_bytes)


def packed(
    runs: Iterable[Run[Any]], target_bytes: int, weight: Callable[[Run[Any]], int] = size_of_each
) -> Iterator[Runs]:
    """Runs cut into parts of at most `target_bytes`, each as full as it can be.

    The runs come in ascending order of `weight`, which is that of each file of a run. So any two parts
    together are above the target: what did not fit into a part is no larger than anything in later parts. A
    file above the target is a part of its own.
    """
    part, left_bytes = Runs(), target_bytes
    for run in runs:
        weight_bytes, begin = weight(run), 0
        while begin < run.count:
            fitting = run.count if not weight_bytes else max(0, left_bytes // weight_bytes)
            if not fitting and part:
                yield part
                part, left_bytes = Runs(), target_bytes
                continue
            end = min(run.count, begin + max(1, fitting))
            part.append(run.slice(begin, end))
            left_bytes -= (end - begin) * weight_bytes
            begin = end
    if part:
        yield part


def merge_groups(
    runs: Iterable[Run[Any]], target_bytes: int, weight: Callable[[Run[Any]], int] = size_of_each
) -> Iterator[FileGroup]:
    """The parts of `packed` that have two files or more, as groups; the runs are of one place."""
    for part in packed(runs, target_bytes, weight):
        if files_count(part) > 1:
            yield group_of(part)


def group_of(part: Runs) -> FileGroup:
    return FileGroup(tuple([file.key for run in part for file in run.files()]), part[0].first.partition)


def files_count(runs: Iterable[Run[Any]]) -> int:
    return sum([run.count for run in runs])


def bytes_of(runs: Iterable[Run[Any]]) -> int:
    return sum([run.count * run.first.size_bytes for run in runs])
