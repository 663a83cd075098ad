"""A plan from its schedule to its outcome and its record, and when both phases began and ended."""

import math
from collections.abc import Mapping
from dataclasses import replace

from bench.engines.contract import Engine, Observation, Outcome, Ticket, Version
from bench.engines.format import SizeModel
from bench.replay.shared_cores import SharedCores
from bench.replay.step_log import PARTITIONS_MAX, Fields, StepLog, version_ids
from bench.results.records import RoleId
from bench.results.values import Cost, Span
from strategies.plan import Action, Plan, Rewrite, describe_action
from strategies.preview import NoPreview, PlanPreview, Preview


class Background:
    """A step that runs beside others from now on; it must take time."""

    def __init__(self, cores: SharedCores, expected: Cost, wait_s: float) -> None:
        """It begins in `wait_s`; the cores count it from now on, and it ends so much later."""
        self._cores, self._alone_s, self._began_s = cores, expected.wall_s, cores.now_s
        self._wait_s = wait_s
        self.job = cores.begin(expected.wall_s, expected.mean_cores)
        self.expected_end_s: float | None = None

    @property
    def ended_s(self) -> float | None:
        """The time at which it is sure to end, if that is known; None while it runs."""
        ended_s = self._cores.ended_s(self.job) if self.expected_end_s is None else self.expected_end_s
        return None if ended_s is None else ended_s + self._wait_s

    def cost_of(self, cost: Cost) -> Cost:
        """The cost of the step, which others have slowed down."""
        if self.ended_s is None:
            return cost
        took_s = self.ended_s - self._wait_s - self._began_s
        return replace(cost, wall_s=cost.wall_s * took_s / self._alone_s)


class Execution:
    """A scheduled plan, and its `outcome` once it is complete. The log accounts for both phases.

    The engine may have `staged` the plan when it was scheduled.
    """

    outcome: Outcome

    def __init__(
        self,
        plan: Plan,
        engine: Engine,
        log: StepLog,
        executor: str | None = None,
        delay_ms: int = 0,
        *,
        takes_time: bool = False,
    ) -> None:
        """Schedule a plan, whose `executor` None is the engine itself.

        With `takes_time` it runs on the cores of the log from now on, and is due when it has ended there. A
        plan of unknown cost, as one that only touches metadata, runs when it is completed.
        """
        self._engine, self._log, began_s = engine, log, log.now_s
        self.ticket = engine.schedule(plan, log.at_ms, log.at_ms + delay_ms, executor)
        staged_s = self.ticket.staging_s
        expected = self.ticket.expected
        self._running: Background | None = None
        if takes_time and log.cores and expected.wall_s:
            wait_s = max(0.0, log.second_of(log.at_ms) - log.cores.now_s)
            self._running = Background(log.cores, expected, wait_s)
        log.took(staged_s)
        self.staged = Span(began_s, began_s + staged_s) if staged_s else None

    @property
    def is_delayed(self) -> bool:
        """Whether it is completed later than it was scheduled."""
        is_running = self._running is not None and self._running.ended_s is None
        return is_running or self.ticket.due_at_ms > self.ticket.scheduled_at_ms

    @property
    def due_at_ms(self) -> float:
        """When it can be completed, in scenario time; infinite while it is running."""
        if self._running is None:
            return self.ticket.due_at_ms
        ended_s = self._running.ended_s
        if ended_s is None:
            return math.inf
        return max(self.ticket.due_at_ms, math.ceil(self._log.moment_of(ended_s)))

    def ends(self, ends_s: Mapping[int, float]) -> None:
        """Take it for ended if it will end at one of these times, which are those of jobs on the cores."""
        if self._running is not None and self._running.job in ends_s:
            self._running.expected_end_s = ends_s[self._running.job]

    def complete(self) -> Outcome:
        """Complete the plan, and account for the time that the stream has waited for it."""
        log, self._started_s = self._log, self._log.now_s
        outcome = self._engine.complete(self.ticket, log.at_ms)
        cost = log.run(outcome.cost) if self._running is None else self._running.cost_of(outcome.cost)
        self.outcome = outcome = replace(outcome, cost=cost)
        log.took(outcome.cost.wall_s - self.ticket.staging_s)
        return outcome

    def fields(self, role: RoleId) -> Fields:
        """The common fields of the record of the executed plan."""
        outcome, staged_s = self.outcome, self.ticket.staging_s
        return self._log.fields(role, outcome.observed, self._started_s, outcome.cost, staged_s=staged_s)


def compaction_fields(
    role: RoleId,
    execution: Execution,
    before: Observation | None,
    *,
    size_model: SizeModel | None,
    is_inline: bool = False,
) -> Fields:
    """The record of an executed plan; without a size model it has no forecast."""
    ticket, outcome = execution.ticket, execution.outcome
    return {
        **execution.fields(role),
        "status": outcome.status,
        "error": outcome.error,
        "reason": ticket.plan.reason,
        "actions": [describe_action(action) for action in ticket.plan.actions],
        "plan_kind": ticket.plan.kind,
        "executor": ticket.executor or "",
        "scheduled_at_ms": ticket.scheduled_at_ms,
        "staged": execution.staged,
        "before": (before or outcome.observed).table.live,
        "after": outcome.observed.table.live,
        "change": outcome.change,
        "work": outcome.work,
        "versions": version_ids(outcome.versions),
        "partitions": rewritten_partitions(outcome.observed, outcome.versions),
        "forecast": forecast(ticket, size_model) if size_model else None,
        "answer": dict(outcome.answer) or None,
        "is_sorted": _is_sorted(ticket.preview),
        "is_converting": any(map(_is_converting, ticket.plan.actions)),
        "is_inline": is_inline,
    }


def rewritten_partitions(after: Observation, versions: tuple[Version, ...]) -> list[str] | None:
    """The partitions in which versions replaced files; None if it is not known or there are too many to name.

    If a version does not know its partitions, these are the ones that have lost files since the last
    observation.
    """
    known = [version.rewritten for version in versions if version.rewritten is not None]
    is_complete = known and len(known) == len(versions)
    rewritten = frozenset[str]().union(*known) if is_complete else after.rewritten
    return None if rewritten is None or len(rewritten) > PARTITIONS_MAX else sorted(rewritten)


def forecast(ticket: Ticket, size_model: SizeModel) -> dict[str, float] | None:
    """The expected values of a compaction's `change`, by field, from the preview of its plan.

    None if there is no preview, if delete files are rewritten (how many are written depends on their rows),
    and for plans of several actions, because earlier actions change the table for later ones. Byte counts are
    left out if deletes are converted or log files merged: the bytes written then depend on the keys.
    """
    if len(ticket.plan.actions) > 1:
        return None
    action, preview = ticket.plan.actions[0], ticket.preview.actions[0]
    if isinstance(preview, NoPreview) or preview.delete_groups:
        return None
    expected: dict[str, float] = {
        "files_removed_count": preview.files_removed_count,
        "files_added_count": preview.files_added_count,
    }
    if _is_converting(action):
        return expected
    expected["replaced_bytes"] = preview.replaced_bytes
    if all(group.has_exact_rows for group in preview.groups):
        tasks = (task for group in preview.groups for task in group.tasks)
        expected["added_bytes"] = sum(size_model(task.rows, 1) for task in tasks)
    return expected


def _is_converting(action: Action) -> bool:
    return isinstance(action, Rewrite) and any(group.convert_paths for group in action.groups)


def _is_sorted(preview: PlanPreview) -> bool | None:
    """Whether an action orders rows by value; None if that depends on an action without a preview."""
    if any(isinstance(action, Preview) and action.is_sorted for action in preview.actions):
        return True
    return None if any(isinstance(action, NoPreview) for action in preview.actions) else False
