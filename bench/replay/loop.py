"""One run: the stream replayed tick by tick, on a virtual clock.

A tick is commit -> probes -> decide -> compact -> probe again -> maintenance, one after the other and
each timed in real seconds, while scenario time moves by one commit interval.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel

from bench.engines.contract import (
    Batch,
    Cost,
    Engine,
    Observation,
    Outcome,
    QueryOutcome,
    Ticket,
)
from bench.engines.format import SizeModel
from bench.replay.active_strategy import Policy
from bench.replay.forecast import forecast
from bench.replay.record_fields import compacted_fields, metadata_fields, table_fields
from bench.replay.recorder import Collector
from bench.results.records import (
    CommitRecord,
    CompactionRecord,
    DecisionRecord,
    MaintenanceRecord,
    ObserveRecord,
    QueryRecord,
)
from bench.scenario.plugins import name_of
from bench.scenario.scenario import Probe, Scenario
from strategies.plan import Plan, Reason, describe_action
from strategies.state import TableState
from strategies.strategy import Decision, Rule, Strategy, Verdict, figures_of

_MAINTENANCE = "maintenance"


@dataclass(slots=True)
class ReplayTimes:
    """Where the seconds of the replay went; what is left over is this project's own code."""

    loop_s: float = 0.0
    measured_s: float = 0.0
    observe_s: float = 0.0

    @property
    def own_s(self) -> float:
        """Seconds spent neither in what is measured nor in reading table state."""
        return max(0.0, self.loop_s - self.measured_s - self.observe_s)


class Loop:
    """Replays a stream into one engine under one strategy and records every step.

    `after_compaction` is called after each compaction, with the number of commits so far. With a
    `size_model` our planner's forecast stands beside each compaction.
    """

    def __init__(
        self,
        scenario: Scenario,
        policy: Policy,
        engine: Engine,
        collector: Collector,
        after_compaction: Callable[[int], None] | None = None,
        size_model: SizeModel | None = None,
    ) -> None:
        self._scenario, self._policy, self._engine, self._collector = scenario, policy, engine, collector
        self._after_compaction, self._size_model = after_compaction, size_model
        self._maintenance = tuple(  # each rule by itself: two that are due at once both run
            Policy(_MAINTENANCE, {_MAINTENANCE: Strategy(_MAINTENANCE, (rule,))})
            for rule in scenario.maintenance
        )
        self._pending: list[Ticket] = []
        self._tick = 0
        self._at_ms = 0
        self._seen: Observation | None = None
        self._last_primary: QueryOutcome | None = None
        self.times = ReplayTimes()

    def run(self, batches: Iterable[Batch]) -> ReplayTimes:
        """Replay the batches in order; compactions still pending at the end are completed."""
        started_s = time.perf_counter()
        for batch in batches:
            self._tick, self._at_ms = batch.spec.index, batch.spec.at_ms
            self._last_primary = None
            self._commit(batch)
            if not batch.spec.is_initial:
                self._after_commit()
        for ticket in self._pending:
            self._complete(ticket)
        self.times.loop_s = time.perf_counter() - started_s
        return self.times

    def _after_commit(self) -> None:
        for ticket in [t for t in self._pending if t.due_at_ms <= self._at_ms]:
            self._pending.remove(ticket)
            self._complete(ticket)
        if self._at_ms % self._scenario.probe_every_ms == 0:
            for probe in self._scenario.probes:
                self._probe(probe, "cadence")
        self._decide()
        self._maintain()

    def _commit(self, batch: Batch) -> None:
        outcome = self._engine.commit(batch, self._at_ms)
        self.times.measured_s += outcome.prepare_s + outcome.cost.wall_s
        change = outcome.observed.change
        self._write(
            CommitRecord, outcome.cost,
            is_initial=batch.spec.is_initial,
            rows=batch.spec.rows,
            ingested_bytes=batch.size_bytes,
            files_added_count=change.files_added_count,
            delete_files_added_count=change.delete_files_added_count,
            added_bytes=change.added_bytes,
            prepare_s=outcome.prepare_s,
            **metadata_fields(change),
        )  # fmt: skip
        self._observed(outcome.observed, "initial" if batch.spec.is_initial else "commit")

    def _observed(
        self, observed: Observation, after: Literal["initial", "commit", "compaction", "maintenance"]
    ) -> None:
        self._seen = observed
        self.times.observe_s += observed.cost.wall_s
        self._write(
            ObserveRecord, observed.cost,
            after=after,
            **table_fields(observed),
        )  # fmt: skip

    def _probe(self, probe: Probe, when: Literal["cadence", "before", "after"]) -> QueryOutcome:
        outcome = self._engine.query(probe)
        self.times.measured_s += outcome.cost.wall_s
        if probe.primary:
            self._last_primary = outcome
        self._write(
            QueryRecord, outcome.cost,
            probe=probe.name,
            primary=probe.primary,
            when=when,
            planning_s=outcome.planning_s,
            execution_s=outcome.execution_s,
            files_count=outcome.files_count,
            delete_files_count=outcome.delete_files_count,
            opened_bytes=outcome.opened_bytes,
            metadata_files_count=outcome.metadata_files_count,
            live_bytes=self._seen.live_bytes if self._seen else 0,
        )  # fmt: skip
        return outcome

    def _state(self) -> TableState:
        """The engine's state with what only the replay knows: how often and how fast the table is read."""
        latency_s = self._last_primary.cost.wall_s if self._last_primary else None
        rate_per_s = 1000 / self._scenario.probe_every_ms
        return replace(
            self._engine.state(self._at_ms), probe_rate_per_s=rate_per_s, probe_latency_s=latency_s
        )

    def _decide(self) -> None:
        state = self._state()
        label, decisions = self._policy.decide(state)
        for decision in decisions:  # a plan is the last of them, so until then the state holds
            rule = self._policy.rule(decision)
            fired = decision.verdict is not Verdict.NOT_DUE
            figures = figures_of(rule.planner, state) if fired else {}
            self._write_decision(label, rule, decision, figures)
            if decision.plan is not None:
                self._schedule(decision.plan)

    def _write_decision(
        self, label: str, rule: Rule, decision: Decision, figures: Mapping[str, float]
    ) -> None:
        plan = decision.plan
        self._collector.write(
            DecisionRecord,
            tick=self._tick,
            at_ms=self._at_ms,
            status=decision.verdict,
            strategy=label,
            rule=decision.rule_index,
            trigger=name_of(type(rule.trigger)),
            planner=name_of(type(rule.planner)),
            reason=plan.reason if plan else None,
            detail=plan.detail if plan else "",
            actions=[describe_action(action) for action in plan.actions] if plan else [],
            figures=figures or None,
        )

    def _schedule(self, plan: Plan) -> None:
        delay_ms = self._scenario.compaction_delay_ms
        if self._last_primary is None and not delay_ms:  # off the cadence: the probe before is made for it
            self._probe(self._scenario.primary_probe, "before")
        ticket = self._engine.schedule(plan, self._at_ms, self._at_ms + delay_ms)
        if delay_ms:
            self._pending.append(ticket)
        else:
            self._complete(ticket)

    def _complete(self, ticket: Ticket) -> None:
        before = self._seen
        if self._last_primary is None:
            self._probe(self._scenario.primary_probe, "before")
        query_before_s = self._last_primary.cost.wall_s if self._last_primary else None
        model = self._size_model
        expected = forecast(ticket.plan, self._engine.state(self._at_ms), model) if model else None
        outcome = self._engine.complete(ticket, self._at_ms)
        self.times.measured_s += outcome.cost.wall_s
        self._observed(outcome.observed, "compaction")
        effective = outcome.status == "ok"
        after = self._probe(self._scenario.primary_probe, "after") if effective else None
        self._write_compaction(
            ticket, outcome, before or outcome.observed,
            query_before_s if effective else None,
            after.cost.wall_s if after else None,
            expected,
        )  # fmt: skip
        if self._after_compaction:
            self._after_compaction(self._tick)

    def _write_compaction(
        self, ticket: Ticket, outcome: Outcome, before: Observation, query_before_s: float | None,
        query_after_s: float | None, expected: Mapping[str, float] | None,
    ) -> None:  # fmt: skip
        self._write(
            CompactionRecord, outcome.cost,
            status=outcome.status,
            error=outcome.error,
            reason=ticket.plan.reason,
            actions=[describe_action(action) for action in ticket.plan.actions],
            plan_kind=ticket.plan.kind,
            scheduled_at_ms=ticket.scheduled_at_ms,
            **compacted_fields(before, outcome.observed),
            query_before_s=query_before_s,
            query_after_s=query_after_s,
            forecast=expected,
            answer=outcome.answer or None,
        )  # fmt: skip

    def _maintain(self) -> None:
        plans = (d.plan for policy in self._maintenance for d in policy.decide(self._state())[1])
        for plan in plans:
            if plan is not None:
                self._maintain_by(replace(plan, reason=Reason.MAINTENANCE))

    def _maintain_by(self, plan: Plan) -> None:
        before_bytes = self._seen.storage_bytes if self._seen else 0
        ticket = self._engine.schedule(plan, self._at_ms, self._at_ms)
        outcome = self._engine.complete(ticket, self._at_ms)
        self.times.measured_s += outcome.cost.wall_s
        self._write(
            MaintenanceRecord, outcome.cost,
            status=outcome.status,
            error=outcome.error,
            command=", ".join(describe_action(action) for action in plan.actions),
            freed_bytes=before_bytes - outcome.observed.storage_bytes,
            **metadata_fields(outcome.observed.change),
        )  # fmt: skip
        self._observed(outcome.observed, "maintenance")

    def _write(self, kind: type[BaseModel], cost: Cost, **fields: Any) -> None:
        costs = {"wall_s": cost.wall_s, "cpu_s": cost.cpu_s, "executor_cpu_s": cost.executor_cpu_s}
        self._collector.write(kind, tick=self._tick, at_ms=self._at_ms, **costs, **fields)
