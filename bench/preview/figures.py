"""A preview as figures: what `compactbench plan` prints, and gives to programs under these names."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from bench.engines.format import ExistingTable
from bench.preview.preview import StrategyPreview
from bench.scenario import plugins
from strategies.plan import Rewrite, describe_action
from strategies.preview import Preview, RewriteGroup
from strategies.state import TableState


def table_figures(name: str, table: ExistingTable) -> dict[str, Any]:
    """The table as it stands; `rows` are physical, deleted ones included. Times are UTC."""
    state, facts = table.state, table.facts
    return {
        "name": name,
        "location": facts.location,
        "metadata": facts.metadata,
        "format_version": facts.format_version,
        "snapshot": facts.snapshot,
        "committed_at": facts.committed_at,
        "data_files": len(state.data_files),
        "data_bytes": sum(p.size_bytes for p in state.partitions.values()),
        "rows": sum(p.rows for p in state.partitions.values()),
        "delete_files": [asdict(kind) for kind in facts.delete_files],
        "partitions": len(state.partitions),
        "partition_spec": facts.partition_spec,
        "target_file_size_bytes": state.target_file_size_bytes,
        "file_sizes": file_sizes(state, facts.size_classes),
    }


def file_sizes(state: TableState, classes: Sequence[float]) -> list[dict[str, Any]]:
    """Data files by size, from `from_bytes` to below `below_bytes`, which the last class does not have.

    `classes` are the upper ends as shares of the target size, ascending.
    """
    bounds = [int(share * state.target_file_size_bytes) for share in classes]
    counts, sums = [0] * (len(bounds) + 1), [0] * (len(bounds) + 1)
    for file in state.data_files:
        place = sum(file.size_bytes >= bound for bound in bounds)
        counts[place] += 1
        sums[place] += file.size_bytes
    return [
        {"from_bytes": low, "below_bytes": high, "files": count, "bytes": size}
        for low, high, count, size in zip([0, *bounds], [*bounds, None], counts, sums, strict=True)
    ]


def plan_figures(done: StrategyPreview, table: ExistingTable, *, with_files: bool) -> dict[str, Any]:
    """What the strategy would do; `plan` and `effect` are null where it would do nothing at all."""
    return {
        "strategy": done.named.name,
        "planners": [plugins.in_words(planner) for planner in done.named.planners],
        "plan": _plan(done),
        "effect": _effect(done, done.preview, table, with_files=with_files) if done.preview else None,
        "shortfall": asdict(done.shortfall) if done.shortfall else None,
        "cost": None if done.cpu_s is None else {"cpu_s": done.cpu_s, "calibrated": done.calibrated},
    }


def _plan(done: StrategyPreview) -> dict[str, Any] | None:
    if done.plan is None:
        return None
    return {
        "planner": plugins.in_words(done.asked[-1]),
        "reason": done.plan.reason.value,
        "detail": done.plan.detail,
        "actions": [describe_action(action) for action in done.plan.actions],
    }


def _effect(
    done: StrategyPreview, preview: Preview, table: ExistingTable, *, with_files: bool
) -> dict[str, Any]:
    """What changes; delete files come in only, as metadata does not tell how many come out."""
    files = len(table.state.data_files)
    explicit = [action for action in done.plan.actions if isinstance(action, Rewrite)] if done.plan else []
    return {
        "groups": len(preview.groups),
        "planned_groups": preview.planned_groups_count,
        **_sums(preview.groups),
        "files_before": files,
        "files_after": files - preview.files_removed_count + preview.files_added_count,
        "files_out_exact": table.is_files_out_exact(preview),
        "deletes_exact": table.is_deletes_exact(),
        "delete_groups": len(preview.delete_groups),
        "delete_files_in": sum(len(group.files) for group in preview.delete_groups),
        "delete_bytes_in": sum(group.input_bytes for group in preview.delete_groups),
        "files_converted": sum(len(group.convert_paths) for each in explicit for group in each.groups),
        "delete_files_dropped": sum(len(each.removed_deletes) for each in explicit),
        "vetoed_because": done.veto,
        "partitions": _partitions(preview.groups),
        "groups_in_order": [_group(group, with_files=with_files) for group in preview.groups],
    }


def _sums(groups: Iterable[RewriteGroup]) -> dict[str, int]:
    """Delete files count once per data file they apply to, as they are read."""
    found = list(groups)
    return {
        "files_in": sum(len(group.files) for group in found),
        "files_out": sum(len(group.tasks) for group in found),
        "bytes_in": sum(group.input_bytes for group in found),
        "delete_files_read": sum(group.delete_files_count for group in found),
        "delete_bytes_read": sum(group.delete_bytes for group in found),
    }


def _partitions(groups: Iterable[RewriteGroup]) -> list[dict[str, Any]]:
    """Largest first."""
    by_partition: dict[str, list[RewriteGroup]] = defaultdict(list)
    for group in groups:
        by_partition[group.partition].append(group)
    told = [
        {"partition": partition, "groups": len(own), **_sums(own)} for partition, own in by_partition.items()
    ]
    return sorted(told, key=lambda line: (-line["bytes_in"], line["partition"]))


def _group(group: RewriteGroup, *, with_files: bool) -> dict[str, Any]:
    told = {
        "partition": group.partition,
        **_sums([group]),
        "files_expected_by_planner": group.expected_output_files,
    }
    if with_files:
        told["files"] = [
            {"path": file.path, "bytes": file.size_bytes, "rows": file.rows} for file in group.files
        ]
    return told
