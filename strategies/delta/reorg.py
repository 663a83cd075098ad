"""The planner that runs REORG TABLE ... APPLY (PURGE)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from strategies.delta.calls import call
from strategies.delta.commands import Command
from strategies.delta.optimize_options import PURGING_OPTIONS, optimize_texts
from strategies.options import OptionValue
from strategies.plan import Plan, Reason, capabilities_of
from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class Reorg:
    """Run REORG TABLE ... APPLY (PURGE), which rewrites every file that has a deleted row.

    OPTIMIZE leaves such a file alone if there is nothing to merge it with, however many of its rows are
    deleted. `where` is a predicate on partition columns. `options` have the names of Delta's settings
    `spark.databricks.delta.optimize.*`.
    """

    where: str | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    reads_state: ClassVar[bool] = False
    known_options: ClassVar[Mapping[str, str]] = PURGING_OPTIONS

    def __post_init__(self) -> None:
        optimize_texts(self.options, self.known_options)

    @property
    def needs(self) -> frozenset[str]:
        """The capabilities its plan requires; `where` requires more than the command does."""
        return capabilities_of(self._plan())

    def decide(self, state: TableState) -> Plan | None:
        return self._plan()

    def _plan(self) -> Plan:
        arguments = {"where": self.where}
        return call(Command.REORG, arguments, self.options, self.known_options, Reason.DELETES)
