"""The CPU of a cluster's executors: of their whole processes, as these report it themselves."""

import re
import socketserver
import threading
import time
from collections.abc import Callable, Collection, Mapping
from secrets import token_hex
from typing import cast

from bench.errors import EngineError

PERIOD_S = 1  # the shortest that Spark's sinks take (MetricsSystem.checkMinimalPollingPeriod)
SILENCE_MAX_S = 30.0  # a full collection in an executor may take that long

# A gauge as Spark's GraphiteSink sends it: a prefix, the application, the executor's id, source and gauge,
# its value in nanoseconds, and the time in seconds.
_GAUGE = re.compile(
    rb"(?P<prefix>[^.\s]+)\.(?:\S*\.)?(?P<executor>[^.\s]+)\.JVMCPU\.jvmCpuTime (?P<cpu_ns>\d+) \d+\s*"
)
_LINE_MAX_BYTES = 1000
_SINK = "spark.metrics.conf.executor.sink.compactbench"


class ExecutorCpu:
    """Receives once a second from each executor how much CPU its process has used since it began.

    The figure is Spark's gauge JVMCPU.jvmCpuTime, which is the operating system's account of the process.
    Unlike the CPU of tasks it includes the compiler, the garbage collector, shuffles and the executor's own
    work. Children of an executor, such as Python workers, are not included.

    Whoever reaches the port can send lines: those count that begin with a random prefix, which the executors
    get with Spark's configuration.
    """

    def __init__(self) -> None:
        self._prefix = token_hex(8)
        self._cpu_s: dict[str, float] = {}  # by executor, also of those that have ended
        self._heard_at_s: dict[str, float] = {}
        self._news = threading.Condition()
        self._server: _Server | None = None

    def listen(self, address: str, host: str) -> Mapping[str, str]:
        """Listen on an address of the driver; the configuration by which executors report to it, as `host`.

        Raises EngineError if it cannot be listened on.
        """
        try:
            self._server = _Server((address, 0), self._heard)
        except OSError as error:
            raise EngineError(
                f"the driver cannot listen on {address} for the CPU of its executors ({error.strerror}): set "
                'spark."spark.driver.bindAddress" to an address of this machine, or count the CPU of tasks '
                'alone: `executor_cpu = "tasks"` in [spark]'
            ) from error
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return {
            f"{_SINK}.class": "org.apache.spark.metrics.sink.GraphiteSink",
            f"{_SINK}.host": host,
            f"{_SINK}.port": str(self._server.server_address[1]),
            f"{_SINK}.prefix": self._prefix,
            f"{_SINK}.period": str(PERIOD_S),
            f"{_SINK}.unit": "seconds",
            f"{_SINK}.regex": r"JVMCPU\.jvmCpuTime$",
        }

    def close(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def _heard(self, line: bytes) -> None:
        gauge = _GAUGE.fullmatch(line)
        if gauge is None or gauge["prefix"].decode(errors="replace") != self._prefix:
            return
        executor = gauge["executor"].decode(errors="replace")
        with self._news:
            self._cpu_s[executor] = int(gauge["cpu_ns"]) / 1e9
            self._heard_at_s[executor] = time.monotonic()
            self._news.notify_all()

    def latest_s(self) -> float:
        """CPU seconds of all executors by their latest reports, which are up to a period old."""
        with self._news:
            return sum(self._cpu_s.values())

    def fresh_s(self, living: Callable[[], Collection[str]]) -> float:
        """The same by reports that are newer than this call, of all executors that are `living`.

        Waits until each has reported after this call, usually up to a period. Raises EngineError if one is
        silent for SILENCE_MAX_S.
        """
        asked_at_s = time.monotonic()
        with self._news:
            while missing := [one for one in living() if self._heard_at_s.get(one, 0.0) <= asked_at_s]:
                self._news.wait(PERIOD_S)
                if time.monotonic() - asked_at_s > SILENCE_MAX_S:
                    raise EngineError(_silence(missing))
            return sum(self._cpu_s.values())


def _silence(missing: Collection[str]) -> str:
    return (
        f"executors {', '.join(sorted(missing))} have not reported their CPU for {SILENCE_MAX_S:g} s: they "
        'must reach the driver at spark."spark.driver.host" on any port; or count the CPU of tasks alone: '
        '`executor_cpu = "tasks"` in [spark]'
    )


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], heard: Callable[[bytes], None]) -> None:
        self.heard = heard
        super().__init__(address, _Reports)


class _Reports(socketserver.StreamRequestHandler):
    """The reports of one executor, a line each, until it closes the connection."""

    def handle(self) -> None:
        try:
            while line := self.rfile.readline(_LINE_MAX_BYTES):
                cast(_Server, self.server).heard(line)
        except ConnectionError:  # the executor has ended
            return
