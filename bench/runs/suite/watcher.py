"""Who follows a suite: its progress on the command line."""

from collections.abc import Sequence
from typing import Any, Protocol

from bench.results.folders import RunResult
from bench.runs.suite.cases import PlannedRun


class Watcher(Protocol):
    """Is notified of the suite's progress, for progress bars and logs."""

    def log_started(self, scenario: str) -> None: ...

    def log_progressed(self, scenario: str, done: int, total: int) -> None: ...

    def log_ended(self, scenario: str, commits_count: int) -> None: ...

    def dropping(self, run: str, left: Sequence[str]) -> None: ...

    def warned(self, text: str) -> None: ...

    def run_started(self, run: PlannedRun) -> None: ...

    def run_progressed(self, run: PlannedRun, record: Any) -> None: ...

    def run_ended(self, run: PlannedRun, result: RunResult) -> None: ...
