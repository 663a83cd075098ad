"""Delta's commands as Spark SQL, and what to run on a table in place of a planner."""

from collections.abc import Mapping

from bench.engines.spark.predicates import partitions_predicate
from strategies.delta.commands import Command
from strategies.delta.optimize_options import CONF_PREFIX, complete_texts
from strategies.plan import Compact, Native
from strategies.planner import Planner, fixed_actions

_STATEMENTS: Mapping[str, str] = {
    Command.OPTIMIZE: "OPTIMIZE {name}{where}",
    Command.ZORDER: "OPTIMIZE {name}{where} ZORDER BY ({columns})",
    Command.REORG: "REORG TABLE {name}{where} APPLY (PURGE)",
}


def statement(name: str, action: Compact | Native) -> str:
    """Raises ValueError for a command that is not a form of OPTIMIZE."""
    match action:
        case Compact(partitions=partitions):
            where = None if partitions is None or "" in partitions else partitions_predicate(partitions)
            return _STATEMENTS[Command.OPTIMIZE].format(name=name, where=_where(where))
        case Native(command=command, arguments=arguments) if command in _STATEMENTS:
            where, columns = _where(arguments.get("where")), arguments.get("columns", "")
            return _STATEMENTS[command].format(name=name, where=where, columns=columns)
        case Native(command=command):
            raise ValueError(f"{command} is not a form of OPTIMIZE")


def _where(predicate: str | None) -> str:
    return "" if predicate is None else f" WHERE {predicate}"


def roll_out(planner: Planner, name: str, target_bytes: int) -> tuple[str, ...]:
    """The statements for table `name` that do what a planner plans; none if they depend on its state.

    OPTIMIZE takes its sizes from settings of the session, not from the table.
    """
    statements: list[str] = []
    for action in fixed_actions(planner):
        if isinstance(action, Native) and action.command in _STATEMENTS:
            texts = complete_texts(action.options, target_bytes)
            statements += [f"SET {CONF_PREFIX}{key} = {text}" for key, text in texts.items()]
            statements.append(statement(name, action))
    return tuple(statements)
