"""What an action would do to the files of an Iceberg table, by Iceberg's own planning rules in Python.

The veto, the forecast, the simulation and `compactbench plan` rest on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from strategies.iceberg.commands import Command
from strategies.iceberg.deletes.index import delete_index
from strategies.iceberg.files import IcebergState
from strategies.iceberg.procedures import RewriteDataFiles, RewritePositionDeleteFiles
from strategies.iceberg.rewrite_data_files import group_of_tasks, plan_rewrite, rewrite_group
from strategies.iceberg.rewrite_options import NO_LIMIT_BYTES, for_sorting, rewrite_options
from strategies.iceberg.rewrite_position_delete_files import (
    DEFAULT_TARGET_BYTES,
    TARGET_FILE_SIZE,
    plan_delete_rewrite,
)
from strategies.iceberg.scan_tasks import FileScan, lookback_of, scan_task_groups
from strategies.java_values import parse_long
from strategies.options import check_known
from strategies.plan import Action, Compact, FileGroup, Native, Rewrite, state_as
from strategies.preview import Converted, Preview, PreviewError, RewriteGroup
from strategies.state import TableState

# The planners of 1.11.0 accept them, its Spark actions do not; see strategies.iceberg.procedures.
_REFUSED_OPTIONS = {"max-file-group-input-files"}
_ARGUMENTS = {"strategy", "sort_order", "where", "branch"}


def preview_action(action: Action, state: TableState) -> Preview:
    """What `action` would do to the table in its current state; files of pending rewrites are not excluded.

    The number of output files is exact if the files of a group are of the current partition spec. Rows of
    files of another spec are redistributed by partition before they are written.

    For an explicit rewrite only the data files it replaces count. Files whose deletes are converted stay, and
    a group that only converts is left out.

    Raises PreviewError if the effect does not follow from the state, ValueError if the action is invalid
    (unknown option, value out of range, file not live), StateError as `index_deletes` does, and PlanError on
    the state of another format.
    """
    table = state_as(IcebergState, state)
    match action:
        case Rewrite():
            return _explicit(action, table)
        case Compact(partitions=partitions, options=options):
            return _planned({}, options, _narrowed(table, partitions))
        case Native(command=Command.REWRITE_DATA_FILES, arguments=arguments, options=options):
            return _planned(arguments, options, table)
        case Native(command=Command.REWRITE_POSITION_DELETE_FILES, arguments=arguments, options=options):
            return _planned_deletes(arguments, options, table)
        case Native(command=command):
            raise PreviewError(f"{command} rewrites neither data nor delete files, so it has no preview")


def _planned(arguments: Mapping[str, str], options: Mapping[str, str], state: IcebergState) -> Preview:
    check_known(options, RewriteDataFiles.known_options.keys() | _REFUSED_OPTIONS)
    _check_arguments(arguments)
    default = "sort" if "sort_order" in arguments else "binpack"
    is_shuffled = arguments.get("strategy", default).lower() != "binpack"
    planned = plan_rewrite(state, rewrite_options(options, state.target_file_size_bytes, is_shuffled))
    return replace(planned, is_sorted=is_shuffled)


def _planned_deletes(
    arguments: Mapping[str, str], options: Mapping[str, str], state: IcebergState
) -> Preview:
    check_known(options, RewritePositionDeleteFiles.known_options.keys() | _REFUSED_OPTIONS)
    _check_arguments(arguments)
    target = state.properties.get(TARGET_FILE_SIZE)
    target_bytes = DEFAULT_TARGET_BYTES if target is None else parse_long(target)
    return plan_delete_rewrite(state, rewrite_options(options, target_bytes))


def _check_arguments(arguments: Mapping[str, str]) -> None:
    if "where" in arguments:
        raise PreviewError(
            f"where={arguments['where']!r}: the table state does not say which files hold matching rows"
        )
    if arguments.get("branch", "main") != "main":
        raise PreviewError(f"branch={arguments['branch']!r}: the table state is of branch main only")
    if unknown := arguments.keys() - _ARGUMENTS:
        raise PreviewError(f"arguments {', '.join(sorted(unknown))}: their effect is unknown")


def _narrowed(state: IcebergState, partitions: tuple[str, ...] | None) -> IcebergState:
    """The state with the data files of these partitions only; "" filters nothing, as in the engine."""
    if partitions is None or "" in partitions:
        return state
    old = next((f for f in state.data_files if f.spec_id != state.spec_id), None)
    if old is not None:
        raise PreviewError(
            f"{old.path} is of partition spec {old.spec_id}, the table of spec {state.spec_id}: the table "
            "state does not say whether it holds rows of the partitions"
        )
    wanted = frozenset(partitions)
    return replace(state, data_files=tuple(f for f in state.data_files if f.partition in wanted))


def _explicit(action: Rewrite, state: IcebergState) -> Preview:
    deletes = delete_index(state)
    live = {file.path: file for file in state.data_files}

    def scan_of(path: str) -> FileScan:
        if path not in live:
            raise ValueError(f"{path} is not a live data file")
        return FileScan(live[path], deletes.applying_to(live[path]))

    lookback = lookback_of(state.properties)
    converted = [scan_of(path) for group in action.groups for path in group.convert_paths]
    groups = tuple(
        _explicit_group(group, [scan_of(path) for path in group.paths], action, lookback)
        for group in action.groups
        if group.paths
    )
    dropped = frozenset(action.removed_deletes)
    dropped_bytes = sum(delete.size_bytes for delete in state.delete_files if delete.key in dropped)
    is_sorted = any(group.sort_columns for group in action.groups)
    return Preview(groups, dropped_bytes=dropped_bytes, is_sorted=is_sorted, converted=_converted(converted))


def _converted(scans: Sequence[FileScan]) -> Converted:
    return Converted(
        files_count=len(scans),
        rows=sum(scan.file.rows for scan in scans),
        delete_files_count=sum(scan.deletes.files_count for scan in scans),
        delete_rows=sum(scan.deletes.rows for scan in scans),
        delete_bytes=sum(scan.deletes.size_bytes for scan in scans),
    )


def _explicit_group(group: FileGroup, scans: list[FileScan], action: Rewrite, lookback: int) -> RewriteGroup:
    """An explicit group. It has no planner's estimate, so its expected files are the number of its tasks.

    Each task writes one file, whatever its size.
    """
    target_bytes = action.target_file_size_bytes
    if group.sort_columns:
        return rewrite_group(group.partition, scans, for_sorting(target_bytes), lookback)
    tasks = scan_task_groups(scans, target_bytes, lookback)
    return group_of_tasks(group.partition, scans, tasks, len(tasks), NO_LIMIT_BYTES)
