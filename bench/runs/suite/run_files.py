"""The files that a worker writes into a run folder, read during the run and after it."""

import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.errors import EngineError
from bench.replay.recorder import recorder_of, utc_now
from bench.results.folders import RunResult, load_end
from bench.results.records import EVENTS, LOG, MANIFEST, RunRecord
from bench.results.tables import RunRecords
from bench.results.tail import Tail
from bench.runs.jobs import RunJob
from bench.runs.live_figures import POLL_S, LiveFigures
from bench.secrets import NO_SECRETS

_SPACE_MIN_BYTES = 100_000


def follow(process: subprocess.Popen[bytes], job: RunJob, on_progress: Callable[[LiveFigures], None]) -> bool:
    """Pass on the figures of a real run in progress.

    Returns False after the last record, True if the worker ended without it.
    """
    tail, figures = Tail(job.run_folder / EVENTS), LiveFigures(job.mode)
    while True:
        has_ended = process.poll() is not None
        for record in tail.new_records():
            figures.add(type(record), dict(record))
            on_progress(figures)
            if isinstance(record, RunRecord):
                return False
        if has_ended:
            return True
        time.sleep(POLL_S)


def closed(folder: Path, exit_code: int) -> RunResult:
    """The run with its closing record alone. If the worker died without one, this function writes it.

    On a full disk only the result has that record. Raises EngineError if the worker died before it had
    written the manifest.
    """
    output = folder / LOG
    if not (folder / MANIFEST).exists():
        problem = f"the run could not start: {last_message(output)}{_space(folder)}"
        raise EngineError(problem, code="run-not-started", path=folder.name)
    result = load_end(folder)
    if result.end is not None:
        return result
    killed = " (killed, perhaps for lack of memory)" if exit_code == -signal.SIGKILL else ""
    error = f"the worker ended with exit code {exit_code}{killed}: {last_message(output)}{_space(folder)}"
    end: dict[str, Any] = {"tick": 0, "at_ms": 0, "status": "failed", "error": NO_SECRETS.scrub(error)}
    manifest = result.manifest
    with suppress(OSError), recorder_of(manifest.mode, folder, manifest.run_id) as recorder:
        recorder.write(RunRecord, end)
    return replace(result, records=RunRecords.listed([RunRecord(written_utc=utc_now(), **end)]))


def _space(folder: Path) -> str:
    """A hint if the disk is full, which the worker's output cannot contain."""
    free_bytes = shutil.disk_usage(folder).free
    return "; its disk is full: free some space" if free_bytes < _SPACE_MIN_BYTES else ""


def last_message(log: Path) -> str:
    """The last line that a worker printed, after which several errors are indented, as one line."""
    if not log.exists():
        return "no output"
    text = log.read_text(encoding="utf-8", errors="replace")
    own = text.partition("nanobind: ")[0]  # DuckDB's report of leaks at exit
    lines = [line for line in own.splitlines() if line.strip()]
    first = max((place for place, line in enumerate(lines) if not line.startswith("  ")), default=0)
    return "; ".join(line.strip() for line in lines[first:]) or "no output"
