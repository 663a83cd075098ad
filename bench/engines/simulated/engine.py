"""A table without Spark: files are kept incrementally, plans follow the format's rules, costs are modelled.

The same scenario gives the same files and decisions on every machine. The table has no rows: the files of a
commit follow from the workload's shape, and the format's model determines how they change.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic

from bench.engines.contract import (
    TABLE_ID,
    Batch,
    CommitConflictError,
    CommitOutcome,
    EngineSettings,
    InlineCompaction,
    Observation,
    Outcome,
    Probe,
    QueryOutcome,
    Tag,
    Ticket,
    Version,
    total_maintenance,
)
from bench.engines.rewrite_work import finds_nothing, rewrite_work
from bench.engines.simulated.beyond_fit import BeyondFitNotes
from bench.engines.simulated.costs import Coefficients, StepSeconds
from bench.engines.simulated.model import ConflictError, FormatModel, LostCommit, Prepared
from bench.engines.simulated.steps import (
    PLANNING_OF,
    QUERIES,
    Operation,
    Step,
    commit_step,
    maintenance_step,
    plan_step,
    query_step,
    rewrite_operation,
    rewrite_step,
)
from bench.engines.tickets import Planning, Staged, Tickets, tag_of
from bench.errors import EngineError
from bench.results.records import PlanStatus
from bench.results.values import (
    NO_COST,
    NO_REWRITE_WORK,
    BeyondFit,
    Cost,
    RewriteWork,
    ScanWork,
    Session,
)
from strategies.plan import Action, Native, Plan
from strategies.preview import NoPreview, PlanPreview, Preview, try_preview
from strategies.state import TableState
from workloads.commit import CommitSpec

_LATEST_SCANS = 32  # the last scans whose seconds are kept


@dataclass(frozen=True, slots=True)
class Priced:
    """What a plan would cost now, and whether it would change nothing."""

    cost: Cost
    finds_nothing: bool


class SimulatedEngine(Generic[Prepared]):
    """One simulated table (see the `Engine` contract). Its costs are modelled seconds from coefficients.

    `model` makes the format's model of an empty table, from the settings and the format's coefficients.
    `executors` have the capabilities of executors without Spark. `table_amounts` are amounts of work that
    each step has on this table.
    """

    sessions: tuple[Session, ...]

    def __init__(
        self,
        settings: EngineSettings,
        coefficients: Coefficients,
        capabilities: frozenset[str],
        planning: Planning,
        model: Callable[[EngineSettings, Any], FormatModel[Prepared]],
        executors: Mapping[str, frozenset[str]] = MappingProxyType({}),
        table_amounts: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self.table_id, self.capabilities, self.planning = TABLE_ID, capabilities, planning
        self._executors, self._table_amounts = executors, table_amounts
        self._coefficients, self._cores = coefficients, settings.cores
        self._core_speed = settings.core_speed
        self._is_jvm_warm, self._has_real_clock = settings.is_jvm_warm, settings.has_real_clock
        self.sessions = ("new",) if settings.has_real_clock else coefficients.sessions
        self._make_model = partial(model, settings, coefficients)
        self._make_sibling = partial(
            SimulatedEngine[Prepared], settings, coefficients, capabilities, planning, model, executors,
            table_amounts,
        )  # fmt: skip
        self._clear()

    def _clear(self) -> None:
        self.model = self._make_model()
        self._ledger = self.model.ledger
        self._tickets = Tickets[Prepared](self._ledger)
        self._jvm_cpu_s = math.inf if self._is_jvm_warm else 0.0  # since the stream began
        self._beyond = BeyondFitNotes()
        # A table that has not changed is queried several times. Priced once, a scan is noted once, too: what
        # is noted are maxima.
        self._seconds_of_query = lru_cache(_LATEST_SCANS)(self._new_seconds_of_query)
        self._begun: CommitSpec | None = None  # a commit that compactions may come before
        self._lost: LostCommit | None = None  # because of one of them

    def create(self) -> None:
        self._clear()
        self.model.create()

    def begin(self, batch: Batch) -> None:
        self._begun, self._lost = None, None
        if refused := self.model.begin(batch.spec):
            raise self._conflict(batch.spec, refused)
        self._begun = batch.spec

    def commit(self, batch: Batch, at_ms: int) -> CommitOutcome:
        spec = batch.spec
        begun, lost, self._begun, self._lost = self._begun, self._lost, None, None
        if not spec.rows:
            return CommitOutcome(NO_COST, 0.0, (), self._observe())
        tag = Tag.of_commit(spec, at_ms)
        if lost is None and begun is not None:
            lost = self.model.overtaken(spec)
        if lost is not None:
            raise self._conflict(spec, lost)
        live_count = self._live_count
        version, made = self.model.commit(spec, tag)
        cost = self._charge(
            commit_step(version.change, version.work), self._cores.writer, in_figures=not spec.is_initial
        )
        compactions = tuple(self._charged(compaction, live_count) for compaction in made)
        inline = (version for compaction in compactions for version in compaction.versions)
        self._ledger.saw_versions((version, *inline))
        return CommitOutcome(cost, 0.0, (version,), self._observe(), compactions, version.work)

    def _conflict(self, spec: CommitSpec, lost: LostCommit) -> CommitConflictError:
        cost = self._charge(commit_step(lost.change, lost.work), self._cores.writer)
        return CommitConflictError(f"commit {spec.index}", lost.reason, cost)

    def _charge(self, step: Step, cores: int, *, in_figures: bool = True) -> Cost:
        """The cost of a step that is carried out (`_spend`).

        The load of a table, not `in_figures`, enters no figure that gets a verdict.
        """
        return self._spend(step.operation, self._seconds(step, in_figures=in_figures), cores)

    def _seconds(self, step: Step, *, in_figures: bool = True) -> StepSeconds:
        """Notes amounts of the step that were never measured."""
        step, operation = step.on_table(self._table_amounts), self._coefficients.operations[step.operation]
        if in_figures:
            self._beyond.note(operation, step)
        return operation.seconds(step)

    def _spend(self, operation: Operation, seconds: StepSeconds, cores: int) -> Cost:
        """The cost of a step that is carried out and takes these seconds: it warms the JVM."""
        cost = self._coefficients.operations[operation].cost_of(seconds, cores, self._jvm_cpu_s)
        if operation is not Operation.SINGLE_NODE:  # which compiles no Java
            self._jvm_cpu_s += cost.cpu_s
        return cost.on_cores(self._core_speed)

    def _modelled(self, step: Step, cores: int) -> Cost:
        return self._coefficients.price(step.on_table(self._table_amounts), cores, self._jvm_cpu_s)

    def _charged(self, compaction: InlineCompaction, live_count: int) -> InlineCompaction:
        work = compaction.work
        operation = rewrite_operation(work, compaction.action, is_sorted=compaction.is_sorted)
        cost = self._charge(rewrite_step(operation, work, live_count), self._cores.writer)
        return replace(compaction, cost=cost)

    def state(self, at_ms: int) -> TableState:
        return self._ledger.state(at_ms)

    def schedule(self, plan: Plan, at_ms: int, due_at_ms: int, executor: str | None = None) -> Ticket:
        """See the `Engine` contract.

        With a real clock a rewrite is staged even by a command that on a virtual clock plans and commits in
        one call, unless an earlier action of the plan changes what it finds.
        """
        able = self.capabilities if executor is None else self._executors[executor]
        ticket, staged = self._tickets.issue(plan, able, self.planning, at_ms, due_at_ms, executor)
        takes_time = self._has_real_clock and not self._is_metadata_only(plan) and self._are_apart(ticket)

        def is_staged(action: Action) -> bool:
            return self.planning.is_staged(action) or (takes_time and not self._is_metadata(action))

        for position, action in staged.to_stage(plan, is_staged):
            try:
                staged.actions[position] = self.model.stage(action, ticket.preview.actions[position], at_ms)
            except ValueError as error:  # a file that it names is gone
                staged.error = str(error)
        if staged.actions and (self.model.stages_files or takes_time):
            self._price_staged(ticket, staged)
        expected: Cost | None = staged.cost
        if self._has_real_clock and not staged.is_priced:
            priced = self.price(plan, at_ms, executor)
            expected = None if priced is None else priced.cost
        staging_s = staged.cost.wall_s if self.model.stages_files else 0.0
        return replace(ticket, staging_s=staging_s, expected=expected or NO_COST)

    def _price_staged(self, ticket: Ticket, staged: Staged[Prepared]) -> None:
        previews = [ticket.preview.actions[position] for position in staged.actions]
        work = sum(map(self._work_of, previews, staged.actions.values()), NO_REWRITE_WORK)
        step = plan_step(ticket.plan, work, previews, self._live_count, ticket.executor)
        staged.cost, staged.is_priced = self._charge(step, self._cores.compactor), True

    def price(self, plan: Plan, at_ms: int, executor: str | None = None) -> Priced | None:
        """What an executor would take to execute a plan now; None if a preview of it is not known."""
        state = self.state(at_ms)
        previews = [try_preview(action, state, self.planning.preview) for action in plan.actions]
        if any(isinstance(preview, NoPreview) for preview in previews) or self._is_metadata_only(plan):
            return None
        work = rewrite_work(previews)
        step = plan_step(plan, work, previews, self._live_count, executor)
        cost = self._modelled(step, self._cores.compactor).on_cores(self._core_speed)
        return Priced(cost, finds_nothing(plan, work))

    def complete(self, ticket: Ticket, at_ms: int) -> Outcome:
        staged, tag = self._tickets.redeem(ticket), tag_of(ticket, at_ms)
        cost, versions, error = staged.cost, tuple[Version, ...](), staged.veto or staged.error
        is_conflict = False
        done, work, live_count = list[Preview | NoPreview](), NO_REWRITE_WORK, self._live_count
        for position, action in enumerate(ticket.plan.actions if error is None else ()):
            prepared = staged.actions.get(position)
            planned = ticket.preview.actions[position]
            preview = self._preview(ticket, position, action, at_ms) if prepared is None else planned
            lost = self._lost_against(prepared)
            try:
                new = self.model.execute(action, preview, prepared, tag)
            except ValueError as refusal:
                error, is_conflict = str(refusal), isinstance(refusal, ConflictError)
                break
            if new is None:  # a commit has done it before
                continue
            if new:
                self._lost = self._lost or lost
            done.append(preview)
            work += self._work_of(preview, prepared)
            self._ledger.saw_versions(new)
            versions += new
        if done and self._is_metadata_only(ticket.plan):
            cost += self._charge(maintenance_step(total_maintenance(versions)), self._cores.compactor)
        elif done and not staged.is_priced:
            step = plan_step(ticket.plan, work, done, live_count, ticket.executor)
            cost += self._charge(step, self._cores.compactor)
        lost_as_others_do = is_conflict and self._has_real_clock
        status: PlanStatus = "conflict" if lost_as_others_do else staged.status(error, versions)
        return Outcome(
            status, cost, versions, self._observe(), error,
            work=work if error is None else RewriteWork(), maintenance=total_maintenance(versions),
        )  # fmt: skip

    @property
    def _live_count(self) -> int:
        return len(self._ledger.data_files)

    def _lost_against(self, prepared: Prepared | None) -> LostCommit | None:
        """What a commit that has begun will have lost if this commits before it."""
        if self._begun is None or prepared is None:
            return None
        return self.model.lost(self._begun, prepared)

    def _is_metadata_only(self, plan: Plan) -> bool:
        return all(map(self._is_metadata, plan.actions))

    def _is_metadata(self, action: Action) -> bool:
        return isinstance(action, Native) and action.command in self.model.metadata_commands

    def _are_apart(self, ticket: Ticket) -> bool:
        """Whether no action finds files that an earlier one has changed."""
        actions = zip(ticket.plan.actions, ticket.preview.actions, strict=True)
        previews = [preview for action, preview in actions if not self._is_metadata(action)]
        if len(previews) == 1:
            return True
        if any(isinstance(preview, NoPreview) for preview in previews):
            return False
        keys = [PlanPreview(None, (preview,)).keys for preview in previews]
        return len(frozenset().union(*keys)) == sum(map(len, keys))

    def _work_of(self, preview: Preview | NoPreview, prepared: Prepared | None) -> RewriteWork:
        if isinstance(preview, NoPreview) and prepared is not None:
            return self.model.work_of(prepared)
        return rewrite_work([preview])

    def _preview(self, ticket: Ticket, position: int, action: Action, at_ms: int) -> Preview | NoPreview:
        """The ticket's preview, or a new one if the table has changed since, e.g. by an earlier action."""
        if ticket.preview.version == self._ledger.version:
            return ticket.preview.actions[position]
        return try_preview(action, self.state(at_ms), self.planning.preview)

    def query(self, probe: Probe, session: Session = "new") -> QueryOutcome:
        """Opens the files that may hold the keys that the probe names, or all files if it names none."""
        scan, cores = self.model.opened(probe.sql), self._cores.reader
        query, planning = QUERIES[session], PLANNING_OF[QUERIES[session]]
        query_seconds, planning_seconds = self._seconds_of_query(scan, session)
        operation = self._coefficients.operations[planning]
        planning_s = operation.wall_s_of(planning_seconds, cores, self._jvm_cpu_s) / self._core_speed
        cost = self._spend(query, query_seconds, cores)
        planning_s = min(planning_s, cost.wall_s)
        return QueryOutcome(cost, planning_s, cost.wall_s - planning_s, scan)

    def _new_seconds_of_query(self, scan: ScanWork, session: Session) -> tuple[StepSeconds, StepSeconds]:
        """Of a query, and of planning it."""
        step = query_step(scan, session)
        planning = Step(PLANNING_OF[step.operation], step.amounts, step.tasks_count)
        return self._seconds(step), self._seconds(planning)

    @property
    def beyond_fit(self) -> BeyondFit:
        """What was priced so far without having been measured."""
        return self._beyond.found

    def make_control(self, probe: Probe, batches: Sequence[Batch]) -> None:
        """Nothing: modelled times need no control."""

    def drop_control(self) -> None: ...

    def control(self) -> Cost | None:
        return None

    def dump(self, folder: Path) -> None:
        raise EngineError("a simulated table has no rows to dump", code="unsupported")

    def sibling(self, name: str) -> "SimulatedEngine[Prepared]":
        return self._make_sibling()

    def drop(self) -> None:
        self._clear()

    def _observe(self) -> Observation:
        data_bytes, metadata_bytes = self.model.stored_bytes
        return self._ledger.observation(NO_COST, data_bytes + metadata_bytes, metadata_bytes)
