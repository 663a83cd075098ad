"""Warm-up: every query and every action of the scenario on throw-away tables, before anything is measured.

Without it the first compaction costs twice as much as a later one, which would favour strategies that compact
often. All runs of a scenario have the same warm-up, including runs whose own strategy never compacts.

Each planner has a table of its own: on a shared one, the first planner would leave no work for the others. A
round commits batches of the stream until the planner acts, which means that its plan is executed and changes
the table. A planner that does not act within a round is recorded as such, and the run goes on: it may rightly
wait for more files than a warm-up writes. Its first compactions are then measured cold, and reports warn
about that. After such a round, each further round makes a single commit until the planner acts.
"""

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.engines.contract import Batch, Engine, Outcome, Probe
from bench.replay.clock import SystemClock
from bench.replay.history import NO_PRIORS, History, probe_seen
from bench.replay.step_log import Fields
from bench.results.records import WarmUpRecord
from bench.results.values import NO_CHANGE, NO_COST
from bench.runs.worker.warm_up_load import scaled_load
from bench.scenario.plugins import name_of
from bench.scenario.roles import MAINTAINER, READER, WRITER
from bench.scenario.scenario import Scenario
from bench.scenario.specs import planner_text
from strategies.plan import Plan, describe_action
from strategies.planner import Planner, consult, traits_of
from strategies.state import CostPriors, TableState
from strategies.strategy import Rule, for_executor

COMMITS_PER_ROUND_MAX = 10
WAIT_MS = 30 * 86_400_000  # longer than any interval that planners wait for; Amoro's longest is a day


def warm_up(
    scenario: Scenario,
    engine: Engine,
    batches: Sequence[Batch],
    scratch: Path,
    write: Callable[[type[WarmUpRecord], Fields], None],
    cost_priors: Mapping[str, CostPriors] = NO_PRIORS,
    role: str | None = None,
) -> None:
    """Warm up each planner on a sibling of the engine's table; `write` gets a record of each round.

    `batches` are the whole stream, and `scratch` is a folder for the scaled-down load. With a real clock a
    `role` warms up what it will do: without planners these are commits and queries.
    """
    stream = [batch for batch in batches if not batch.spec.is_initial and batch.spec.rows]
    if not stream:
        return
    chosen = planners_of(scenario, role) or ((None, None),)
    name = "warm_up" if role is None else f"warm_up_{role.replace('-', '_')}"
    target_bytes = scenario.table.target_file_size_bytes
    loads = [scaled_load(batch, target_bytes, scratch) for batch in batches if batch.spec.is_initial]
    for number, (planner, executor) in enumerate(chosen, 1):
        table = engine.sibling(f"{name}_{number}")
        table.create()
        for load in loads:
            table.commit(load, load.spec.at_ms)
        rounds = _Rounds(scenario, table, planner, executor, stream, History(cost_priors))
        for _ in range(scenario.warm_up_rounds):
            write(WarmUpRecord, rounds.next())
        table.drop()


def planners_of(scenario: Scenario, role: str | None = None) -> tuple[tuple[Planner, str | None], ...]:
    """Each planner that the role may have to execute in some run of the scenario, with its executor, once.

    Without a `role` they are those of all strategies and of the maintenance.
    """
    distinct: list[tuple[Planner, str | None]] = []
    for rule in _rules_of(scenario, role):
        pair = rule.planner, rule.executor
        if pair not in distinct and traits_of(rule.planner).may_plan:
            distinct.append(pair)
    return tuple(distinct)


def _rules_of(scenario: Scenario, role: str | None) -> Sequence[Rule]:
    """A compactor has those of all strategies, so that all runs of a scenario have the same warm-up."""
    of_strategies = [rule for spec in scenario.strategies for rule in spec.strategy.rules]
    if role is None:
        return [*of_strategies, *scenario.maintenance]
    if role == MAINTAINER:
        return scenario.maintenance
    return () if role in (WRITER, READER) else of_strategies


@dataclass(frozen=True, slots=True)
class _Act:
    """An executed plan, the rows of delete files before it, and its outcome."""

    plan: Plan
    delete_rows_before: int
    outcome: Outcome

    @property
    def changed_table(self) -> bool:
        """Whether it committed: a plan may also be vetoed, fail, or find nothing to do."""
        return self.outcome.status == "ok"


class _Rounds:
    """The rounds of one planner on its own table. The stream is repeated if they need more commits."""

    def __init__(
        self,
        scenario: Scenario,
        table: Engine,
        planner: Planner | None,
        executor: str | None,
        stream: Sequence[Batch],
        history: History,
    ) -> None:
        self._scenario, self._table = scenario, table
        self._planner, self._executor = planner, executor
        self._stream: Iterator[Batch] = itertools.cycle(stream)
        self._number = 0
        self._tick = self._at_ms = 0
        self._delete_rows = 0
        self._note: Hashable = None
        self._history = history
        self._commits_max = COMMITS_PER_ROUND_MAX

    def next(self) -> Fields:
        clock = SystemClock()
        self._number += 1
        acts: list[_Act] = []
        for commits_count in range(1, self._commits_max + 1):
            self._commit()
            if commits_count == 1:
                self._query(self._scenario.probes)
            acts += filter(None, [self._act()])
            if self._planner is None or (acts and acts[-1].changed_table):
                break
        self._query([self._scenario.primary_probe])
        fields = self._fields(acts, commits_count, clock.now_s())
        self._commits_max = COMMITS_PER_ROUND_MAX if fields["acted"] else 1
        return fields

    def _commit(self) -> None:
        self._tick += 1
        self._at_ms += self._scenario.commit_interval_ms
        observed = self._table.commit(next(self._stream), self._at_ms).observed
        self._delete_rows = observed.table.delete_rows or 0

    def _query(self, probes: Sequence[Probe]) -> None:
        for probe in probes:
            outcome = self._table.query(probe)
            if probe.primary:
                self._history.saw_probe(self._tick, probe_seen(self._at_ms, outcome.cost, outcome.work))

    def _act(self) -> _Act | None:
        """Evaluate the planner, if without a plan once more after a long time, and execute its plan."""
        if self._planner is None:
            return None
        for wait_ms in (0, WAIT_MS):
            self._at_ms += wait_ms
            answer = consult(self._planner, self._state(), self._note)
            plan, self._note = answer.plan, answer.note
            if plan is not None:
                break
        else:
            return None
        delete_rows = self._delete_rows
        ticket = self._table.schedule(plan, self._at_ms, self._at_ms, self._executor)
        outcome = self._table.complete(ticket, self._at_ms)
        self._history.saw_compaction(self._tick, self._at_ms, ticket, outcome)
        self._delete_rows = outcome.observed.table.delete_rows or 0
        return _Act(plan, delete_rows, outcome)

    def _state(self) -> TableState:
        """The table's state, with what the replay would add."""
        rate_per_s = 1000 / self._scenario.probe_every_ms
        state = self._history.added_to(self._table.state(self._at_ms), rate_per_s)
        return for_executor(state, self._executor)

    def _fields(self, acts: Sequence[_Act], commits_count: int, round_s: float) -> Fields:
        """The record of a round: the summed cost of its plans, and the outcome of the last one."""
        last = acts[-1] if acts else None
        outcome = last.outcome if last else None
        return {
            "tick": 0,
            "at_ms": self._at_ms,
            "role": "compactor",
            "cost": sum((act.outcome.cost for act in acts), NO_COST),
            "version": outcome.observed.version if outcome else None,
            "status": outcome.status if outcome else "nothing_to_do",
            "error": outcome.error if outcome else None,
            "planner": name_of(type(self._planner)) if self._planner else "",
            "options": planner_text(self._planner, self._executor) if self._planner else "",
            "round": self._number,
            "commits_count": commits_count,
            "acted": last is not None and last.changed_table,
            "actions": [describe_action(action) for action in last.plan.actions] if last else [],
            "change": outcome.change if outcome else NO_CHANGE,
            "delete_rows_before": last.delete_rows_before if last else self._delete_rows,
            "delete_rows_after": self._delete_rows,
            "round_s": round_s,
        }
