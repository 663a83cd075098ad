"""Executes plans in another thread, concurrently with the stream."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Generic, TypeVar

from bench.engines.contract import TicketId
from bench.engines.spark.meter import Clocks, Meter
from bench.results.values import Cost

_Result = TypeVar("_Result")


class Beside(Generic[_Result]):
    """Plans that are executed one after the other. `begin` is called once in the thread, before the first.

    The CPU of a plan and of the steps that overlap with it is shared (`Cost.is_shared`).
    """

    def __init__(self, meter: Meter, begin: Callable[[], None]) -> None:
        self._meter = meter
        self._thread = ThreadPoolExecutor(1, "compaction", begin)
        self._running: dict[TicketId, tuple[float, Future[tuple[_Result, Clocks, Clocks]]]] = {}

    def __contains__(self, ticket: TicketId) -> bool:
        return ticket in self._running

    def start(self, ticket: TicketId, execute: Callable[[], _Result]) -> None:
        """Begin to execute a plan, after the plans before it have ended."""
        self._running[ticket] = time.perf_counter(), self._thread.submit(self._execute, execute)

    def _execute(self, execute: Callable[[], _Result]) -> tuple[_Result, Clocks, Clocks]:
        """The result of a plan, and the clocks around it."""
        with self._meter.beside():
            started = self._meter.reading()
            result = execute()
            return result, started, self._meter.reading()

    def wait(self, ticket: TicketId) -> tuple[_Result, Cost, float]:
        """The result of a plan that has ended, its cost, and how long it waited for the plans before it.

        Raises what the plan raised.
        """
        submitted_s, running = self._running.pop(ticket)
        result, started, ended = running.result()
        cost = replace(self._meter.between(started, ended), jit_cpu_s=None, gc_cpu_s=None, is_shared=True)
        return result, cost, started.at_s - submitted_s

    def stop(self) -> None:
        """Wait for the running plan, and forget the others."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._running.clear()
