"""Plans that call one of Delta's commands."""

from collections.abc import Mapping

from strategies.delta.commands import Command
from strategies.delta.optimize_options import optimize_texts
from strategies.options import OptionValue
from strategies.plan import Native, Plan, Reason


def call(
    command: Command,
    arguments: Mapping[str, str | None],
    options: Mapping[str, OptionValue],
    known_options: Mapping[str, str],
    reason: Reason = Reason.SCHEDULED,
) -> Plan:
    """A plan that runs the command, without arguments of None. Raises ValueError as `optimize_texts` does."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return Plan((Native(command, given, optimize_texts(options, known_options)),), reason)
