"""Which partitions one Amoro plan contains, and how it splits them into tasks.

Amoro packs files in the iteration order of a hash map keyed by object identity, so its bins vary from run to
run. Here files are packed in order of their paths. Partitions of equal cost come in the order of a hash map
keyed by strings, which is the same in every run and is reproduced here.

Source: upstream `AbstractOptimizingPlanner`, `AbstractPartitionPlan` and `IcebergPartitionPlan` at 96a4d78.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from strategies.amoro.clocks import OptimizingType
from strategies.amoro.decision import Candidate
from strategies.amoro.evaluation import FileClass, Partition, ScannedFile
from strategies.amoro.options import Settings
from strategies.grouping import by_key
from strategies.iceberg.deletes.index import DeleteIndex
from strategies.iceberg.deletes.reach import DeleteSet
from strategies.iceberg.packing import first_fit
from strategies.plan import FileGroup


@dataclass(frozen=True, slots=True)
class PartitionPlan:
    """A chosen partition, its tasks, and the delete files that its files no longer need afterwards."""

    candidate: Candidate
    tasks: tuple[FileGroup, ...]
    removed_deletes: frozenset[str]


Split = Callable[[Candidate], PartitionPlan]
_Tasks = tuple[tuple[FileGroup, ...], frozenset[str]]  # of a `PartitionPlan`


@dataclass(frozen=True, slots=True)
class _Item:
    scanned: ScannedFile
    is_rewritten: bool


def choose(candidates: Iterable[Candidate], budget_bytes: int, split: Split) -> tuple[PartitionPlan, ...]:
    """The most expensive partitions, up to and including the first one that exceeds the budget.

    Partitions of equal cost are taken in the order given. While no partition has yielded a task, one more is
    taken regardless of the budget (upstream #3546). Partitions without a task are returned too, because they
    count towards the type of the plan.
    """
    chosen: list[PartitionPlan] = []
    spent_bytes = 0
    for candidate in sorted(candidates, key=lambda c: -c.cost_bytes):
        if spent_bytes > budget_bytes and any(plan.tasks for plan in chosen):
            break
        chosen.append(split(candidate))
        spent_bytes += candidate.cost_bytes
    return tuple(chosen)


def splitter(index: DeleteIndex, settings: Settings, full_sort_columns: tuple[str, ...]) -> Split:
    """Splits candidates into tasks; a partition is split once, however often it is a candidate."""

    @cache
    def tasks_of(partition: Partition, sort_columns: tuple[str, ...]) -> _Tasks:
        return _split(partition, index, settings, sort_columns)

    def split(candidate: Candidate) -> PartitionPlan:
        sort_columns = full_sort_columns if candidate.optimizing_type is OptimizingType.FULL else ()
        return PartitionPlan(candidate, *tasks_of(candidate.partition, sort_columns))

    return split


def _split(
    partition: Partition, index: DeleteIndex, settings: Settings, sort_columns: tuple[str, ...]
) -> _Tasks:
    """The tasks of one partition, and the delete files that its files no longer need afterwards.

    Undersized files are merged with each other, whatever the optimizing type. If one is alone in its bin, its
    deletes are converted where that is worthwhile; otherwise they are retained, as for clean files. A delete
    file is removed if a task reads it and no file outside of the tasks needs it. As in upstream, only this
    partition counts, although the delete file may also apply in others: the engine vetoes a plan that would
    resurrect rows.

    `sort_columns` is our extension of Amoro's rules. With it a task has no size limit: if each bin were
    sorted for itself, every file would span all keys, and a reader could skip none.
    """
    files = partition.files
    task_bytes = sys.maxsize if sort_columns else settings.task_bytes
    merged, alone = _merged(files[FileClass.UNDERSIZED], task_bytes)
    converted = [*files[FileClass.POSITIONS], *(s for s in alone if s.needs_positions)]
    reserved = [*files[FileClass.CLEAN], *(s for s in alone if not s.needs_positions)]
    rewritten = [*files[FileClass.FRAGMENT], *files[FileClass.SEGMENT]]
    bins = [*merged, *_packed((*_items(rewritten, True), *_items(converted, False)), task_bytes)]
    bins = [items for items in bins if _is_enough(items)]
    taken = DeleteSet(index, (item.scanned.file for items in bins for item in items))
    needed = DeleteSet(index, (scanned.file for scanned in reserved))
    tasks = tuple(group for items in bins for group in _groups(items, sort_columns))
    return tasks, taken.keys - needed.keys


def _merged(
    undersized: Iterable[ScannedFile], task_bytes: int
) -> tuple[list[list[_Item]], list[ScannedFile]]:
    """Bins of two or more undersized files, and the files that are alone in their bin."""
    bins = _packed(_items(undersized, True), task_bytes)
    return [b for b in bins if len(b) >= 2], [b[0].scanned for b in bins if len(b) == 1]


def _items(files: Iterable[ScannedFile], is_rewritten: bool) -> list[_Item]:
    return [_Item(scanned, is_rewritten) for scanned in sorted(files, key=lambda s: s.file.path)]


def _packed(items: Iterable[_Item], task_bytes: int) -> list[list[_Item]]:
    return first_fit(items, lambda item: item.scanned.file.size_bytes, task_bytes)


def _is_enough(items: Sequence[_Item]) -> bool:
    """Whether a bin is worth a task (`enoughInputFiles`): anything but a single file without deletes."""
    return len(items) > 1 or items[0].scanned.has_deletes


def _groups(items: Sequence[_Item], sort_columns: tuple[str, ...]) -> Iterator[FileGroup]:
    """The task as one file group per partition.

    There is more than one only if a task mixes files of the partitions null and "null", which Amoro's planner
    confuses. Its writers do not, so two groups lead to the same files.
    """
    for partition, members in by_key(items, lambda item: item.scanned.file.partition).items():
        rewritten = tuple(item.scanned.file.path for item in members if item.is_rewritten)
        converted = tuple(item.scanned.file.path for item in members if not item.is_rewritten)
        yield FileGroup(rewritten, partition, converted, sort_columns if rewritten else ())
