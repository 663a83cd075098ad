"""A run with a real clock whose roles are threads of its worker: for tables that one JVM alone may write."""

import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack

from pyspark import SparkContext

from bench.errors import EngineError
from bench.runs.jobs import RoleJob
from bench.runs.worker.live.role import do_role
from bench.runs.worker.live.run import POLL_S, LiveRun
from bench.runs.worker.live.settings import application_settings

_CANCEL_MAX_S = 60.0  # for what is between two jobs of Spark, such as a commit


class ThreadsRun(LiveRun):
    """One run whose roles share a Spark application: each is a thread with a session, a pool and a job group.

    What a step costs a role is what `RoleMeter` can attribute to it.
    """

    def _begin(self, stack: ExitStack, jobs: Mapping[str, RoleJob]) -> None:
        """The threads do not keep the worker from ending, as one that fails would leave them waiting."""
        stack.enter_context(self._kind.open(application_settings(self._scenario, self._job)))
        self._threads = {
            role: threading.Thread(target=do_role, args=(job,), name=role, daemon=True)
            for role, job in jobs.items()
        }
        for thread in self._threads.values():
            thread.start()

    def _join(self, role: str) -> None:
        self._threads[role].join()

    def _failure(self, role: str) -> str | None:
        is_alive = self._threads[role].is_alive()  # first, since a thread leaves its marks before it ends
        reason = self._barrier.text(f"failed-{role}")
        if reason or is_alive or self._barrier.has(f"ended-{role}"):
            return reason or None
        return "its thread ended and left no error"

    def _give_up(self, role: str, start_s: float) -> None:
        """Cancel what a compactor executes until it has ended; it records that by itself."""
        self._barrier.mark(f"give-up-{role}")
        until_s = time.monotonic() + _CANCEL_MAX_S
        while not self._barrier.has(f"ended-{role}"):
            self._check_roles()
            SparkContext.getOrCreate().cancelJobGroup(role)
            if time.monotonic() > until_s:
                why = f"it did not end within {_CANCEL_MAX_S:g} s of being cancelled"
                raise EngineError(f"the {role} failed: {why}", code="role-failed")
            time.sleep(POLL_S)
