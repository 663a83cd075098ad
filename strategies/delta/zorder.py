"""The planner that runs OPTIMIZE ... ZORDER BY."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from strategies.delta.calls import call
from strategies.delta.commands import Command
from strategies.delta.optimize_options import SORTING_OPTIONS, optimize_texts
from strategies.options import OptionValue
from strategies.plan import Plan, capabilities_of
from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class ZOrder:
    """Run OPTIMIZE ... ZORDER BY, which rewrites every file of the table or of the partitions of `where`.

    Rows that are close in `columns` come into the same files, so that queries on any of these columns can
    skip more files. It rewrites all files each time, whether anything has changed or not. `options` have the
    names of Delta's settings `spark.databricks.delta.optimize.*`.
    """

    columns: tuple[str, ...]
    where: str | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    reads_state: ClassVar[bool] = False
    known_options: ClassVar[Mapping[str, str]] = SORTING_OPTIONS

    def __post_init__(self) -> None:
        if not self.columns:
            raise ValueError("columns=() must name at least one column to order by")
        optimize_texts(self.options, self.known_options)

    @property
    def needs(self) -> frozenset[str]:
        """The capabilities its plan requires; `where` requires more than the command does."""
        return capabilities_of(self._plan())

    def decide(self, state: TableState) -> Plan | None:
        return self._plan()

    def _plan(self) -> Plan:
        arguments = {"columns": ", ".join(self.columns), "where": self.where}
        return call(Command.ZORDER, arguments, self.options, self.known_options)
