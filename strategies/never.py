"""The baseline: a table that is never compacted."""

from dataclasses import dataclass
from typing import ClassVar

from strategies.plan import Plan
from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class Never:
    """Never compact: the baseline for the costs and benefits of all other strategies."""

    reads_state: ClassVar[bool] = False

    def decide(self, state: TableState) -> Plan | None:
        return None
