"""The CPU of a cluster's executor processes, which report it themselves."""

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
_TASKS_ALONE = 'count the CPU of tasks alone: `executor_cpu = "tasks"` in [spark]'
_SINK = "spark.metrics.conf.executor.sink.compactbench"


class ExecutorCpu:
    """Receives the CPU time of each executor process once a second.

    The figure is Spark's gauge JVMCPU.jvmCpuTime, the operating system's account of the process. Unlike the
    CPU of tasks it includes the compiler, the garbage collector, shuffles and the executor's own work.
    Children of an executor, such as Python workers, are not included.

    Anyone who reaches the port can send lines. Only lines with a random prefix count, which the executors get
    with Spark's configuration.
    """

    def __init__(self) -> None:
        self._prefix = token_hex(8)
        self._cpu_s: dict[str, float] = {}  # by executor, also of those that have ended
        self._heard_at_s: dict[str, float] = {}
        self._news = threading.Condition()
        self._server: _Server | None = None

    def listen(self, address: str, host: str) -> Mapping[str, str]:
        """Listen on an address; returns the configuration that makes executors report to `host`.

        Raises EngineError if it cannot listen there.
        """
        try:
            self._server = _Server((address, 0), self._heard)
        except OSError as error:
            raise EngineError(
                f"the driver cannot listen on {address} for the CPU of its executors ({error.strerror}): set "
                f'spark."spark.driver.bindAddress" to an address of this machine, or {_TASKS_ALONE}',
                code="not-listening",
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
        """CPU seconds of all executors, after a new report of each `living` one, usually within a period.

        Raises EngineError if one is silent for SILENCE_MAX_S.
        """
        called_at_s = time.monotonic()
        with self._news:
            while missing := [id_ for id_ in living() if self._heard_at_s.get(id_, 0.0) <= called_at_s]:
                self._news.wait(PERIOD_S)
                if time.monotonic() - called_at_s > SILENCE_MAX_S:
                    raise EngineError(
                        f"executors {', '.join(sorted(missing))} have not reported their CPU for "
                        f'{SILENCE_MAX_S:g} s: they must reach the driver at spark."spark.driver.host" on '
                        f"any port; or {_TASKS_ALONE}",
                        code="no-executor-cpu",
                    )
            return sum(self._cpu_s.values())


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
