"""What an action would do to the files of a Hudi table, by Hudi's own planning rules in Python.

The forecast, the simulation and `compactbench plan` rest on it.
"""

from collections.abc import Sequence
from datetime import date

from strategies.hudi.clustering_plan import clustering_options, plan_clustering
from strategies.hudi.commands import Command
from strategies.hudi.compaction_plan import CompactionPlan, compaction_settings, plan_compaction
from strategies.hudi.compaction_strategies import strategy_of
from strategies.hudi.files import FileSlice, HudiState
from strategies.plan import Action, Native, state_as
from strategies.preview import Preview, PreviewError, RewriteGroup, equal_shares
from strategies.state import TableState


def preview_action(action: Action, state: TableState) -> Preview:
    """What `action` would do to the table in its current state.

    The order of file slices that Hudi's strategy does not sort is not determined. Raises PreviewError if the
    effect does not follow from the state, ValueError if the action is invalid or Hudi itself would fail, and
    PlanError on the state of another format.
    """
    table, target_bytes = state_as(HudiState, state), state.target_file_size_bytes
    match action:
        case Native(command=Command.COMPACTION):
            operations = planned_compaction(action, state).operations
            groups = [_group([operation.slice], 1, target_bytes) for operation in operations]
            return _preview(groups)
        case Native(command=Command.LOG_COMPACTION):
            raise PreviewError(
                f"{Command.LOG_COMPACTION} has no preview: it adds log files and replaces none"
            )
        case Native(command=Command.CLUSTERING, options=texts):
            chosen = clustering_options(texts, target_bytes)
            plan = plan_clustering(table, chosen, target_bytes)
            groups = [_group(g.slices, g.outputs_count, chosen.target_bytes) for g in plan.groups]
            return _preview(groups, is_sorted=chosen.is_sorted)
        case Native(command=command):
            raise PreviewError(f"{command} has no preview: it writes no data file")
        case _:
            raise PreviewError(NO_REWRITE)


NO_REWRITE = "Hudi has no command that rewrites exactly the files a plan names"


def planned_compaction(action: Native, state: TableState) -> CompactionPlan:
    """The plan that Hudi would write for a compaction. Raises ValueError as `preview_action` does."""
    table, today = state_as(HudiState, state), action.arguments.get("today")
    settings = compaction_settings(action.options, None if today is None else date.fromisoformat(today))
    return plan_compaction(
        table, strategy_of(action.arguments["strategy"]), settings, state.target_file_size_bytes
    )


def _preview(groups: Sequence[RewriteGroup], *, is_sorted: bool = False) -> Preview:
    dropped_bytes = sum(group.delete_bytes for group in groups)
    return Preview(tuple(groups), dropped_bytes=dropped_bytes, is_sorted=is_sorted)


def _group(slices: Sequence[FileSlice], outputs_count: int, target_bytes: int) -> RewriteGroup:
    bases = tuple(s.base for s in slices if s.base is not None)
    logs = [log for s in slices for log in s.logs]
    input_bytes = sum(base.size_bytes for base in bases)
    rows = sum(base.rows for base in bases) + sum(log.rows for log in logs)
    return RewriteGroup(
        partition=slices[0].group.partition,
        files=bases,
        delete_files_count=len(logs),
        delete_bytes=sum(s.log_bytes for s in slices),
        max_output_file_bytes=target_bytes,
        expected_output_files=outputs_count,
        tasks=equal_shares(input_bytes, rows, outputs_count),
        has_exact_rows=not logs,
        delete_rows=sum(log.rows for log in logs),
    )
