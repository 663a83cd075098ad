"""What to run on a Hudi table in place of a planner."""

from bench.engines.hudi.inline import STRATEGY
from bench.engines.sql import sql_text
from strategies.hudi.clustering_plan import complete_texts
from strategies.hudi.commands import Command
from strategies.hudi.compaction_strategies import class_names
from strategies.plan import Native
from strategies.planner import Planner, fixed_actions

_PROCEDURES = {
    Command.COMPACTION: ("run_compaction", "run"),
    Command.CLUSTERING: ("run_clustering", "scheduleAndExecute"),
}
_AT_ONCE = {
    Command.COMPACTION: {"hoodie.compact.inline.max.delta.commits": "0"},
    Command.CLUSTERING: {"hoodie.clustering.async.max.commits": "0"},
}


def roll_out(planner: Planner, name: str, target_bytes: int) -> tuple[str, ...]:
    """The statements for table `name` that do what a planner plans; none if Spark SQL has no such procedure.

    Each plans and executes at once, regardless of the number of commits since the last time.
    """
    statements: list[str] = []
    for action in fixed_actions(planner):
        if isinstance(action, Native) and action.command in _PROCEDURES:
            command = Command(action.command)
            if command is Command.COMPACTION:
                options = {STRATEGY: class_names(action.arguments["strategy"]), **action.options}
            else:
                options = complete_texts(action.options, target_bytes)
            options = {**_AT_ONCE[command], **options}
            statements += [f"SET {key} = {text}" for key, text in options.items()]
            procedure, operation = _PROCEDURES[command]
            statements.append(f"CALL {procedure}(op => '{operation}', table => {sql_text(name)})")
    return tuple(statements)
