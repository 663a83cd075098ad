"""Plans that an engine has accepted and not yet completed."""

import itertools
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from bench.engines.contract import NO_COST, Change, Cost, Ticket, TicketId
from bench.engines.ledger import Ledger, compaction_seen, pending_plan
from strategies.iceberg.resurrection import resurrection
from strategies.plan import Plan, Reason, capabilities_of
from strategies.state import PendingPlan, TableState

_Prepared = TypeVar("_Prepared")


@dataclass(slots=True)
class Staged(Generic[_Prepared]):
    """What `schedule` did of a plan: actions prepared but not committed, and what that cost.

    `veto` is why the plan is refused, `error` why preparing it failed.
    """

    seen: PendingPlan
    actions: dict[int, _Prepared] = field(default_factory=dict)  # by position in the plan's actions
    cost: Cost = NO_COST
    veto: str | None = None
    error: str | None = None

    def status(self, error: str | None, change: Change) -> str:
        """What became of the plan, in the words of `Outcome`, `error` being why it ended early."""
        if self.veto is not None:
            return "vetoed"
        if error is not None:
            return "failed"
        return "ok" if change.metadata_files_count else "noop"


class Tickets(Generic[_Prepared]):
    """The tickets of one table; its ledger is told which plans are pending, and what became of them."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._numbers = itertools.count(1)
        self._staged: dict[TicketId, Staged[_Prepared]] = {}

    def issue(
        self, plan: Plan, capabilities: frozenset[str], at_ms: int, due_at_ms: int
    ) -> tuple[Ticket, Staged[_Prepared]]:
        """A ticket for a plan, pending from now on, and where to put what is prepared of it.

        It is vetoed where an engine of these capabilities cannot do it, or where a row would come back.
        """
        ticket = Ticket(TicketId(next(self._numbers)), plan, at_ms, due_at_ms)
        veto = _veto(plan, capabilities, self._ledger.state(at_ms))
        self._staged[ticket.id] = Staged(pending_plan(plan, at_ms, due_at_ms), veto=veto)
        self._tell()
        return ticket, self._staged[ticket.id]

    def redeem(self, ticket: Ticket) -> Staged[_Prepared]:
        """What was prepared of the ticket's plan, which is no longer pending."""
        staged = self._staged.pop(ticket.id)
        self._tell()
        return staged

    def ended(self, ticket: Ticket, at_ms: int, status: str, change: Change, cost: Cost) -> None:
        """Note in the history what became of a ticket's plan; maintenance is no compaction."""
        if ticket.plan.reason is not Reason.MAINTENANCE:
            seen = compaction_seen(at_ms, status, ticket.plan, ticket.scheduled_at_ms, change, cost)
            self._ledger.saw_compaction(seen)

    def _tell(self) -> None:
        self._ledger.pending = tuple(staged.seen for staged in self._staged.values())


def _veto(plan: Plan, capabilities: frozenset[str], state: TableState) -> str | None:
    """Why an engine must refuse a plan: what it cannot do, or a row that would come back."""
    missing = capabilities_of(plan) - capabilities
    if missing:
        return f"this engine cannot {', '.join(sorted(missing))}"
    try:
        return next(filter(None, (resurrection(action, state) for action in plan.actions)), None)
    except ValueError:  # the action itself is at fault, and fails with an error of its own
        return None
