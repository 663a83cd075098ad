"""Calls of Iceberg's stored procedures as Spark SQL, and what to run on a table in place of a planner."""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from bench.engines.spark.predicates import partitions_predicate
from bench.engines.sql import set_properties, sql_text
from strategies.amoro.options import property_texts
from strategies.amoro.planner import Amoro
from strategies.iceberg.commands import Command
from strategies.iceberg.rewrite_options import TARGET_SIZE
from strategies.plan import Compact, Native
from strategies.planner import Planner, fixed_actions

_AMORO_ENABLED = "self-optimizing.enabled"
_WITH_TARGET = (Command.REWRITE_DATA_FILES, Command.REWRITE_POSITION_DELETE_FILES)


def call_statement(name: str, native: Native, older_than_ms: int | None = None) -> str:
    """The call of a stored procedure on table `name` ("catalog.namespace.table", or in the current catalog).

    `older_than_ms` (epoch) replaces the `older_than_at_ms` of `expire_snapshots`, which is scenario time.
    Raises ValueError if the command is not one of Iceberg's.
    """
    catalog = f"{_identifier(name.split('.', 1)[0])}." if name.count(".") > 1 else ""
    arguments = [f"table => {sql_text(name)}", *_arguments(native, older_than_ms)]
    if native.options:
        pairs = ", ".join(f"{sql_text(key)}, {sql_text(value)}" for key, value in native.options.items())
        arguments.append(f"options => map({pairs})")
    procedure = Command(native.command).procedure
    return f"CALL {catalog}system.{procedure}({', '.join(arguments)})"


def _arguments(native: Native, older_than_ms: int | None) -> Iterable[str]:
    for key, value in native.arguments.items():
        if key == "older_than_at_ms" and older_than_ms is not None:
            moment = datetime.fromtimestamp(older_than_ms / 1000, UTC)
            yield f"older_than => TIMESTAMP '{moment:%Y-%m-%d %H:%M:%S.%f}Z'"
        elif value.isdigit() or value in ("true", "false"):
            yield f"{key} => {value}"
        else:
            yield f"{key} => {sql_text(value)}"


def _identifier(name: str) -> str:
    """In backquotes where Spark's parser would not take it for one word."""
    return name if re.fullmatch(r"\w+|`.*`", name) else f"`{name}`"


def scoped(action: Compact) -> Native:
    arguments = {} if action.partitions is None else {"where": partitions_predicate(action.partitions)}
    return Native(Command.REWRITE_DATA_FILES, arguments, action.options)


def roll_out(planner: Planner, name: str, target_bytes: int) -> tuple[str, ...]:
    """The statements for table `name` that do what a planner plans; none if they depend on its state.

    Amoro is a service, which evaluates the table by itself once these properties are set.
    """
    if isinstance(planner, Amoro):
        return (set_properties(name, {_AMORO_ENABLED: "true", **property_texts(planner.options)}),)
    actions = (action for action in fixed_actions(planner) if isinstance(action, Native))
    return tuple(call_statement(name, _sized(action, target_bytes)) for action in actions)


def _sized(native: Native, target_bytes: int) -> Native:
    """With the target file size, which in the user's table may be another one."""
    if native.command not in _WITH_TARGET:
        return native
    return replace(native, options={TARGET_SIZE.name: str(target_bytes), **native.options})
