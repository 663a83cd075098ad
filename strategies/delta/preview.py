"""What an action would do to the files of a Delta table, by Delta's own planning rules in Python.

The forecast, the simulation and `compactbench plan` rest on it. OPTIMIZE itself has no dry run.
"""

from collections.abc import Callable, Mapping

from strategies.delta.commands import NO_REWRITE, Command
from strategies.delta.compaction import plan_compaction, plan_purge, plan_repartition, plan_zorder
from strategies.delta.files import DeltaState
from strategies.delta.optimize_options import OptimizeOptions, optimize_options
from strategies.plan import Action, Compact, Native, Rewrite, state_as
from strategies.preview import Preview, PreviewError
from strategies.state import TableState

_RULES: Mapping[str, Callable[[DeltaState, OptimizeOptions], Preview]] = {
    Command.OPTIMIZE: plan_compaction,
    Command.REORG: plan_purge,
    Command.ZORDER: plan_zorder,
}


def preview_action(action: Action, state: TableState) -> Preview:
    """What `action` would do to the table in its current state.

    Which of two files of equal size goes into which bin is not determined. A file whose rows are all deleted
    counts as written, although Delta writes no empty file. Raises PreviewError if the effect does not follow
    from the state, ValueError if an option is unknown or out of range, and PlanError on the state of another
    format.
    """
    table = state_as(DeltaState, state)
    match action:
        case Compact(partitions=partitions, options=options):
            return plan_compaction(table, optimize_options(options, state.target_file_size_bytes), partitions)
        case Native(command=Command.REPARTITION, arguments=arguments):
            return plan_repartition(table, arguments["partition"], int(arguments["files"]))
        case Native(command=command, arguments=arguments, options=options) if command in _RULES:
            if "where" in arguments:
                raise PreviewError(
                    f"where={arguments['where']!r}: it is evaluated by Delta, not on the table state"
                )
            return _RULES[command](table, optimize_options(options, state.target_file_size_bytes))
        case Native(command=command):
            raise PreviewError(f"{command} has no preview: it writes no data file")
        case Rewrite():
            raise PreviewError(NO_REWRITE)
