"""One run: the stream, replayed tick by tick on a virtual clock.

A tick is commit -> control query and probes -> decide -> compact -> maintenance -> probes again. These steps
run one after the other and each is timed in real seconds, while scenario time advances by one commit
interval. Both rounds of probes run at the ticks of the scenario's cadence only, and there under every
strategy.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from bench.engines.contract import (
    INLINE,
    NO_COST,
    Batch,
    CommitOutcome,
    Cost,
    Engine,
    InlineCompaction,
    Observation,
    Probe,
    QueryOutcome,
    Ticket,
    TicketId,
)
from bench.engines.format import SizeModel
from bench.replay.active_strategy import ActiveStrategy, reads_state
from bench.replay.clock import Clock
from bench.replay.entries import Completed, compaction_record, decision_record
from bench.replay.fields import (
    RecordRole,
    Step,
    compacted_fields,
    ids,
    scan_fields,
    step,
    table_fields,
)
from bench.replay.recorder import Recorder
from bench.results.records import (
    CommitRecord,
    CompactionRecord,
    ControlRecord,
    DecisionRecord,
    MaintenanceRecord,
    ObserveRecord,
    QueryRecord,
)
from bench.scenario.scenario import Scenario
from strategies.plan import Plan, Reason, describe_action
from strategies.state import TableState
from strategies.strategy import Strategy

_MAINTENANCE = "maintenance"


@dataclass(slots=True)
class ReplayTimes:
    """How the seconds of a replay were spent; the rest is this project's own code."""

    loop_s: float = 0.0
    measured_s: float = 0.0
    observe_s: float = 0.0

    @property
    def own_s(self) -> float:
        """Seconds spent neither on measured steps nor on reading table state."""
        return max(0.0, self.loop_s - self.measured_s - self.observe_s)


@dataclass(frozen=True, slots=True)
class _Decided:
    """The decisions of some rules, and the plan of the last one, if it has one, with its delay."""

    records: tuple[DecisionRecord, ...] = ()
    plan: Plan | None = None
    delay_ms: int = 0
    is_concurrent: bool = False
    wall_s: float = 0.0


@dataclass(frozen=True, slots=True)
class _Waited:
    """How long a commit waited for its inline rules, and what they did."""

    wall_s: float = 0.0
    records: tuple[DecisionRecord | CompactionRecord, ...] = ()
    observed: Observation | None = None


_NO_WAIT = _Waited()


@dataclass(frozen=True, slots=True)
class _Latency:
    """The latest run of the primary probe."""

    at_ms: int
    wall_s: float


class Loop:
    """Replays a stream into one engine under one strategy and records every step.

    `after_compaction` is called after each compaction with the number of commits so far. With a `size_model`
    our planner's forecast is recorded with each compaction.
    """

    def __init__(
        self,
        scenario: Scenario,
        strategy: ActiveStrategy,
        engine: Engine,
        recorder: Recorder,
        clock: Clock,
        after_compaction: Callable[[int], None] | None = None,
        size_model: SizeModel | None = None,
        repetition: int = 1,
    ) -> None:
        self._scenario, self._strategy, self._engine, self._recorder = scenario, strategy, engine, recorder
        self._clock, self._after_compaction, self._size_model = clock, after_compaction, size_model
        self._maintenance = (
            tuple(  # one rule each: a strategy's first rule that plans wins, but all of these run
                ActiveStrategy(_MAINTENANCE, {_MAINTENANCE: Strategy(_MAINTENANCE, (rule,))})
                for rule in scenario.maintenance
            )
        )
        self._cadence = scenario.cadence(repetition)
        self._pending: list[Ticket] = []
        self._started_s: dict[TicketId, float] = {}  # of the plans that are executed beside the stream
        self._unsettled: Completed | None = None  # the last compaction, until its record is written
        self._tick = 0
        self._at_ms = 0
        self._seen: Observation | None = None
        self._reading = NO_COST  # of the table as it is now, until a rule is charged with it
        self._latest: _Latency | None = None
        self.times = ReplayTimes()

    def run(self, batches: Iterable[Batch]) -> None:
        """Replay the batches in order, then complete the compactions that are still pending."""
        try:
            for batch in batches:
                self._tick, self._at_ms = batch.spec.index, batch.spec.at_ms
                self._commit(batch)
                if not batch.spec.is_initial:
                    self._after_commit()
            for ticket in self._pending:
                self._complete(ticket)
        finally:
            self._write_unsettled(None)  # if a step after the compaction failed

    def _after_commit(self) -> None:
        """What follows a commit: probes, the pending compactions that are due, and what is decided now."""
        probes = self._probes_now()
        if probes:
            self._control()
        for probe in probes:
            self._probe(probe, "after_commit")
        due = [ticket for ticket in self._pending if ticket.due_at_ms <= self._at_ms]
        for ticket in due:
            self._pending.remove(ticket)
            self._complete(ticket, settles=bool(probes) and ticket is due[-1])
        self._decide(settles=bool(probes))
        self._maintain()
        for probe in probes:
            self._settle(probe)

    def _probes_now(self) -> tuple[Probe, ...]:
        """The probes that the cadence runs at this tick, the primary one first."""
        if not self._cadence.is_probed(self._tick):
            return ()
        primary = self._scenario.primary_probe
        others = (probe for probe in self._scenario.probes if not probe.primary)
        return (primary, *others) if self._cadence.is_side_probed(self._tick) else (primary,)

    def _control(self) -> None:
        began_s, cost = self._clock.now_s(), self._engine.control()
        if cost is not None:
            self._add_measured(cost.wall_s)
            self._recorder.write(ControlRecord(**self._step("reader", None, began_s, cost)))

    def _settle(self, probe: Probe) -> None:
        """Query the table as the tick leaves it, which is also the query after the tick's last compaction."""
        latency_s = self._probe(probe, "settled").cost.wall_s
        if probe.primary:
            self._write_unsettled(latency_s)

    def _commit(self, batch: Batch) -> None:
        """Commit the rows of the tick, if there are any, and record how the table is.

        What the inline rules plan follows at once, and the commit waits for it. Nobody sees the table in
        between, as with commits that compact by themselves.
        """
        before, began_s = self._seen, self._clock.now_s()
        outcome = self._engine.commit(batch, self._at_ms)
        own_cost = sum((compaction.cost for compaction in outcome.compactions), NO_COST)
        self._add_measured(outcome.prepare_s + outcome.cost.wall_s + own_cost.wall_s)
        self._seen, self._reading = outcome.observed, outcome.observed.cost
        is_waiting = self._strategy.has_inline_rules and batch.spec.rows and not batch.spec.is_initial
        waited = self._wait_inline() if is_waiting else _NO_WAIT
        if batch.spec.rows:
            self._write_commit(batch, outcome, began_s, own_cost.wall_s + waited.wall_s)
        started_s = began_s + outcome.prepare_s + outcome.cost.wall_s
        for compaction in outcome.compactions:
            self._write_inline(compaction, before or outcome.observed, outcome.observed, started_s)
            started_s += compaction.cost.wall_s
        seen = outcome.observed if waited.observed is None else waited.observed
        self._record_observation(seen, "initial" if batch.spec.is_initial else "commit")
        for record in waited.records:
            self._recorder.write(record)

    def _wait_inline(self) -> _Waited:
        """Evaluate the inline rules and complete what they plan. Nobody queries the table meanwhile.

        For a plan with a delay the commit waits until it is scheduled.
        """
        decided = self._evaluate(is_inline=True)
        if decided.plan is None:
            return _Waited(decided.wall_s, decided.records)
        if decided.delay_ms:
            ticket = self._postpone(decided.plan, decided)
            return _Waited(decided.wall_s + ticket.scheduling_s, decided.records)
        before, began_s = self._seen, self._clock.now_s()
        ticket = self._engine.schedule(decided.plan, self._at_ms, self._at_ms)
        outcome = self._engine.complete(ticket, self._at_ms)
        self._add_measured(outcome.cost.wall_s)
        took = self._step("writer", outcome.observed, began_s, outcome.cost)
        completed = Completed(took, ticket, outcome, before or outcome.observed, None)
        record = compaction_record(completed, None, self._size_model, is_inline=True)
        self._reading = outcome.observed.cost
        observed = replace(outcome.observed, cost=(before or outcome.observed).cost + outcome.observed.cost)
        return _Waited(decided.wall_s + outcome.cost.wall_s, (*decided.records, record), observed)

    def _write_commit(self, batch: Batch, outcome: CommitOutcome, began_s: float, waited_s: float) -> None:
        change = outcome.change
        self._recorder.write(
            CommitRecord(
                **self._step("writer", outcome.observed, began_s + outcome.prepare_s, outcome.cost),
                is_initial=batch.spec.is_initial,
                rows=batch.spec.rows,
                ingested_bytes=batch.size_bytes,
                files_added_count=change.files_added_count,
                delete_files_added_count=change.delete_files_added_count,
                added_bytes=change.added_bytes,
                metadata_bytes=change.metadata_bytes,
                metadata_files_count=change.metadata_files_count,
                prepare_s=outcome.prepare_s,
                waited_s=waited_s,
                versions=ids(outcome.versions),
            )
        )

    def _write_inline(
        self, compaction: InlineCompaction, before: Observation, after: Observation, started_s: float
    ) -> None:
        """Record a commit's inline compaction. The table was only observed before and after the commit."""
        self._recorder.write(
            CompactionRecord(
                **self._step("writer", after, started_s, compaction.cost),
                **compacted_fields(before, after, compaction.versions),
                reason=INLINE,
                actions=[compaction.action],
                scheduled_at_ms=self._at_ms,
                is_sorted=compaction.is_sorted,
                is_converting=False,
                is_inline=True,
            )
        )

    def _record_observation(
        self, observed: Observation, after: Literal["initial", "commit", "compaction", "maintenance"]
    ) -> None:
        began_s = self._clock.now_s() - observed.cost.wall_s
        self._seen = observed
        self.times.observe_s += observed.cost.wall_s
        self._recorder.write(
            ObserveRecord(
                **self._step("reader", observed, began_s, observed.cost),
                **table_fields(observed),
                after=after,
            )
        )

    def _probe(
        self, probe: Probe, when: Literal["after_commit", "settled", "before", "after"]
    ) -> QueryOutcome:
        began_s = self._clock.now_s()
        outcome = self._engine.query(probe)
        self._add_measured(outcome.cost.wall_s)
        if probe.primary:
            self._latest = _Latency(self._at_ms, outcome.cost.wall_s)
        self._recorder.write(
            QueryRecord(
                **self._step("reader", self._seen, began_s, outcome.cost),
                **scan_fields(outcome),
                probe=probe.name,
                primary=probe.primary,
                when=when,
                planning_s=outcome.planning_s,
                execution_s=outcome.execution_s,
            )
        )
        return outcome

    def _state(self) -> TableState:
        """The engine's state, with what only the replay knows: how the table is read."""
        latest = self._latest
        return replace(
            self._engine.state(self._at_ms),
            probe_rate_per_s=1000 / self._scenario.probe_every_ms,
            probe_latency_s=latest.wall_s if latest else None,
            probe_latency_age_ms=self._at_ms - latest.at_ms if latest else None,
        )

    def _latency_now_s(self) -> float | None:
        """The latency of the table as it is now: that of the primary probe, if it has run in this tick.

        `_latest` may be older, as probes need not run at every commit. An old latency is good enough for a
        planner, which is given its age, but not as the query before a compaction.
        """
        latest = self._latest
        return latest.wall_s if latest and latest.at_ms == self._at_ms else None

    def _decide(self, *, settles: bool) -> None:
        decided = self._evaluate(is_inline=False)
        for record in decided.records:
            self._recorder.write(record)
        if decided.plan is not None:
            self._schedule(decided.plan, decided, settles=settles)

    def _evaluate(self, *, is_inline: bool) -> _Decided:
        """Evaluate the inline rules, or the others. Only the last decision can hold a plan.

        The first rule that reads the table is charged with reading it, the others share what it read.
        """
        state, began_s = self._state(), self._clock.now_s()
        label, evaluations = self._strategy.decide(state, self._clock, is_inline=is_inline)
        decided = _Decided()
        for evaluation in evaluations:
            decision, cost = evaluation.decision, evaluation.cost
            rule = self._strategy.rule(decision)
            read = NO_COST
            if reads_state(rule, decision):
                read, self._reading = self._reading, NO_COST
            self._add_measured(cost.wall_s)
            evaluating = self._step("compactor", self._seen, began_s, cost)
            record = decision_record(evaluating, label, rule, decision, read)
            began_s += cost.wall_s
            decided = _Decided(
                (*decided.records, record),
                decision.plan,
                rule.delay_or(self._scenario.compaction_delay_ms),
                rule.is_concurrent,
                decided.wall_s + cost.wall_s,
            )
        return decided

    def _schedule(self, plan: Plan, decided: _Decided, *, settles: bool) -> None:
        """Schedule a plan, and complete it now unless it is delayed.

        Off the cadence, the query before the compaction has to run before an explicit rewrite is staged.
        """
        if self._latency_now_s() is None and not decided.delay_ms:
            self._probe(self._scenario.primary_probe, "before")
        if decided.delay_ms:
            self._postpone(plan, decided)
        else:
            self._complete(self._engine.schedule(plan, self._at_ms, self._at_ms), settles=settles)

    def _postpone(self, plan: Plan, decided: _Decided) -> Ticket:
        """Schedule a plan that is completed later, and begin to execute it if it is concurrent."""
        began_s = self._clock.now_s()
        ticket = self._engine.schedule(plan, self._at_ms, self._at_ms + decided.delay_ms)
        if decided.is_concurrent:
            self._started_s[ticket.id] = began_s
            self._engine.start(ticket)
        self._pending.append(ticket)
        return ticket

    def _complete(self, ticket: Ticket, *, settles: bool = False) -> None:
        """Complete a plan between two runs of the primary probe, the queries before and after the compaction.

        The first is the latest run of this tick: of the cadence, of `_schedule`, or, for a delayed plan, one
        made here. Commits have changed the table since such a plan was scheduled. The second is made here,
        unless it `settles`: then the one at the end of the tick serves, so that no policy runs more queries
        on the cadence than another, and the compaction's record waits for it. A compaction beside the stream
        has no query before it: it may have committed long since.
        """
        if self._unsettled is not None:  # a delayed compaction that ended in this tick, before this one
            self._write_unsettled(self._probe(self._scenario.primary_probe, "after").cost.wall_s)
        before, is_concurrent = self._seen, ticket.id in self._started_s
        if self._latency_now_s() is None and not is_concurrent:
            self._probe(self._scenario.primary_probe, "before")
        query_before_s, asked_s = None if is_concurrent else self._latency_now_s(), self._clock.now_s()
        began_s = self._started_s.pop(ticket.id, asked_s)
        outcome = self._engine.complete(ticket, self._at_ms)
        waited_s = self._clock.now_s() - asked_s - outcome.observed.cost.wall_s
        self._add_measured(ticket.scheduling_s + waited_s if outcome.cost.is_shared else outcome.cost.wall_s)
        self._record_observation(outcome.observed, "compaction")
        self._reading = outcome.observed.cost
        is_ok = outcome.status == "ok"
        self._unsettled = Completed(
            self._step("compactor", outcome.observed, began_s, outcome.cost), ticket, outcome,
            before or outcome.observed, query_before_s if is_ok else None,
        )  # fmt: skip
        if self._after_compaction:
            self._after_compaction(self._tick)
        if not is_ok:
            self._write_unsettled(None)
        elif not settles:
            self._write_unsettled(self._probe(self._scenario.primary_probe, "after").cost.wall_s)

    def _write_unsettled(self, query_after_s: float | None) -> None:
        """Write the record of the last compaction, if it has none yet."""
        if self._unsettled is not None:
            self._recorder.write(compaction_record(self._unsettled, query_after_s, self._size_model))
            self._unsettled = None

    def _maintain(self) -> None:
        evaluations = (e for rule in self._maintenance for e in rule.decide(self._state(), self._clock)[1])
        plans = (evaluation.decision.plan for evaluation in evaluations)
        for plan in plans:
            if plan is not None:
                self._maintain_by(replace(plan, reason=Reason.MAINTENANCE))

    def _maintain_by(self, plan: Plan) -> None:
        before_bytes = self._seen.storage_bytes if self._seen else 0
        ticket = self._engine.schedule(plan, self._at_ms, self._at_ms)
        began_s = self._clock.now_s()
        outcome = self._engine.complete(ticket, self._at_ms)
        self._add_measured(outcome.cost.wall_s)
        change = outcome.change
        self._recorder.write(
            MaintenanceRecord(
                **self._step("maintainer", outcome.observed, began_s, outcome.cost),
                status=outcome.status,
                error=outcome.error,
                command=", ".join(describe_action(action) for action in plan.actions),
                freed_bytes=before_bytes - outcome.observed.storage_bytes,
                files_added_count=change.files_added_count,
                delete_files_added_count=change.delete_files_added_count,
                added_bytes=change.added_bytes,
                metadata_bytes=change.metadata_bytes,
                metadata_files_count=change.metadata_files_count,
                versions=ids(outcome.versions),
            )
        )
        self._record_observation(outcome.observed, "maintenance")

    def _add_measured(self, seconds: float) -> None:
        """Account for a measured step."""
        self.times.measured_s += seconds
        self._clock.advance(seconds)

    def _step(self, role: RecordRole, seen: Observation | None, started_s: float, cost: Cost) -> Step:
        version = seen.version if seen else None
        return step(self._tick, self._at_ms, role, version, started_s, cost)
