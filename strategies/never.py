"""The baseline: a table nobody compacts."""

from dataclasses import dataclass

from strategies.plan import Plan
from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class Never:
    """Never compacts. What every other strategy costs and buys is measured against it."""

    def decide(self, state: TableState) -> Plan | None:
        return None
