"""The figures of a preview, by the names that `compactbench plan --format json` prints."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from bench.engines.existing import ExistingTable
from bench.preview.preview import StrategyPreview
from bench.scenario import plugins
from strategies.grouping import by_key
from strategies.plan import Rewrite, describe_action
from strategies.preview import Preview, RewriteGroup
from strategies.state import TableState


def table_figures(name: str, table: ExistingTable) -> dict[str, Any]:
    """Figures of the table. `rows` includes deleted rows and is None if unknown; times are in UTC."""
    state, facts = table.state, table.facts
    has_rows = all(file.has_rows_count for file in state.data_files)
    return {
        "name": name,
        "location": facts.location,
        "metadata": facts.metadata,
        "format_version": facts.format_version,
        "version": facts.version,
        "committed_at": facts.committed_at,
        "data_files": len(state.data_files),
        "data_bytes": sum(p.size_bytes for p in state.partitions.values()),
        "rows": sum(p.rows for p in state.partitions.values()) if has_rows else None,
        "delete_files": [asdict(kind) for kind in facts.delete_files],
        "partitions": len(state.partitions),
        "partition_spec": facts.partition_spec,
        "target_file_size_bytes": state.target_file_size_bytes,
        "file_sizes": file_sizes(state, facts.size_classes),
    }


def file_sizes(state: TableState, classes: Sequence[float]) -> list[dict[str, Any]]:
    """Data files by size: `from_bytes` is inclusive, `below_bytes` exclusive and None for the last class.

    `classes` are the upper ends as fractions of the target size, ascending.
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


def plan_figures(result: StrategyPreview, table: ExistingTable, *, with_files: bool) -> dict[str, Any]:
    """What the strategy would do; `plan` and `effect` are None if it would do nothing at all."""
    return {
        "strategy": result.named.name,
        "planners": [plugins.in_words(planner) for planner in result.named.planners],
        "plan": _plan(result),
        "effect": _effect(result, result.preview, table, with_files=with_files) if result.preview else None,
        "shortfall": asdict(result.shortfall) if result.shortfall else None,
        "cost": None if result.cpu_s is None else {"cpu_s": result.cpu_s, "calibrated": result.calibrated},
    }


def _plan(result: StrategyPreview) -> dict[str, Any] | None:
    if result.plan is None:
        return None
    return {
        "planner": plugins.in_words(result.evaluated[-1]),
        "reason": result.plan.reason.value,
        "detail": result.plan.detail,
        "actions": [describe_action(action) for action in result.plan.actions],
    }


def _effect(
    result: StrategyPreview, preview: Preview, table: ExistingTable, *, with_files: bool
) -> dict[str, Any]:
    """What would change. The number of delete files written is absent: metadata does not determine it."""
    files = len(table.state.data_files)
    actions = result.plan.actions if result.plan else ()
    rewrites = [action for action in actions if isinstance(action, Rewrite)]
    return {
        "groups": len(preview.groups),
        "planned_groups": len(preview.groups) + len(preview.delete_groups) + preview.excluded_groups_count,
        **_sums(preview.groups),
        "replaced_bytes": preview.replaced_bytes,
        "files_before": files,
        "files_after": files - preview.files_removed_count + preview.files_added_count,
        "files_out_exact": table.is_files_out_exact(preview),
        "deletes_exact": table.is_deletes_exact(),
        "delete_groups": len(preview.delete_groups),
        "delete_files_in": sum(len(group.files) for group in preview.delete_groups),
        "delete_bytes_in": sum(group.input_bytes for group in preview.delete_groups),
        "files_converted": sum(len(group.convert_paths) for rewrite in rewrites for group in rewrite.groups),
        "delete_files_dropped": sum(len(rewrite.removed_deletes) for rewrite in rewrites),
        "delete_files_dropped_more_at_most": result.dropped_deletes_max_count,
        "vetoed_because": result.veto,
        "partitions": _partitions(preview.groups),
        "groups_in_order": [_group(group, with_files=with_files) for group in preview.groups],
    }


def _sums(groups: Iterable[RewriteGroup]) -> dict[str, int]:
    """Sums over groups. A delete file counts once per data file that it is read with."""
    counted = list(groups)
    return {
        "files_removed_count": sum(len(group.files) for group in counted),
        "files_added_count": sum(len(group.tasks) for group in counted),
        "read_data_bytes": sum(group.input_bytes for group in counted),
        "delete_files_read": sum(group.delete_files_count for group in counted),
        "delete_bytes_read": sum(group.delete_bytes for group in counted),
    }


def _partitions(groups: Iterable[RewriteGroup]) -> list[dict[str, Any]]:
    """Sums by partition, largest first."""
    by_partition = by_key(groups, lambda group: group.partition)
    lines = [
        {"partition": partition, "groups": len(own), **_sums(own)} for partition, own in by_partition.items()
    ]
    return sorted(lines, key=lambda line: (-line["read_data_bytes"], line["partition"]))


def _group(group: RewriteGroup, *, with_files: bool) -> dict[str, Any]:
    figures = {
        "partition": group.partition,
        **_sums([group]),
        "files_expected_by_planner": group.expected_output_files,
    }
    if with_files:
        figures["files"] = [
            {"path": file.path, "bytes": file.size_bytes, "rows": file.rows if file.has_rows_count else None}
            for file in group.files
        ]
    return figures
