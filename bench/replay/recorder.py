"""Writes the records of a run to its folder, one per line."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from bench.errors import EngineError
from bench.secrets import NO_SECRETS, Secrets

# Fields of manifests and records that are never scrubbed: names and hashes that identify a run or step, and
# this project's own words and figures. A secret that is a common word must not change them.
_KEPT = frozenset({
    "run_id", "suite_id", "started_utc", "scenario", "scenario_hash", "strategy", "strategy_hash", "workload",
    "format", "format_title", "mode", "primary_probe", "probe_phase", "currency", "change_log_hash", "verify",
    "versions", "machine", "git", "notes", "option_defaults",
    "kind", "written_utc", "status", "name", "probe", "when", "after", "trigger", "planner", "reason",
    "plan_kind", "figures", "forecast", "answer", "file_sizes",
})  # fmt: skip

_Model = TypeVar("_Model", bound=BaseModel)


def utc_now() -> str:
    """The current UTC time, such as "2026-03-01T12:00:00.000Z"."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def without_secrets(model: _Model, secrets: Secrets) -> _Model:
    """A manifest or record without secrets, as it may be stored."""
    return secrets.clean_model(model, keep=_KEPT)


class Recorder:
    """Appends records to `events.jsonl`. Each line reaches the operating system before the next step starts.

    So a killed process loses no finished record. A torn last line, of a process that was killed or when the
    disk was full, is cut off. Each record, without `secrets`, is also passed to `on_record`.
    """

    def __init__(
        self,
        path: Path,
        on_record: Callable[[BaseModel], None] = lambda record: None,
        secrets: Secrets = NO_SECRETS,
    ) -> None:
        self._on_record, self._secrets = on_record, secrets
        self.records_count = 0  # written by this recorder
        if path.exists():
            written = path.read_bytes()
            os.truncate(path, written.rfind(b"\n") + 1)
        self._file = path.open("ab", buffering=0)

    def write(self, record: BaseModel) -> None:
        """Store one record. Raises OSError on a full disk, and EngineError on text that is not UTF-8."""
        record = without_secrets(record, self._secrets)
        try:
            line = record.model_dump_json()
        except PydanticSerializationError as error:
            raise EngineError(
                f"cannot store a {type(record).__name__} whose text is not UTF-8 ({error}): if a planner of "
                "yours wrote it, correct its detail, kind or figures",
                code="not-utf-8",
            ) from error
        self._append(f"{line}\n".encode())
        self.records_count += 1
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
