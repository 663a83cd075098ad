"""Plans that an engine has accepted and not completed yet."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from bench.engines.contract import Tag, Ticket, TicketId, Version
from bench.engines.ledger import AnyLedger, pending_plan
from bench.results.records import PlanStatus, RoleId
from bench.results.values import NO_COST, Cost
from strategies.plan import Action, Plan, Reason, Rewrite, capabilities_of
from strategies.preview import NoPreview, PlanPreview, Preview, PreviewAction, preview_plan
from strategies.state import PendingPlan, StateError, TableState

_Prepared = TypeVar("_Prepared")


@dataclass(frozen=True, slots=True)
class Planning:
    """The planning rules of a format that its engines apply.

    `preview` gives the effect of an action; it raises ValueError if that is unknown or the action is invalid.
    `resurrection` is why an action would resurrect deleted rows, by default None; it raises ValueError if it
    cannot judge. Staged actions (`is_staged`) begin when they are scheduled: the files that they replace are
    fixed then.
    """

    preview: PreviewAction
    resurrection: Callable[[Action, Preview | NoPreview, TableState], str | None] = (
        lambda action, preview, state: None
    )
    is_staged: Callable[[Action], bool] = lambda action: isinstance(action, Rewrite)

    def veto(self, plan: Plan, preview: PlanPreview, state: TableState) -> str | None:
        """Why the plan might resurrect a row; None if it cannot."""
        try:
            problems = (
                self.resurrection(action, action_preview, state)
                for action, action_preview in zip(plan.actions, preview.actions, strict=True)
            )
            return next(filter(None, problems), None)
        except ValueError as error:
            return f"deleted rows might come back: {error}"


@dataclass(slots=True)
class Staged(Generic[_Prepared]):
    """Prepared but uncommitted actions of a plan, and their cost, which is the whole cost if it `is_priced`.

    `veto` is why the plan is refused, `error` why its preparation failed.
    """

    actions: dict[int, _Prepared] = field(default_factory=dict)  # by position in the plan's actions
    cost: Cost = NO_COST
    veto: str | None = None
    error: str | None = None
    is_priced: bool = False

    def to_stage(self, plan: Plan, is_staged: Callable[[Action], bool]) -> Iterator[tuple[int, Action]]:
        """The actions to prepare, with their positions; stops at a veto or an error."""
        for position, action in enumerate(plan.actions):
            if self.veto is not None or self.error is not None:
                return
            if is_staged(action):
                yield position, action

    def status(self, error: str | None, versions: tuple[Version, ...]) -> PlanStatus:
        if self.veto is not None:
            return "vetoed"
        if error is not None:
            return "failed"
        return "ok" if versions else "noop"


class Tickets(Generic[_Prepared]):
    """The tickets of one table. They keep the pending plans and the history of its ledger up to date."""

    def __init__(self, ledger: AnyLedger) -> None:
        self._ledger = ledger
        self._numbers = itertools.count(1)
        self._open: dict[TicketId, tuple[Ticket, Staged[_Prepared]]] = {}
        self._pending: dict[TicketId, PendingPlan] = {}  # those that a planner has seen
        ledger.pending = self._pending_plans

    def issue(
        self,
        plan: Plan,
        capabilities: frozenset[str],
        planning: Planning,
        at_ms: int,
        due_at_ms: int,
        executor: str | None = None,
    ) -> tuple[Ticket, Staged[_Prepared]]:
        """A ticket for a plan, pending from now on, and the place for its prepared actions.

        `capabilities` and `planning` are the executor's. The plan is vetoed if the executor lacks a
        capability, or if the plan might resurrect a row.
        """
        preview, veto = _judge(plan, planning, self._ledger.state(at_ms))
        ticket = Ticket(TicketId(next(self._numbers)), plan, preview, at_ms, due_at_ms, executor=executor)
        missing = capabilities_of(plan) - capabilities
        cannot = f"{executor or 'this engine'} cannot {', '.join(sorted(missing))}" if missing else None
        staged = Staged[_Prepared](veto=cannot or veto)
        self._open[ticket.id] = ticket, staged
        return ticket, staged

    def redeem(self, ticket: Ticket) -> Staged[_Prepared]:
        """What was staged for the ticket, which is no longer pending."""
        _, staged = self._open.pop(ticket.id)
        self._pending.pop(ticket.id, None)
        return staged

    def _pending_plans(self) -> tuple[PendingPlan, ...]:
        """Naming the files of a plan takes time, so it waits until somebody asks."""
        for ticket, _ in self._open.values():
            if ticket.id not in self._pending:
                self._pending[ticket.id] = pending_plan(ticket)
        return tuple(self._pending.values())


def _judge(plan: Plan, planning: Planning, state: TableState) -> tuple[PlanPreview, str | None]:
    """The preview of a plan, and why it is vetoed. A state that cannot be understood vetoes every plan."""
    try:
        preview = preview_plan(plan, state, planning.preview)
        return preview, planning.veto(plan, preview, state)
    except StateError as error:
        unknown = NoPreview(str(error))
        return PlanPreview(state.version, (unknown,) * len(plan.actions)), str(error)


def tag_of(ticket: Ticket, at_ms: int, compactor: RoleId = "compactor") -> Tag:
    """`compactor` is the id of the compactor that executes plans of rules."""
    if ticket.plan.reason is Reason.MAINTENANCE:
        return Tag("maintainer", f"maintenance-{ticket.id}", at_ms)
    return Tag(compactor, f"compaction-{ticket.id}", at_ms)
