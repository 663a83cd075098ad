"""Which file slices a clustering merges, and into how many file groups.

Source: PartitionAwareClusteringPlanStrategy of Hudi 1.2.0, without a filter of partitions.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from strategies.grouping import by_key
from strategies.hudi.commands import Command
from strategies.hudi.files import Action, FileSlice, HudiState
from strategies.hudi.incremental import INCREMENTAL, all_partitions, incremental_partitions
from strategies.java_values import parse_boolean, parse_int, parse_long
from strategies.options import NumberOption, OptionValue, at_least, check_known, option_texts, read_fields

_PREFIX = "hoodie.clustering.plan.strategy."
SMALL_FILE_LIMIT = f"{_PREFIX}small.file.limit"
TARGET_BYTES = f"{_PREFIX}target.file.max.bytes"
GROUP_BYTES = f"{_PREFIX}max.bytes.per.group"
GROUPS_MAX = f"{_PREFIX}max.num.groups"
SINGLE_GROUPS = f"{_PREFIX}single.group.clustering.enabled"
SORT_COLUMNS = f"{_PREFIX}sort.columns"

# Hudi's own defaults are 300 MiB, 1 GiB and 2 GiB. A scenario's target file size takes the place of 1 GiB,
# and the others keep their ratio to it.
_SMALL_RATIO = 300 / 1024
_GROUP_RATIO = 2
_DEFAULT_GROUPS_MAX = 30
CLUSTERING_OPTIONS: Mapping[str, str] = {
    SMALL_FILE_LIMIT: "29 % of the table's target_file_size (Hudi's own: 300 MiB)",
    TARGET_BYTES: "the table's target_file_size (Hudi's own: 1 GiB)",
    GROUP_BYTES: "twice the table's target_file_size (Hudi's own: 2 GiB)",
    GROUPS_MAX: str(_DEFAULT_GROUPS_MAX),
    SINGLE_GROUPS: "true",
    SORT_COLUMNS: "none",
    INCREMENTAL: "true",
}
_SERVICE = Action.REPLACE_COMMIT
_SIZES = (SMALL_FILE_LIMIT, TARGET_BYTES, GROUP_BYTES)
_NUMBERS: Mapping[str, NumberOption[int]] = {  # by the field of `ClusteringOptions`
    "small_bytes": NumberOption(SMALL_FILE_LIMIT, parse_long),
    "target_bytes": at_least(TARGET_BYTES, parse_long, 1),
    "group_bytes": at_least(GROUP_BYTES, parse_long, 1),
    "groups_max": at_least(GROUPS_MAX, parse_int, 1),
}


@dataclass(frozen=True, slots=True)
class ClusteringOptions:
    """A base file smaller than `small_bytes` is taken. See `plan_clustering` for the others."""

    small_bytes: int
    target_bytes: int
    group_bytes: int
    groups_max: int = _DEFAULT_GROUPS_MAX
    takes_single: bool = True
    is_sorted: bool = False
    is_incremental: bool = True


@dataclass(frozen=True, slots=True)
class ClusteringGroup:
    """File slices of one partition that are merged, into about `outputs_count` file groups."""

    slices: tuple[FileSlice, ...]
    outputs_count: int


@dataclass(frozen=True, slots=True)
class ClusteringPlan:
    """The groups in their order, and the partitions noted for the next plan; None if nothing is noted."""

    groups: tuple[ClusteringGroup, ...]
    missing_partitions: tuple[str, ...] | None


def clustering_texts(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Options as the texts that Hudi parses; sizes may have units, which Hudi itself rejects.

    Raises ValueError on an unknown name, an unknown unit, and a value that Hudi would reject.
    """
    check_known(options, CLUSTERING_OPTIONS)
    texts = option_texts(options, _SIZES)
    clustering_options(texts, target_bytes=1)
    return texts


def complete_texts(options: Mapping[str, str], target_bytes: int) -> dict[str, str]:
    """Option texts with the defaults that follow from the table's target file size."""
    defaults = {
        SMALL_FILE_LIMIT: str(round(target_bytes * _SMALL_RATIO)),
        TARGET_BYTES: str(target_bytes),
        GROUP_BYTES: str(target_bytes * _GROUP_RATIO),
    }
    return {**defaults, **options}


def clustering_options(options: Mapping[str, str], target_bytes: int) -> ClusteringOptions:
    """Option texts parsed, completed by `complete_texts`. Raises ValueError on a bad value."""
    texts = complete_texts(options, target_bytes)
    return ClusteringOptions(
        **read_fields(_NUMBERS, texts),
        takes_single=parse_boolean(texts.get(SINGLE_GROUPS, "true")),
        is_sorted=bool(texts.get(SORT_COLUMNS)),
        is_incremental=parse_boolean(texts.get(INCREMENTAL, "true")),
    )


def plan_clustering(state: HudiState, options: ClusteringOptions, max_file_bytes: int) -> ClusteringPlan:
    """The slices to merge, partition by partition in the order of their paths.

    Within a partition the largest come first, and a group ends before it would exceed `group_bytes`. A slice
    without a base file counts as `max_file_bytes` (hoodie.parquet.max.file.size). There are at most
    `groups_max` groups; partitions with slices left over are noted for the next plan, except that Hudi does
    not note the partition "" of an unpartitioned table. With `takes_single` a single slice that would become
    a single file is rewritten too.
    """
    is_incremental = options.is_incremental
    partitions = incremental_partitions(state, _SERVICE) if is_incremental else all_partitions(state)
    eligible = _eligible(state, options.small_bytes)
    all_groups: list[ClusteringGroup] = []
    missing: dict[str, None] = {}
    for partition in sorted(partitions):
        groups, is_done = _groups(eligible.get(partition, ()), options, max_file_bytes)
        all_groups += groups
        if not is_done and partition:
            missing[partition] = None
    for group in all_groups[options.groups_max :]:
        missing[group.slices[0].group.partition] = None
    return ClusteringPlan(tuple(all_groups[: options.groups_max]), tuple(missing) if is_incremental else None)


def _eligible(state: HudiState, small_bytes: int) -> Mapping[str, Sequence[FileSlice]]:
    """The free slices with a small base file or none, by partition."""
    free = state.free_slices(Command.CLUSTERING)
    return by_key((s for s in free if s.base_bytes < small_bytes), lambda s: s.group.partition)


def _groups(
    slices: Iterable[FileSlice], options: ClusteringOptions, max_file_bytes: int
) -> tuple[list[ClusteringGroup], bool]:
    """The groups of one partition, and whether they hold all its slices."""

    def size_of(file_slice: FileSlice) -> int:
        return max_file_bytes if file_slice.base is None else file_slice.base.size_bytes

    packed: list[list[FileSlice]] = []
    size_bytes, is_done = 0, True
    for file_slice in sorted(slices, key=size_of, reverse=True):
        if not packed or size_bytes + size_of(file_slice) > options.group_bytes:
            if len(packed) >= options.groups_max:
                is_done = False
                break
            packed.append([])
            size_bytes = 0
        packed[-1].append(file_slice)
        size_bytes += size_of(file_slice)
    groups = [
        ClusteringGroup(tuple(members), math.ceil(sum(map(size_of, members)) / options.target_bytes))
        for members in packed
    ]
    wanted = [g for g in groups if options.takes_single or len(g.slices) > 1 or g.outputs_count > 1]
    return wanted, is_done
