"""The reader: the control query and the probes at the ticks of the cadence."""

from collections.abc import Callable
from typing import Literal

from bench.engines.contract import Probe, Prober
from bench.replay.history import History, probe_seen
from bench.replay.schedule import Role, Turn, Until
from bench.replay.step_log import StepLog
from bench.results.records import ControlRecord, QueryRecord, SpeedRecord
from bench.results.values import Cost, Session
from bench.scenario.cadence import Cadence
from bench.scenario.scenario import Scenario
from strategies.state import TableState

When = Literal["after_commit", "settled", "before", "after"]


class Queries:
    """Runs and records queries. Those of the primary probe go into the `history`."""

    def __init__(
        self,
        scenario: Scenario,
        cadence: Cadence,
        prober: Prober,
        history: History,
        log: StepLog,
        fixed_work: Callable[[], Cost] | None,
        drop_page_cache: Callable[[], None] | None,
    ) -> None:
        self._scenario, self._cadence, self._prober, self._log = scenario, cadence, prober, log
        self._history = history
        self._fixed_work, self._drop_page_cache = fixed_work, drop_page_cache

    def due(self, tick: int) -> tuple[Probe, ...]:
        """The probes that the cadence runs at a tick, the primary one first."""
        if not self._cadence.is_probed(tick):
            return ()
        primary = self._scenario.primary_probe
        others = (probe for probe in self._scenario.probes if not probe.primary)
        return (primary, *others) if self._cadence.is_side_probed(tick) else (primary,)

    def speed(self) -> None:
        """Time the fixed work, if there is any."""
        if self._fixed_work is not None:
            log = self._log
            started_s, cost = log.now_s, self._fixed_work()
            log.took(cost.wall_s)
            log.recorder.write(SpeedRecord, log.fields("reader", None, started_s, cost))

    def control(self) -> None:
        """Run the control query, if the engine has one."""
        log = self._log
        started_s, cost = log.now_s, self._prober.control()
        if cost is not None:
            log.took(cost.wall_s)
            log.recorder.write(ControlRecord, log.fields("reader", None, started_s, cost))

    def run(self, probe: Probe, when: When) -> None:
        """Run a probe by each kind of session."""
        for session in self._prober.sessions:
            self._run(probe, when, session)

    def _run(self, probe: Probe, when: When, session: Session) -> None:
        log = self._log
        if self._drop_page_cache is not None:
            self._drop_page_cache()
        started_s = log.now_s
        outcome = self._prober.query(probe, session)
        cost = log.beside(outcome.cost)
        slower = cost.wall_s / outcome.cost.wall_s if outcome.cost.wall_s else 1.0
        log.took(cost.wall_s)
        fields = log.fields("reader", log.observed, started_s, cost)
        fields |= {
            "work": outcome.work,
            "probe": probe.name,
            "primary": probe.primary,
            "when": when,
            "session": session,
            "planning_s": outcome.planning_s * slower,
            "execution_s": outcome.execution_s * slower,
        }
        if probe.primary and session == self._prober.sessions[-1]:
            self._history.saw_probe(log.tick, probe_seen(log.at_ms, cost, outcome.work))
        log.recorder.write(QueryRecord, fields)

    def run_primary(self, when: Literal["before", "after"]) -> None:
        """Run the primary probe off the cadence."""
        self.run(self._scenario.primary_probe, when)

    @property
    def has_run_now(self) -> bool:
        """Whether the primary probe has run in this tick.

        A planner also gets an older latency, with its age, but the query before a compaction must be from the
        same tick.
        """
        probe = self._history.probe
        return probe is not None and probe.at_ms == self._log.at_ms

    def with_history(self, state: TableState) -> TableState:
        """The state with how often the table is read, and the history of the run."""
        rate_per_s = self._scenario.probe_rate_per_s(self._log.tick)
        return self._history.added_to(state, probe_rate_per_s=rate_per_s)


def reader(scenario: Scenario, queries: Queries) -> Role:
    """Queries at each tick of the cadence: after the commit, and once more at the end of the tick.

    With a real clock a tick ends just before the next commit, when compactions may have ended meanwhile.
    """
    for tick, at_ms in scenario.ticks():
        probes = queries.due(tick)
        if not probes:
            continue
        yield Until(at_ms, Turn.READ)
        queries.speed()
        queries.control()
        for probe in probes:
            queries.run(probe, "after_commit")
        if scenario.has_real_clock:
            yield Until(at_ms + scenario.commit_interval_ms, Turn.SETTLE_LATE)
        else:
            yield Until(at_ms, Turn.SETTLE)
        for probe in probes:
            queries.run(probe, "settled")
