"""Plans that an engine has accepted and not yet completed."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from bench.engines.contract import Tag, Ticket, TicketId, Version, total_change
from bench.engines.ledger import AnyLedger, compaction_seen, pending_plan
from bench.results.records import PlanStatus
from bench.results.values import NO_COST, Cost
from strategies.plan import Action, Plan, Reason, Rewrite, capabilities_of
from strategies.preview import NoPreview, PlanPreview, Preview, PreviewAction, preview_plan
from strategies.state import StateError, TableState

_Prepared = TypeVar("_Prepared")


@dataclass(frozen=True, slots=True)
class Planning:
    """The planning rules of a format that its engines apply.

    `preview` says what an action would do to a table; it raises ValueError where that cannot be known or the
    action itself is at fault. `resurrection` says why an action would resurrect deleted rows (by default none
    does); it raises ValueError where it cannot judge. Actions that `is_staged` names begin when they are
    scheduled: which files they replace is settled then.
    """

    preview: PreviewAction
    resurrection: Callable[[Action, Preview | NoPreview, TableState], str | None] = (
        lambda action, preview, state: None
    )
    is_staged: Callable[[Action], bool] = lambda action: isinstance(action, Rewrite)

    def veto(self, plan: Plan, preview: PlanPreview, state: TableState) -> str | None:
        """Why no engine may run the plan: it would resurrect a row, or whether it would cannot be judged."""
        try:
            problems = (
                self.resurrection(action, each, state)
                for action, each in zip(plan.actions, preview.actions, strict=True)
            )
            return next(filter(None, problems), None)
        except ValueError as error:
            return f"whether deleted rows would come back cannot be judged: {error}"


@dataclass(slots=True)
class Staged(Generic[_Prepared]):
    """The part of a plan that `schedule` has done: actions prepared but not committed, and their cost.

    `veto` is why the plan is refused, `error` why its preparation failed.
    """

    actions: dict[int, _Prepared] = field(default_factory=dict)  # by position in the plan's actions
    cost: Cost = NO_COST
    veto: str | None = None
    error: str | None = None

    def to_stage(self, plan: Plan, planning: Planning) -> Iterator[tuple[int, Action]]:
        """The actions to prepare, with their positions; none if vetoed, no more after an error."""
        for position, action in enumerate(plan.actions):
            if self.veto is not None or self.error is not None:
                return
            if planning.is_staged(action):
                yield position, action

    def status(self, error: str | None, versions: tuple[Version, ...]) -> PlanStatus:
        """The status of `Outcome`; `error` is why execution ended early."""
        if self.veto is not None:
            return "vetoed"
        if error is not None:
            return "failed"
        return "ok" if versions else "noop"


class Tickets(Generic[_Prepared]):
    """The tickets of one table. They tell its ledger which plans are pending and how each one ended."""

    def __init__(self, ledger: AnyLedger) -> None:
        self._ledger = ledger
        self._numbers = itertools.count(1)
        self._open: dict[TicketId, tuple[Ticket, Staged[_Prepared]]] = {}

    def issue(
        self,
        plan: Plan,
        capabilities: frozenset[str],
        planning: Planning,
        at_ms: int,
        due_at_ms: int,
        executor: str | None = None,
    ) -> tuple[Ticket, Staged[_Prepared]]:
        """A ticket for a plan, pending from now on, and the place where its prepared actions go.

        `capabilities` and `planning` are those of the executor. The plan is vetoed if it cannot execute it,
        or if the plan might resurrect a row.
        """
        preview, veto = _judge(plan, planning, self._ledger.state(at_ms))
        ticket = Ticket(TicketId(next(self._numbers)), plan, preview, at_ms, due_at_ms, executor=executor)
        missing = capabilities_of(plan) - capabilities
        cannot = f"{executor or 'this engine'} cannot {', '.join(sorted(missing))}" if missing else None
        staged = Staged[_Prepared](veto=cannot or veto)
        self._open[ticket.id] = ticket, staged
        self._update_pending()
        return ticket, staged

    def staged(self, ticket: Ticket) -> Staged[_Prepared]:
        """The prepared part of a ticket's plan."""
        return self._open[ticket.id][1]

    def redeem(self, ticket: Ticket) -> Staged[_Prepared]:
        """The prepared part of a ticket's plan, which is no longer pending."""
        _, staged = self._open.pop(ticket.id)
        self._update_pending()
        return staged

    def ended(
        self, ticket: Ticket, at_ms: int, status: str, versions: tuple[Version, ...], cost: Cost
    ) -> None:
        """Record in the history how a ticket's plan ended. Maintenance is not a compaction."""
        if ticket.plan.reason is not Reason.MAINTENANCE:
            self._ledger.saw_compaction(
                compaction_seen(
                    at_ms, status, ticket.plan, ticket.scheduled_at_ms, total_change(versions), cost
                )
            )

    def _update_pending(self) -> None:
        self._ledger.pending = tuple(pending_plan(ticket) for ticket, _ in self._open.values())


def _judge(plan: Plan, planning: Planning, state: TableState) -> tuple[PlanPreview, str | None]:
    """What a plan would do, and why it is vetoed. A state that cannot be understood vetoes every plan."""
    try:
        preview = preview_plan(plan, state, planning.preview)
        return preview, planning.veto(plan, preview, state)
    except StateError as error:
        unknown = NoPreview(str(error))
        return PlanPreview(state.version, (unknown,) * len(plan.actions)), str(error)


def tag_of(ticket: Ticket, at_ms: int) -> Tag:
    """The tag of the versions that a ticket's plan makes."""
    if ticket.plan.reason is Reason.MAINTENANCE:
        return Tag("maintainer", f"maintenance-{ticket.id}", at_ms)
    return Tag("compactor", f"compaction-{ticket.id}", at_ms)
