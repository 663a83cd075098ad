"""Writes the records of a run to its folder: line by line in a real run, as columns in a simulated one."""

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import pyarrow.parquet as pq
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from bench.errors import EngineError
from bench.results.column_files import file_of, schema_of, table_of
from bench.results.order import checksum
from bench.results.records import EVENT_TABLES, EVENTS, BaseRecord, Mode, RunRecord
from bench.secrets import NO_SECRETS, Secrets

# Fields of manifests and records that are never scrubbed: names and hashes that identify a run or step, and
# this project's own words and figures. A secret that is a common word must not change them.
_KEPT = frozenset({
    "run_id", "suite_id", "started_utc", "scenario", "scenario_hash", "strategy", "strategy_hash", "workload",
    "format", "format_title", "mode", "primary_probe", "probe_phase", "currency", "change_log_hash", "verify",
    "versions", "machine", "git", "notes", "option_defaults",
    "kind", "written_utc", "status", "name", "probe", "when", "after", "trigger", "planner", "reason",
    "plan_kind", "figures", "forecast", "answer", "file_sizes", "records_sha256",
})  # fmt: skip

_Model = TypeVar("_Model", bound=BaseModel)


def utc_now() -> str:
    """The current UTC time, such as "2026-03-01T12:00:00.000Z"."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def without_secrets(model: _Model, secrets: Secrets) -> _Model:
    """A manifest or record without secrets, as it may be stored."""
    return secrets.clean_model(model, keep=_KEPT)


OnRecord = Callable[[type[BaseRecord], Mapping[str, Any]], None]

_AT_ONCE = 5_000  # records of a kind that are made columns together


class Recorder(Protocol):
    """Stores records, which are given by their kind and fields, without secrets.

    It adds `written_utc`, and to the record of the end `records_sha256`. Each record is also passed on, by
    kind and fields; those of simulated runs as they are, with any secrets.
    """

    records_count: int  # written by this recorder

    def write(self, kind: type[BaseRecord], fields: Mapping[str, Any]) -> None:
        """Store one record. Raises OSError on a full disk, and EngineError on text that is not UTF-8."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def recorder_of(
    mode: Mode,
    run_folder: Path,
    run_id: str,
    on_record: OnRecord = lambda kind, fields: None,
    secrets: Secrets = NO_SECRETS,
) -> Recorder:
    if mode == "simulated":
        return ColumnRecorder(run_folder / EVENT_TABLES, run_id, on_record, secrets)
    return LineRecorder(run_folder / EVENTS, run_id, on_record, secrets)


class LineRecorder:
    """Appends records to `events.jsonl`. Each line reaches the operating system before the next step starts.

    So a killed process loses no finished record. A torn last line, of a process that was killed or when the
    disk was full, is cut off.
    """

    def __init__(
        self,
        path: Path,
        run_id: str,
        on_record: OnRecord = lambda kind, fields: None,
        secrets: Secrets = NO_SECRETS,
    ) -> None:
        self._path, self._run_id = path, run_id
        self._on_record, self._secrets = on_record, secrets
        self.records_count = 0
        if path.exists():
            written = path.read_bytes()
            os.truncate(path, written.rfind(b"\n") + 1)
        self._file = path.open("ab", buffering=0)

    def write(self, kind: type[BaseRecord], fields: Mapping[str, Any]) -> None:
        if kind is RunRecord:
            fields = {**fields, "records_sha256": checksum(self._run_id, [self._path.read_bytes()])}
        record = without_secrets(kind(written_utc=utc_now(), **fields), self._secrets)
        try:
            line = record.model_dump_json()
        except PydanticSerializationError as error:
            raise _not_utf_8(kind, error) from error
        self._append(f"{line}\n".encode())
        self.records_count += 1
        self._on_record(kind, dict(record))

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


class ColumnRecorder:
    """Writes the records of a simulated run to a folder of tables, some thousand at a time.

    The record of the end completes the folder, which has another name until then: a run that is killed leaves
    no records, and is quickly repeated.
    """

    def __init__(
        self,
        folder: Path,
        run_id: str,
        on_record: OnRecord = lambda kind, fields: None,
        secrets: Secrets = NO_SECRETS,
    ) -> None:
        self._folder, self._part, self._run_id = folder, folder.with_suffix(".part"), run_id
        self._on_record, self._secrets = on_record, secrets
        self.records_count = 0
        self._waiting: dict[type[BaseRecord], tuple[list[int], list[Mapping[str, Any]]]] = {}
        self._files: dict[type[BaseRecord], pq.ParquetWriter] = {}
        shutil.rmtree(self._part, ignore_errors=True)  # of a killed process
        self._part.mkdir()

    def write(self, kind: type[BaseRecord], fields: Mapping[str, Any]) -> None:
        try:
            if kind is RunRecord:
                self._complete(fields)
            else:
                self._add(kind, fields)
        except Exception:
            self._forget()
            raise
        self._on_record(kind, fields)

    def _add(self, kind: type[BaseRecord], fields: Mapping[str, Any]) -> None:
        if kind not in self._waiting:
            self._waiting[kind] = ([], [])
        serials, waiting = self._waiting[kind]
        serials.append(self.records_count)
        waiting.append(fields)
        self.records_count += 1
        if len(waiting) == _AT_ONCE:
            self._store(kind)

    def _store(self, kind: type[BaseRecord]) -> None:
        serials, waiting = self._waiting.pop(kind)
        try:
            table = table_of(kind, serials, waiting, utc_now(), self._clean)
        except UnicodeEncodeError as error:
            raise _not_utf_8(kind, error) from error
        except ValueError as error:
            raise EngineError(
                f"cannot store a record ({error}): correct your planner or coefficients",
                code="not-storable",
            ) from error
        if kind not in self._files:
            self._files[kind] = pq.ParquetWriter(
                file_of(self._part, kind), schema_of(kind), compression="zstd", write_page_checksum=True
            )
        self._files[kind].write_table(table)

    def _clean(self, field: str, value: Any) -> Any:
        is_kept = field in _KEPT or (isinstance(value, str) and value.isdecimal())
        return value if is_kept else self._secrets.clean(value)

    def _complete(self, end: Mapping[str, Any]) -> None:
        self._store_all()
        files = (path.read_bytes() for path in sorted(self._part.iterdir()))
        self._add(RunRecord, {**end, "records_sha256": checksum(self._run_id, files)})
        self._store_all()
        self._part.rename(self._folder)

    def _store_all(self) -> None:
        """Store what waits, and close the files."""
        for kind in [*self._waiting]:
            self._store(kind)
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _forget(self) -> None:
        """Drop all records, since some cannot be stored: the run fails, and only its end remains."""
        self._abandon()
        self._waiting.clear()
        self.records_count = 0
        shutil.rmtree(self._part)
        self._part.mkdir()

    def _abandon(self) -> None:
        for file in self._files.values():
            with suppress(OSError):
                file.close()
            file.is_open = False  # or it would be closed again, when it is collected
        self._files.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._abandon()
        shutil.rmtree(self._part, ignore_errors=True)


def _not_utf_8(kind: type[BaseRecord], error: Exception) -> EngineError:
    return EngineError(
        f"cannot store a {kind.__name__} whose text is not UTF-8 ({error}): if a planner of yours wrote it, "
        "correct its detail, kind or figures",
        code="not-utf-8",
    )
