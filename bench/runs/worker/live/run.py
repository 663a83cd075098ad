"""A run with a real clock on real tables: starts its roles together and collects their records."""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import psutil

from bench.engines.master import parse_master
from bench.errors import EngineError
from bench.replay.step_log import ReplayTimes
from bench.results.records import BaseRecord, CommitRecord, CompactionRecord, ObserveRecord
from bench.results.tail import Tail
from bench.results.values import Cost, Span
from bench.runs.jobs import RoleJob
from bench.runs.worker.live.barrier import Barrier
from bench.runs.worker.live.processes import end, role_process
from bench.runs.worker.live.role import Begun, Outcome
from bench.runs.worker.neighbours import Neighbours
from bench.runs.worker.process_cpu import tree_cpu_s
from bench.runs.worker.run import Run
from bench.scenario.roles import WRITER, compactors_of, roles_of

_START_IN_S = 1.0
POLL_S = 0.1


class LiveRun(Run):
    """One run whose roles are processes. It has no engine of its own."""

    def _execute(self, stack: ExitStack) -> None:
        folder = self._job.work_folder / "roles"
        folder.mkdir(parents=True, exist_ok=True)
        self._barrier, self._tick, self._given_up = Barrier(folder), 0, set[str]()
        self._compacted_s = dict[str, float]()  # by compactor, when the last one that is recorded began
        roles, self._compactors = roles_of(self._scenario), compactors_of(self._scenario)
        jobs = {role: self._role_job(role, folder) for role in roles}
        self._tails = {role: Tail(job.records) for role, job in jobs.items()}
        self._begin(stack, jobs)
        self._barrier.wait((f"ready-{role}" for role in roles), self._check_roles)
        start_s = time.monotonic() + _START_IN_S
        self._barrier.mark("start", repr(start_s))
        neighbours = Neighbours(parse_master(self._scenario.spark.master))
        others = [role for role in roles if role not in self._compactors]
        self._barrier.wait((f"ended-{role}" for role in others), self._check_roles)
        loop_s = time.monotonic() - start_s
        self._other_cores = neighbours.cores()  # before a role is killed, whose CPU would be others'
        self._drain(start_s)
        (outcome,) = self._barrier.wait(["outcome"], self._check_roles)
        found = Outcome.model_validate_json(outcome)
        self._content_bytes, self._histogram = found.content_bytes, found.file_sizes
        self._join(WRITER)
        self._collect()
        self._times = ReplayTimes(loop_s=loop_s)

    def _begin(self, stack: ExitStack, jobs: Mapping[str, RoleJob]) -> None:
        self._processes: Mapping[str, psutil.Popen] = {
            role: stack.enter_context(role_process(job)) for role, job in jobs.items()
        }

    def _join(self, role: str) -> None:
        """Wait until a role that has done its work has ended."""
        self._processes[role].wait()

    def _role_job(self, role: str, folder: Path) -> RoleJob:
        return RoleJob(
            scenario=self._job.scenario, work_folder=self._job.work_folder, run=self._job, role=role,
            records=folder / f"{role}.jsonl", barrier=folder,
        )  # fmt: skip

    def _drain(self, start_s: float) -> None:
        """Wait for compactions that run when the stream ends; end those that take too long."""
        until_s = time.monotonic() + self._scenario.drain_ms / 1000
        while running := [role for role in self._compactors if not self._barrier.has(f"ended-{role}")]:
            self._check_roles()
            if time.monotonic() > until_s:
                for role in running:
                    self._give_up(role, start_s)
                return
            time.sleep(POLL_S)

    def _give_up(self, role: str, start_s: float) -> None:
        """End a compactor, and record what it has spent on the compaction that it has not finished."""
        process = self._processes[role]
        spent_s, ended_s = tree_cpu_s(process), time.monotonic() - start_s
        end(process)
        self._given_up.add(role)
        self._collect()
        begun = Begun.of(self._barrier, role)
        if begun is not None and begun.began_s > self._compacted_s.get(role, 0.0):
            cost = Cost(ended_s - begun.began_s, spent_s - begun.cpu_s)
            span = Span(begun.began_s, ended_s)
            self._write(begun.record.model_copy(update={"cost": cost, "span": span}))
        self._barrier.mark(f"ended-{role}")

    def _check_roles(self) -> None:
        """Collect new records. Raises EngineError if a role has failed or died."""
        self._collect()
        for role in self._tails:
            reason = self._failure(role)
            if reason is not None:
                raise EngineError(f"the {role} failed: {reason}", code="role-failed")

    def _failure(self, role: str) -> str | None:
        """Why a role has ended too early; None if it has not."""
        code = self._processes[role].poll()
        if code in (None, 0) or role in self._given_up:
            return None
        return self._barrier.text(f"failed-{role}") or f"it ended with exit code {code}"

    def _collect(self) -> None:
        """Store what roles have recorded since the last time, in the order in which steps have ended."""
        new = [record for tail in self._tails.values() for record in tail.new_records()]
        for record in sorted(new, key=lambda one: one.span.ended_s if one.span else 0.0):
            self._write(record)

    def _write(self, record: BaseRecord) -> None:
        """Store a record, at the tick of the last commit that has ended: without rows it is only observed."""
        if isinstance(record, CompactionRecord) and record.span is not None:
            self._compacted_s[record.role] = record.span.started_s
        is_observed = isinstance(record, ObserveRecord) and record.after == "commit"
        if is_observed or isinstance(record, CommitRecord):
            self._tick = max(self._tick, record.tick)
        fields = {name: value for name, value in record if name not in ("kind", "written_utc")}
        self._recorder.write(type(record), {**fields, "tick": self._tick})
