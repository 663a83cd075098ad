"""A dry run as figures: what `compactbench plan` prints, and gives to programs under these names."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot

from bench.preview.preview import DryRun
from bench.scenario import plugins
from strategies.iceberg.files import DeleteKind, IcebergState
from strategies.iceberg.preview import Preview, RewriteGroup
from strategies.plan import Rewrite, describe_action

# Upper ends of size classes as shares of the target: 0.75 and 1.8 are where Iceberg's planner begins to
# call a file too small or too large (SizeBasedFileRewritePlanner), the others divide the small ones.
SIZE_CLASSES = (0.01, 0.1, 0.75, 1.8)


def table_figures(name: str, table: Table, snapshot: Snapshot | None, state: IcebergState) -> dict[str, Any]:
    """The table as it stands; `rows` are physical, deleted ones included. Times are UTC."""
    committed = snapshot and datetime.fromtimestamp(snapshot.timestamp_ms / 1000, UTC)
    return {
        "name": name,
        "location": table.location(),
        "metadata": table.metadata_location,
        "format_version": table.metadata.format_version,
        "snapshot": snapshot.snapshot_id if snapshot else None,
        "committed_at": committed.isoformat(timespec="milliseconds") if committed else None,
        "data_files": len(state.data_files),
        "data_bytes": sum(p.size_bytes for p in state.partitions.values()),
        "rows": sum(p.rows for p in state.partitions.values()),
        "delete_files": [_of_kind(kind, state) for kind in DeleteKind],
        "partitions": len(state.partitions),
        "partition_spec": _spec_text(table),
        "target_file_size_bytes": state.target_file_size_bytes,
        "file_sizes": file_sizes(state),
    }


def _of_kind(kind: DeleteKind, state: IcebergState) -> dict[str, Any]:
    found = [file for file in state.delete_files if file.kind is kind]
    return {
        "kind": kind.value,
        "files": len(found),
        "bytes": sum(file.size_bytes for file in found),
        "rows": sum(file.rows for file in found),
    }


def _spec_text(table: Table) -> str:
    """How new files are partitioned, e.g. "day(ts), bucket[8](id), city"; "" for not at all."""
    parts = []
    for field in table.spec().fields:
        column = table.schema().find_column_name(field.source_id) or field.name
        parts.append(column if str(field.transform) == "identity" else f"{field.transform}({column})")
    return ", ".join(parts)


def file_sizes(state: IcebergState) -> list[dict[str, Any]]:
    """Data files by size, from `from_bytes` to below `below_bytes`, which the last class has not."""
    bounds = [int(share * state.target_file_size_bytes) for share in SIZE_CLASSES]
    counts, sums = [0] * (len(bounds) + 1), [0] * (len(bounds) + 1)
    for file in state.data_files:
        place = sum(file.size_bytes >= bound for bound in bounds)
        counts[place] += 1
        sums[place] += file.size_bytes
    return [
        {"from_bytes": low, "below_bytes": high, "files": count, "bytes": size}
        for low, high, count, size in zip([0, *bounds], [*bounds, None], counts, sums, strict=True)
    ]


def plan_figures(done: DryRun, state: IcebergState, *, with_files: bool) -> dict[str, Any]:
    """What the strategy would do; `plan` and `effect` are null where it would do nothing at all."""
    return {
        "strategy": done.candidate.name,
        "planners": [plugins.in_words(planner) for planner in done.candidate.planners],
        "plan": _plan(done),
        "effect": _effect(done, done.preview, state, with_files=with_files) if done.preview else None,
        "shortfall": asdict(done.shortfall) if done.shortfall else None,
        "cost": None if done.cpu_s is None else {"cpu_s": done.cpu_s, "calibrated": done.calibrated},
    }


def _plan(done: DryRun) -> dict[str, Any] | None:
    if done.plan is None:
        return None
    return {
        "planner": plugins.in_words(done.asked[-1]),
        "reason": done.plan.reason.value,
        "detail": done.plan.detail,
        "actions": [describe_action(action) for action in done.plan.actions],
    }


def _effect(done: DryRun, preview: Preview, state: IcebergState, *, with_files: bool) -> dict[str, Any]:
    """What changes; delete files come in only, as metadata does not tell how many come out.

    Files of an older partition spec are spread anew: `files_out` is not exact then.

    The deletes read are an upper bound where the equality deletes do not all compare one and the same
    column, or compare UUIDs: of others a state has no bounds.
    """
    files = len(state.data_files)
    of_old_spec = {file.path for file in state.data_files if file.spec_id != state.spec_id}
    old = any(file.path in of_old_spec for group in preview.groups for file in group.files)
    unbounded = any(
        file.kind is DeleteKind.EQUALITY and file.key_bounds is None for file in state.delete_files
    )
    explicit = [action for action in done.plan.actions if isinstance(action, Rewrite)] if done.plan else []
    return {
        "groups": len(preview.groups),
        "planned_groups": preview.planned_groups_count,
        **_sums(preview.groups),
        "files_before": files,
        "files_after": files - preview.files_removed_count + preview.files_added_count,
        "files_out_exact": not old,
        "deletes_exact": not unbounded,
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
