"""The state of an existing Hudi table, from one listing of its files and from its timeline."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from pydantic import BaseModel, TypeAdapter, ValidationError

from bench.engines.hudi.folder import SAVEPOINT, InstantFiles, Listing
from bench.engines.hudi.ledger import HudiLedger
from bench.engines.hudi.slices import StoredFile, archived_instants, latest_slices, live_file, stored_files
from bench.engines.hudi.timeline import (
    ACTIONS,
    Fields,
    instant_of,
    pending_groups,
    replaced_groups,
    written_files,
)
from bench.engines.hudi.timeline_files import TimelineError, TimelineFiles
from strategies.hudi.files import HudiState, Instant
from strategies.state import MIB

_MAX_FILE_BYTES = 120 * MIB  # hoodie.parquet.max.file.size, which a table does not keep
_TIME_DIGITS = 17  # yyyyMMddHHmmssSSS
_DIGITS = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})", re.ASCII)


class _Column(BaseModel):
    name: str


class _Schema(BaseModel):
    """The schema of a table's rows in Avro, as far as it is read here."""

    fields: tuple[_Column, ...] = ()


class ExistingState(NamedTuple):
    """A table's state, the columns of its last commit, and when that was, in ISO 8601.

    The time has no offset where the table does not say in which time zone it is.
    """

    state: HudiState
    columns: tuple[str, ...]
    committed_at: str | None


class StateReading:
    """What one listing and the timeline of its time say together."""

    def __init__(self, files: TimelineFiles, listing: Listing, now_ms: int) -> None:
        self._files, self._now_ms = files, now_ms
        self._stored = list(stored_files(listing))
        instants = files.instants(listing)
        if self._stored and not instants:
            raise TimelineError(
                f"{files.place}: has no instant, and the table has {len(self._stored):,} data files"
            )
        self._saved = {each.requested for each in instants if each.action == SAVEPOINT}
        self._instants = [each for each in instants if each.action in ACTIONS]
        self._commits = {each.requested: files.commit(each) for each in self._instants if each.completed}
        self._plans = {
            each.requested: files.plan_facts(each, self._commits.get(each.requested, {}))
            for each in self._instants
        }
        self._archived = files.archived(archived_instants(self._stored, self._plans))

    def _committed_at(self, instant: str, properties: Mapping[str, str]) -> str:
        """In UTC if the timeline is; else in the time zone of the writer, which the table does not name."""
        is_utc = properties.get("hoodie.table.timeline.timezone", "LOCAL").upper() == "UTC"
        found = self._time(instant) if is_utc else self._time(instant).replace(tzinfo=None)
        return found.isoformat(timespec="milliseconds")

    def read(self, properties: Mapping[str, str]) -> ExistingState:
        """The state of the table with these properties of hoodie.properties."""
        live = self._live()
        records = self._records(live)
        done = [each for each in self._instants if each.completed]
        last = max(done, key=lambda each: each.completed or "", default=None)
        first_ms = self._ms(self._instants[0].requested) if self._instants else self._now_ms
        ledger = HudiLedger(_MAX_FILE_BYTES, properties, first_ms)
        ledger.add([live_file(file, records.get(file.path)) for file in live], 0)
        ledger.version = None if last is None else last.requested
        ledger.timeline = tuple(self._instant(each, first_ms) for each in self._instants)
        ledger.pending_groups = pending_groups(
            (instant, self._plans[instant.requested]) for instant in self._instants
        )
        state = ledger.state(max(self._now_ms - first_ms, 0))
        columns = _columns(self._commits[last.requested]) if last else ()
        committed = None if last is None else self._committed_at(last.completed or "", properties)
        return ExistingState(state, columns, committed)

    def _live(self) -> list[StoredFile]:
        """The files of the latest slices. What was written before the active timeline begins is complete."""
        requested = {each.requested for each in self._instants}
        start = min(requested - self._saved, default="")
        completions = {each.requested: each.completed for each in self._instants if each.completed}
        planned = {each.requested for each in self._instants if each.action == "compaction"}
        replaced = [replaced_groups(commit) for commit in self._commits.values()]

        def completion_of(instant: str) -> str:
            archived = self._archived.get(instant)
            return completions.get(instant) or (archived.completed if archived else instant)

        def is_completed(file: StoredFile) -> bool:
            is_before_it = file.is_log and not self._files.has_completions and file.instant in planned
            return file.instant in completions or file.instant < start or is_before_it

        return latest_slices(self._stored, frozenset().union(*replaced), is_completed, completion_of)

    def _records(self, live: Sequence[StoredFile]) -> Mapping[str, int]:
        """The records of those files of which all commits are known, as these tell.

        Up to table version 6 several commits may append to one log file, none of them before the instant that
        it is named after.
        """
        told = Counter[str]()
        for commit in (*self._commits.values(), *(each.commit for each in self._archived.values())):
            for path, _, records in written_files(commit):
                told[path] += records
        known = {*self._plans, *self._archived}
        return {file.path: told[file.path] for file in live if file.instant in known and file.path in told}

    def _instant(self, each: InstantFiles, first_ms: int) -> Instant:
        commit = self._commits.get(each.requested, {})
        completed_ms = None if each.completed is None else self._ms(each.completed) - first_ms
        plan = self._plans[each.requested]
        return instant_of(each, commit, plan, self._ms(each.requested) - first_ms, completed_ms)

    def _time(self, instant: str) -> datetime:
        """The time that an instant is named by; without milliseconds in tables of old. Raises TimelineError.

        The table may have been written in another time zone, which it does not keep. What is compared are
        times of one table.
        """
        found = _DIGITS.fullmatch(f"{instant[:_TIME_DIGITS]:0<{_TIME_DIGITS}}")
        try:
            year, month, day, hour, minute, second, millisecond = map(int, found.groups() if found else ())
            return datetime(year, month, day, hour, minute, second, 1000 * millisecond, UTC)
        except ValueError as error:
            raise TimelineError(
                f"{self._files.place}: instant {instant}: is not a time of the form yyyyMMddHHmmssSSS, as "
                "those of bootstrapped tables are not; such a table cannot be read"
            ) from error

    def _ms(self, instant: str) -> int:
        return round(self._time(instant).timestamp() * 1000)


def _columns(commit: Fields) -> tuple[str, ...]:
    """The top-level columns by the schema that a commit keeps; none if it keeps none."""
    text = (commit.get("extraMetadata") or {}).get("schema") or ""
    try:
        schema = TypeAdapter(_Schema).validate_json(text)
    except ValidationError:
        return ()
    return tuple(column.name for column in schema.fields)
