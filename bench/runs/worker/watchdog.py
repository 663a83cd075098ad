"""Ends a JVM that no longer answers, so that its run fails instead of waiting for ever."""

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from pyspark import SparkContext

SILENCE_MAX_S = 600.0  # a full collection of a large heap takes minutes
PING_EVERY_S = 20.0


class Watchdog:
    """Pings in one thread; a second thread counts the seconds since the last answer.

    `ping` returns when there is an answer, or no JVM. An error counts as an answer, since the code that waits
    for the JVM gets the same error. Time during which this process was stopped does not count as silence.
    """

    def __init__(
        self,
        ping: Callable[[], object],
        end: Callable[[], None],
        silence_max_s: float = SILENCE_MAX_S,
        ping_every_s: float = PING_EVERY_S,
    ) -> None:
        self._ping, self._end = ping, end
        self._silence_max_s, self._ping_every_s = silence_max_s, ping_every_s
        self._silence_s = 0.0
        self.verdict: str | None = None  # why it has ended the JVM, once it has

    def start(self) -> None:
        """Watch until the process ends."""
        for task in (self._keep_pinging, self._count):
            threading.Thread(target=task, daemon=True).start()

    def _keep_pinging(self) -> None:
        while self.verdict is None:
            with suppress(Exception):
                self._ping()
            self._silence_s = 0.0
            time.sleep(self._ping_every_s)

    def _count(self) -> None:
        while self._silence_s <= self._silence_max_s:
            time.sleep(self._ping_every_s)
            self._silence_s += self._ping_every_s
        self.verdict = f"Java did not answer for {self._silence_max_s:g} s and was ended"
        self._end()
        sys.stdout.write(f"{self.verdict}\n")  # into the log of the run
        sys.stdout.flush()


def jvm_watchdog() -> Watchdog:
    """Watches the JVM of this process."""
    return Watchdog(_ping_jvm, _end_jvm)


def _ping_jvm() -> None:
    gateway = SparkContext._gateway
    if gateway is not None:
        gateway.jvm.java.lang.System.nanoTime()


def _end_jvm() -> None:
    process = getattr(SparkContext._gateway, "proc", None)
    if process is not None:
        process.kill()
