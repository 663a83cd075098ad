"""What an action would do to the files of a Hudi table, by Hudi's own planning rules in Python.

The forecast, the simulation and `compactbench plan` rest on it.
"""

from datetime import date

from strategies.hudi.commands import Command
from strategies.hudi.compaction.registry import strategy_of
from strategies.hudi.compaction_options import compaction_settings
from strategies.hudi.compaction_plan import CompactionPlan, plan_compaction
from strategies.hudi.files import FileSlice, hudi_state
from strategies.plan import Action, Native
from strategies.preview import Preview, PreviewError, RewriteGroup, ScanTaskGroup
from strategies.state import TableState


def preview_action(action: Action, state: TableState) -> Preview:
    """What `action` would do to the table in its current state.

    In which order Hudi takes file slices that its strategy does not sort is not determined.

    Raises PreviewError if the effect does not follow from the state, and ValueError if the action is invalid
    or Hudi itself would fail. Raises PlanError if the state is of another format's table.
    """
    match action:
        case Native(command=Command.COMPACTION):
            operations = planned_compaction(action, state).operations
            return _preview([operation.slice for operation in operations], state.target_file_size_bytes)
        case Native(command=command):
            raise PreviewError(f"{command} has no preview: its rules are not on the table state")
        case _:
            raise PreviewError(NO_REWRITE)


NO_REWRITE = "Hudi has no command that rewrites exactly the files a plan names"


def planned_compaction(action: Native, state: TableState) -> CompactionPlan:
    """The plan that Hudi would write for a compaction. Raises ValueError as `preview_action` does."""
    table, today = hudi_state(state), action.arguments.get("today")
    settings = compaction_settings(action.options, None if today is None else date.fromisoformat(today))
    return plan_compaction(
        table, strategy_of(action.arguments["strategy"]), settings, state.target_file_size_bytes
    )


def _preview(slices: list[FileSlice], target_bytes: int) -> Preview:
    groups = tuple(_group(each, target_bytes) for each in slices)
    return Preview(
        groups, planned_groups_count=len(groups), dropped_bytes=sum(each.log_bytes for each in slices)
    )


def _group(merged: FileSlice, target_bytes: int) -> RewriteGroup:
    """One file slice, whose base file and log files become one base file of whatever size."""
    base = merged.base
    rows = (0 if base is None else base.rows) + sum(log.rows for log in merged.logs)
    return RewriteGroup(
        partition=merged.group.partition,
        files=() if base is None else (base,),
        input_bytes=merged.base_bytes,
        delete_files_count=len(merged.logs),
        delete_bytes=merged.log_bytes,
        split_bytes=target_bytes,
        max_output_file_bytes=target_bytes,
        expected_output_files=1,
        tasks=(ScanTaskGroup(merged.base_bytes, rows),),
    )
