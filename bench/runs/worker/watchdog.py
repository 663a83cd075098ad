"""Ends a JVM that does not answer any more, so that its run fails instead of waiting for ever."""

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from pyspark import SparkContext

SILENCE_MAX_S = 600.0  # a full collection of a large heap takes minutes
ASKED_EVERY_S = 20.0


class Watchdog:
    """Asks again and again, in a thread of its own; a second thread counts for how long no answer has come.

    `ask` returns when there is an answer, or nothing to ask; one that raises counts as answered, since
    whoever waits for the JVM meets the same error. The time during which this process itself was stopped does
    not count as silence.
    """

    def __init__(
        self,
        ask: Callable[[], object],
        end: Callable[[], None],
        silence_max_s: float = SILENCE_MAX_S,
        asked_every_s: float = ASKED_EVERY_S,
    ) -> None:
        self._ask, self._end = ask, end
        self._silence_max_s, self._asked_every_s = silence_max_s, asked_every_s
        self._silence_s = 0.0
        self.verdict: str | None = None  # why it has ended the JVM, once it has

    def start(self) -> None:
        """Begin to watch, until the process ends."""
        for task in (self._keep_asking, self._count):
            threading.Thread(target=task, daemon=True).start()

    def _keep_asking(self) -> None:
        while self.verdict is None:
            with suppress(Exception):
                self._ask()
            self._silence_s = 0.0
            time.sleep(self._asked_every_s)

    def _count(self) -> None:
        while self._silence_s <= self._silence_max_s:
            time.sleep(self._asked_every_s)
            self._silence_s += self._asked_every_s
        self.verdict = f"Java has not answered for {self._silence_max_s:g} s, and was ended"
        self._end()
        sys.stdout.write(f"{self.verdict}\n")  # into the log of the run
        sys.stdout.flush()


def jvm_watchdog() -> Watchdog:
    """Watches the JVM of this process, whichever session it serves."""
    return Watchdog(_ask_jvm, _end_jvm)


def _ask_jvm() -> None:
    gateway = SparkContext._gateway
    if gateway is not None:
        gateway.jvm.java.lang.System.nanoTime()


def _end_jvm() -> None:
    process = getattr(SparkContext._gateway, "proc", None)
    if process is not None:
        process.kill()
