"""The state of an existing Hudi table, from one listing of its files and from its timeline."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from bench.engines.hudi.folder import SAVEPOINT, InstantFiles, Listing
from bench.engines.hudi.ledger import HudiLedger
from bench.engines.hudi.slices import StoredFile, latest_slices, live_file, stored_files
from bench.engines.hudi.timeline import (
    ACTIONS,
    columns_of,
    instant_of,
    pending_groups,
    replaced_groups,
    written_files,
)
from bench.engines.hudi.timeline_files import TimelineError, TimelineFiles, Write
from strategies.hudi.files import HudiState, Instant
from strategies.state import MIB

# The default of hoodie.parquet.max.file.size, which a table does not store.
DEFAULT_MAX_FILE_BYTES = 120 * MIB


class StateReading:
    """Combines one listing with the timeline at that time.

    `stored` are all files in the listing, and `writes` the completed ones of the active timeline. Files from
    before `start` do not belong to an instant of it.
    """

    def __init__(self, files: TimelineFiles, listing: Listing, now_ms: int) -> None:
        self._files, self._now_ms = files, now_ms
        self.stored = list(stored_files(listing))
        instants = files.instants(listing)
        if self.stored and not instants:
            raise TimelineError(f"{files.place} is empty, but there are {len(self.stored):,} data files")
        self._saved = {instant.requested for instant in instants if instant.action == SAVEPOINT}
        self._instants = [instant for instant in instants if instant.action in ACTIONS]
        done = [instant for instant in self._instants if instant.completed]
        self._completions = {instant.requested: instant.completed for instant in done if instant.completed}
        self._last = max(done, key=lambda instant: instant.completed or "", default=None)
        self._commits = {instant.requested: files.commit(instant) for instant in done}
        self.start = min({instant.requested for instant in self._instants} - self._saved, default="")
        self._plans = {
            instant.requested: files.plan_facts(instant, self._commits.get(instant.requested, {}))
            for instant in self._instants
        }
        self._archived = files.archived({file.instant for file in self.stored} - self._plans.keys())

    @property
    def writes(self) -> list[Write]:
        return [
            Write(instant.requested, instant.completed, instant.action, self._commits[instant.requested])
            for instant in self._instants
            if instant.completed
        ]

    def _committed_at(self, instant: str, properties: Mapping[str, str]) -> str:
        """In UTC, or in the writer's time zone, which the table does not record."""
        is_utc = properties.get("hoodie.table.timeline.timezone", "LOCAL").upper() == "UTC"
        time = self._time(instant) if is_utc else self._time(instant).replace(tzinfo=None)
        return time.isoformat(timespec="milliseconds")

    def read(self, properties: Mapping[str, str]) -> tuple[HudiState, tuple[str, ...], str | None]:
        """The table's state, and the columns and time of its last commit.

        The time is in ISO 8601, without an offset if the table does not record its time zone. `properties`
        are those in hoodie.properties.
        """
        live, last = self.live(), self._last
        records = self._records(live)
        first_ms = self.ms_of(self._instants[0].requested) if self._instants else self._now_ms
        ledger = HudiLedger(DEFAULT_MAX_FILE_BYTES, properties, first_ms)
        for file in live:
            ledger.add([live_file(file, records.get(file.path))], self._added_at_ms(file, first_ms))
        ledger.version = None if last is None else last.requested
        ledger.timeline = tuple(self._instant(instant, first_ms) for instant in self._instants)
        ledger.pending_groups = pending_groups(
            (instant, self._plans[instant.requested]) for instant in self._instants
        )
        state = ledger.state(max(self._now_ms - first_ms, 0))
        columns = columns_of(self._commits[last.requested]) if last else ()
        committed = None if last is None else self._committed_at(last.completed or "", properties)
        return state, columns, committed

    def _added_at_ms(self, file: StoredFile, first_ms: int) -> int | None:
        """When the commit of a file completed; None if the active timeline does not say.

        Up to table version 6 a log file is named after the instant of its slice, not after its own.
        """
        if file.is_log and self._files.is_early:
            return None
        completed = self._completions.get(file.instant)
        return None if completed is None else self.ms_of(completed) - first_ms

    def live(self) -> list[StoredFile]:
        """The files of the latest slices. Files from before the active timeline count as completed."""
        planned = {instant.requested for instant in self._instants if instant.action == "compaction"}
        replaced = [replaced_groups(commit) for commit in self._commits.values()]

        def completion_of(instant: str) -> str:
            archived = self._archived.get(instant)
            return self._completions.get(instant) or (archived.completed if archived else instant)

        def is_completed(file: StoredFile) -> bool:
            is_before_it = file.is_log and self._files.is_early and file.instant in planned
            return file.instant in self._completions or file.instant < self.start or is_before_it

        return latest_slices(self.stored, frozenset().union(*replaced), is_completed, completion_of)

    def _records(self, live: Sequence[StoredFile]) -> Mapping[str, int]:
        """The records of the files all of whose commits are known.

        Up to table version 6 several commits may append to one log file, but none before the instant in its
        name.
        """
        rows = Counter[str]()
        for commit in (*self._commits.values(), *(archived.commit for archived in self._archived.values())):
            for path, _, records in written_files(commit):
                rows[path] += records
        known = {*self._plans, *self._archived}
        return {file.path: rows[file.path] for file in live if file.instant in known and file.path in rows}

    def _instant(self, instant: InstantFiles, first_ms: int) -> Instant:
        commit = self._commits.get(instant.requested, {})
        completed_ms = None if instant.completed is None else self.ms_of(instant.completed) - first_ms
        plan = self._plans[instant.requested]
        return instant_of(instant, commit, plan, self.ms_of(instant.requested) - first_ms, completed_ms)

    def _time(self, instant: str) -> datetime:
        """As if in UTC; only times of one table are compared. Old tables have no milliseconds."""
        digits = f"{instant:0<17}"  # yyyyMMddHHmmssSSS
        try:
            time = datetime.fromisoformat(f"{digits[:8]}T{digits[8:14]}.{digits[14:17]}")
        except ValueError as error:
            raise TimelineError(
                f"{self._files.place}, instant {instant}: its name is not a time, as in bootstrapped tables, "
                "which are not supported"
            ) from error
        return time.replace(tzinfo=UTC)

    def ms_of(self, instant: str) -> int:
        """In milliseconds since 1970, as if in UTC."""
        return round(self._time(instant).timestamp() * 1000)
