"""One role of a run with a real clock, a process or a thread: its engine, warm-up, stream and end.

created          by the writer: the table has its initial load
ready-ROLE       by each role: it has warmed up and found the table
start            by the run: the second of the monotonic clock at which scenario time begins
begun-ROLE       by each compactor: what it is executing, see `Begun`
give-up-ROLE     by the run: what the role executes is being cancelled; a process is killed instead
claim-ROLE       by each compactor: what that may replace, see `bench.replay.claims`
ended-ROLE       by each role: it will not touch the table any more
outcome          by the writer, which checks the content once all others have ended: see `Outcome`
"""

import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import cast

import psutil
from py4j.protocol import Py4JJavaError
from pydantic import BaseModel, ConfigDict

from bench.engines.contract import SharedEngine
from bench.engines.registry import FORMATS, engine_kind
from bench.engines.spark.engine import one_line
from bench.errors import first_error
from bench.replay.active_strategy import ActiveStrategy
from bench.replay.claims import Claims
from bench.replay.clock import LiveClock
from bench.replay.history import History
from bench.replay.looks import looks_ms
from bench.replay.open_loop import asks_ms
from bench.replay.recorder import LineRecorder, Recorder, utc_now
from bench.replay.roles.live import Compacting, Looks, Role, compactor, maintainer, reader, writer
from bench.replay.roles.maintainer import rules_of
from bench.replay.roles.writer import commit_fields
from bench.replay.step_log import Fields, StepLog, of_table
from bench.results.records import CommitRecord, CompactionRecord, ObserveRecord
from bench.results.tail import Tail
from bench.runs.jobs import RoleJob
from bench.runs.settings import cost_priors, strategy_of
from bench.runs.worker.live.barrier import Barrier
from bench.runs.worker.live.settings import role_settings
from bench.runs.worker.process_cpu import tree_cpu_s
from bench.runs.worker.run import batches_of, check_equal, file_size_histogram, recorded_check
from bench.runs.worker.warm_up import warm_up
from bench.scenario.kept_back import kept_back
from bench.scenario.roles import MAINTAINER, READER, WRITER, own_cores, roles_of
from bench.scenario.scenario import Scenario
from strategies.state import CostPriors
from workloads.change_log import ChangeLog, open_change_log


class Begun(BaseModel):
    """A compaction that has begun, for the case that it does not end in time.

    The record is what is known of it: without its end, cost and effect. `cpu_s` is what the process had used.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    record: CompactionRecord
    began_s: float
    cpu_s: float

    @classmethod
    def of(cls, barrier: Barrier, role: str) -> "Begun | None":
        noted = barrier.text(f"begun-{role}")
        return cls.model_validate_json(noted) if noted else None


class Outcome(BaseModel):
    """What the writer says of the table at the end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    content_bytes: int | None
    file_sizes: list[tuple[int, int]]


def do_role(job: RoleJob) -> bool:
    """Do one role of a run; returns whether it has ended well. Its error is noted for the run."""
    scenario = job.scenario.made()
    try:
        execute_role(job, scenario)
    except Exception as error:
        sys.stderr.write(scenario.secrets.scrub(traceback.format_exc()))
        barrier = Barrier(job.barrier)
        if not barrier.has(f"failed-{job.role}"):
            with suppress(OSError):  # on a full disk
                barrier.mark(f"failed-{job.role}", scenario.secrets.scrub(first_error(error)))
        return False
    return True


def execute_role(job: RoleJob, scenario: Scenario) -> None:
    """Do one role of a run. Raises the error that made it fail, after it is noted for the run.

    All but the writer wait for the table: SQLite's catalog would be created by several at the same time.
    """
    barrier = Barrier(job.barrier)
    if job.role != WRITER:
        barrier.wait(["created"])
    if job.run.log_folder is None:
        raise ValueError("a role needs the change log of its run")
    if scenario.roles.pin:
        own = own_cores(scenario, job.role)
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[own.start : own.stop])  # the JVM inherits it
    log, kind = open_change_log(job.run.log_folder), engine_kind(scenario.table.format, "real")
    settings = role_settings(scenario, job)
    priors = cost_priors(scenario.table.format, settings)
    with (
        LineRecorder(job.records, job.run.run_id, secrets=scenario.secrets) as recorder,
        kind.open(settings) as engine,
    ):
        shared = cast(SharedEngine, engine)  # see `Engines.roles_as`
        try:
            LiveRole(job, scenario, log, shared, recorder, priors).execute()
        except Exception as error:  # its text needs the session, which ends with this block
            text = one_line(error) if isinstance(error, Py4JJavaError) else first_error(error)
            barrier.mark(f"failed-{job.role}", scenario.secrets.scrub(text))
            raise


class LiveRole:
    """What a role does from the warm-up of its session until it leaves the table alone."""

    def __init__(
        self,
        job: RoleJob,
        scenario: Scenario,
        log: ChangeLog,
        engine: SharedEngine,
        recorder: Recorder,
        cost_priors: Mapping[str, CostPriors],
    ) -> None:
        self._job, self._scenario, self._engine, self._recorder = job, scenario, engine, recorder
        self._cost_priors = cost_priors
        self._barrier = Barrier(job.barrier)
        self._spec = strategy_of(scenario, job.run.strategy)
        self._log = log
        self._is_writer = job.role == WRITER
        self._asked = Tail(job.records.with_name(f"{READER}.jsonl"))

    def execute(self) -> None:
        others = [role for role in roles_of(self._scenario) if role != self._job.role]
        if self._is_writer:
            self._load()
            self._barrier.mark("created")
        self._warm_up()
        self._engine.attach()
        self._barrier.mark(f"ready-{self._job.role}")
        (start,) = self._barrier.wait(["start"])
        clock = LiveClock(float(start), self._scenario.speed)
        log = StepLog(self._engine.table_id, self._recorder, clock, observer=self._job.role)
        wait_until = self._waiting(clock)
        for at_ms in self._role(log, clock):
            wait_until(at_ms)
        self._barrier.mark(f"ended-{self._job.role}")
        if self._is_writer:
            self._barrier.wait(f"ended-{role}" for role in others)
            self._close(log)

    def _waiting(self, clock: LiveClock) -> Callable[[int], None]:
        """How the role waits: for its next look at the table no longer than the writer is at work."""
        if self._job.role in (WRITER, READER):
            return clock.wait_until
        return partial(clock.wait_unless, self._has_writer_ended)

    def _has_writer_ended(self) -> bool:
        return self._barrier.has(f"ended-{WRITER}")

    def _load(self) -> None:
        """Create the table with its initial load: before the stream, so its records have no time."""
        self._engine.create()
        log = StepLog(self._engine.table_id, self._recorder, LiveClock(time.monotonic(), 1.0))
        for batch in batches_of(self._scenario, self._log):
            if batch.spec.is_initial:
                log.at(batch.spec.index, batch.spec.at_ms)
                outcome = self._engine.commit(batch, batch.spec.at_ms)
                commit = commit_fields(log, batch, outcome, 0.0, 0.0)
                self._recorder.write(CommitRecord, {**commit, "span": None})
                observed = log.fields(WRITER, outcome.observed, 0.0, outcome.observed.cost)
                observed |= of_table(outcome.observed) | {"after": "initial", "span": None}
                self._recorder.write(ObserveRecord, observed)

    def _role(self, log: StepLog, clock: LiveClock) -> Role:
        scenario, engine = self._scenario, self._engine
        if self._job.role == WRITER:
            batches = kept_back(batches_of(scenario, self._log), self._spec.writer.commit_every_ms)
            return writer(batches, engine, scenario.roles.writer, log, clock)
        if self._job.role == READER:
            return reader(scenario, engine, asks_ms(scenario, self._job.run.repetition), log, clock)
        size_model = FORMATS[scenario.table.format].engines.size_model(scenario.workload.schema)
        strategy = ActiveStrategy(self._spec.strategy)
        history = History(self._cost_priors)
        looks = Looks(
            looks_ms(scenario, self._job.role, self._job.run.repetition),
            scenario.commit_interval_ms,
            clock,
            self._has_writer_ended,
        )
        commands = FORMATS[scenario.table.format].engines.metadata_commands
        of = Compacting(
            scenario, strategy, engine, history, size_model, log, looks, self._note, self._asked.new_records,
            Claims(self._job.barrier, self._job.role, commands),
            lambda: self._barrier.has(f"give-up-{self._job.role}"),
        )  # fmt: skip
        return maintainer(of, rules_of(scenario)) if self._job.role == MAINTAINER else compactor(of)

    def _note(self, fields: Fields | None, began_s: float) -> None:
        """Note a compaction as it begins; None clears the note."""
        mark = f"begun-{self._job.role}"
        if fields is None:
            self._barrier.clear(mark)
            return
        record = CompactionRecord(written_utc=utc_now(), **fields)
        begun = Begun(record=record, began_s=began_s, cpu_s=tree_cpu_s(psutil.Process()))
        self._barrier.mark(mark, begun.model_dump_json())

    def _warm_up(self) -> None:
        """On sibling tables of its own, since all roles warm up at the same time."""
        scratch = self._job.run.work_folder / self._job.role
        batches = tuple(batches_of(self._scenario, self._log))
        warm_up(
            self._scenario, self._engine, batches, scratch, self._recorder.write, self._cost_priors,
            self._job.role,
        )  # fmt: skip

    def _close(self, log: StepLog) -> None:
        """Compare the table with the stream, say what it is like, and drop it. Raises EngineError."""
        scenario, run = self._scenario, self._job.run
        log.at(scenario.commits_count, scenario.duration_ms)
        log.saw(self._engine.refresh(scenario.duration_ms), "compaction")
        sizes = file_size_histogram(self._engine.state(scenario.duration_ms))
        content_bytes = None
        if run.verify != "off":
            tick = scenario.commits_count
            check = recorded_check(self._engine, self._log, tick, scenario, run.work_folder, self._recorder)
            check_equal(check, tick)
            content_bytes = check.content_bytes
        self._barrier.mark(
            "outcome", Outcome(content_bytes=content_bytes, file_sizes=sizes).model_dump_json()
        )
        if not run.keep_tables:
            self._engine.drop()  # what fails now fails no run: its figures are complete
