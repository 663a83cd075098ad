"""Writes the records of a run as they are made, one per line."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from pydantic import BaseModel

from bench.secrets import NO_SECRETS, Secrets

# Fields of manifests and records that are never scrubbed: names and hashes that identify a run or step, and
# words and figures of this project. A secret that is a common word must not change them.
_KEPT = frozenset({
    "run_id", "suite_id", "started_utc", "scenario", "scenario_hash", "strategy", "strategy_hash", "workload",
    "format", "format_title", "mode", "primary_probe", "probe_phase", "currency", "change_log_hash", "verify",
    "versions", "machine", "git", "notes", "option_defaults",
    "kind", "written_utc", "status", "name", "probe", "when", "after", "trigger", "planner", "reason",
    "plan_kind", "figures", "forecast", "answer", "file_sizes",
})  # fmt: skip

_Model = TypeVar("_Model", bound=BaseModel)


def utc_now() -> str:
    """The current UTC time, to the millisecond, in the form that records and folder names use."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def without_secrets(model: _Model, secrets: Secrets) -> _Model:
    """A manifest or record without secrets, as it may be stored."""
    return secrets.clean_model(model, keep=_KEPT)


class Recorder:
    """Appends records to `events.jsonl`. Each line reaches the operating system before the next step starts.

    A killed process therefore loses no finished record; only a power loss could. A torn last line from an
    earlier process, or from a disk that became full, is not a record and is cut off. Each record, without
    `secrets`, is also passed to `on_record`.
    """

    def __init__(
        self,
        path: Path,
        on_record: Callable[[BaseModel], None] = lambda record: None,
        secrets: Secrets = NO_SECRETS,
    ) -> None:
        self._on_record, self._secrets = on_record, secrets
        if path.exists():
            written = path.read_bytes()
            os.truncate(path, written.rfind(b"\n") + 1)
        self._file = path.open("ab", buffering=0)

    def write(self, record: BaseModel) -> None:
        """Store one record. Raises OSError if it cannot be stored; what was stored before stays whole."""
        record = without_secrets(record, self._secrets)
        self._append(f"{record.model_dump_json()}\n".encode())
        self._on_record(record)

    def _append(self, line: bytes) -> None:
        start, written_bytes = os.fstat(self._file.fileno()).st_size, 0
        try:
            while written_bytes < len(line):
                written_bytes += self._file.write(line[written_bytes:]) or 0
        except OSError:
            self._file.truncate(start)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
