"""The table services of a simulated Hudi table: plans and merges.

A compaction puts the live rows of a file slice into a new base file. Their number is an expected value,
derived from the keys that commits hit (`bench.engines.simulated.live_rows`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.engines.contract import TableSpec, Tag, Version
from bench.engines.hudi.ledger import NOT_SCHEDULED, HudiLedger
from bench.engines.hudi.model.coefficients import HudiCoefficients
from bench.engines.hudi.model.files import FileMaker, log_file_bytes
from bench.engines.hudi.model.groups import Groups
from bench.engines.hudi.model.timeline import Timeline
from bench.engines.hudi.model.versions import File, data_version, service_version, store
from bench.engines.hudi.model.writers import RowBytes
from bench.engines.simulated.model import ConflictError
from bench.engines.simulated.recorded_files import size_ratio
from bench.engines.simulated.rolling import rolled
from bench.engines.simulated.storage import Storage
from bench.results.values import MaintenanceWork, RewriteWork
from strategies.hudi.clustering_plan import clustering_options, plan_clustering
from strategies.hudi.commands import METADATA_COMMANDS, Command
from strategies.hudi.files import Action as InstantAction
from strategies.hudi.files import FileGroupId, FileSlice, LogFile
from strategies.hudi.log_compaction_plan import blocks_min, plan_log_compaction
from strategies.hudi.preview import NO_REWRITE, planned_compaction
from strategies.plan import Action, Native
from strategies.preview import even_share

_INSTANTS: Mapping[Command, InstantAction] = {
    Command.COMPACTION: InstantAction.COMMIT,
    Command.LOG_COMPACTION: InstantAction.DELTA_COMMIT,
    Command.CLUSTERING: InstantAction.REPLACE_COMMIT,
}


@dataclass(frozen=True, slots=True)
class Merge:
    """File slices that a plan merges together."""

    slices: tuple[FileSlice, ...]
    outputs_count: int = 1


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A plan on the timeline with the number of its instant; without merges there is no instant.

    Log files that a group gets later are not in the plan.
    """

    number: int
    command: Command
    merges: tuple[Merge, ...] = ()

    @property
    def slices(self) -> list[FileSlice]:
        return [merged for merge in self.merges for merged in merge.slices]

    @property
    def work(self) -> RewriteWork:
        bases = [merged.base for merged in self.slices if merged.base is not None]
        logs = [log for merged in self.slices for log in merged.logs]
        return RewriteWork(
            groups_count=len(self.merges),
            tasks_count=sum(merge.outputs_count for merge in self.merges),
            read_files_count=len(bases),
            read_rows=sum(base.rows for base in bases),
            read_data_bytes=sum(base.size_bytes for base in bases),
            converted_files_count=0,
            converted_rows=0,
            applied_delete_files_count=len(logs),
            applied_delete_rows=sum(log.rows for log in logs),
            applied_delete_bytes=sum(log.size_bytes for log in logs),
        )


class Services:
    def __init__(
        self, spec: TableSpec, full_rows: int, ledger: HudiLedger, groups: Groups, maker: FileMaker,
        timeline: Timeline, storage: Storage, row_bytes: RowBytes, coefficients: HudiCoefficients,
    ) -> None:  # fmt: skip
        self._spec, self._full_rows, self._ledger = spec, full_rows, ledger
        self._groups, self._maker, self._timeline = groups, maker, timeline
        self._storage, self._row_bytes, self._coefficients = storage, row_bytes, coefficients
        self._pending: dict[int, Scheduled] = {}

    @property
    def pending_compactions(self) -> list[Scheduled]:
        """In the order of their plans."""
        return [plan for plan in self._pending.values() if plan.command is Command.COMPACTION]

    def stage(self, action: Action, at_ms: int) -> Scheduled:
        """Write the plan of a service, if there is anything to do."""
        if not isinstance(action, Native):
            raise ValueError(NO_REWRITE)
        command = Command(action.command)
        merges, missing_partitions = self._planned(command, action, at_ms)
        if not merges:
            return Scheduled(0, command)
        is_log_compaction = command is Command.LOG_COMPACTION
        number = self._timeline.request(
            _INSTANTS[command], at_ms, missing_partitions, is_log_compaction=is_log_compaction
        )
        scheduled = self._pending[number] = Scheduled(number, command, merges)
        self._publish()
        return scheduled

    def _publish(self) -> None:
        by_service: dict[Command, frozenset[FileGroupId]] = {}
        for scheduled in self._pending.values():
            groups = frozenset(merged.group for merged in scheduled.slices)
            by_service[scheduled.command] = by_service.get(scheduled.command, frozenset()) | groups
        self._ledger.pending_groups = by_service

    def _planned(
        self, command: Command, action: Native, at_ms: int
    ) -> tuple[tuple[Merge, ...], tuple[str, ...] | None]:
        """The merges of a plan, and the partitions that it notes for the next plan."""
        state, target_bytes = self._ledger.state(at_ms), self._spec.target_file_size_bytes
        match command:
            case Command.COMPACTION:
                plan = planned_compaction(action, state)
                return tuple(
                    Merge((operation.slice,)) for operation in plan.operations
                ), plan.missing_partitions
            case Command.LOG_COMPACTION:
                slices = plan_log_compaction(state, blocks_min(action.options))
                return tuple(Merge((merged,)) for merged in slices), None
            case _:
                options = clustering_options(action.options, target_bytes)
                clustering = plan_clustering(state, options, target_bytes)
                merges = tuple(Merge(group.slices, group.outputs_count) for group in clustering.groups)
                return merges, clustering.missing_partitions

    def execute(self, action: Action, staged: Scheduled | None, tag: Tag) -> tuple[Version, ...] | None:
        """Execute what was staged, or clean or archive; None if a commit has executed it before.

        Raises ValueError for a log compaction after which a compaction was scheduled: Hudi refuses it
        (BaseHoodieTableServiceClient.logCompact of 1.2.0), and the plan stays pending. Raises ConflictError
        for a clustering of groups that a commit has changed since: its plan is dropped.
        """
        if not isinstance(action, Native):
            raise ValueError(NO_REWRITE)
        command = Command(action.command)
        if command in METADATA_COMMANDS:
            return self._maintain(command, action.arguments, tag)
        if staged is None:
            raise ValueError(NOT_SCHEDULED)
        if not staged.merges:
            return ()
        if staged.number not in self._pending:
            return None
        if command is Command.LOG_COMPACTION and self._timeline.has_compaction_after(staged.number):
            raise ValueError("a log compaction cannot be executed once a later compaction has been scheduled")
        if command is Command.CLUSTERING:
            self._check_unchanged(staged)
        return self.merge(command, staged, tag.at_ms, tag)

    def _check_unchanged(self, staged: Scheduled) -> None:
        """Raises ConflictError, and drops the plan, if a group of it has other files than were planned.

        So it is if `prefers_writer` holds; otherwise the commit has lost (`Conflicts`), except in an imported
        table.
        """
        for planned in staged.slices:
            if not self._groups.has_only(planned.group, _files(planned)):
                del self._pending[staged.number]
                self._publish()
                self._timeline.drop(staged.number)
                raise ConflictError(f"a commit has changed file group {planned.group.file_id} since")

    def merge(self, command: Command, staged: Scheduled, at_ms: int, tag: Tag | None) -> tuple[Version, ...]:
        """Merge what was planned, except slices that a commit of an imported table has replaced since."""
        del self._pending[staged.number]
        merges = [merge for merge in staged.merges if self._groups.has_all(_files_of(merge))]
        added = [file for merge in merges for file in self._merged(command, merge, at_ms)]
        read = [file for merge in merges for file in _files_of(merge)]
        removed = () if command is Command.LOG_COMPACTION else read
        self._publish()
        partitions = {file.partition for file in added}
        action = _INSTANTS[command]
        entry = self._timeline.complete(
            staged.number, at_ms, len(added), partitions, slices_count=len(staged.slices)
        )
        version = data_version(entry, action, added, removed, tag)
        store(self._storage, added, removed, staged.number)
        if command is not Command.CLUSTERING:
            self._row_bytes.note(added)
        return (version,)

    def _merged(self, command: Command, merge: Merge, at_ms: int) -> Sequence[File]:
        """The new files: a base file of the group, a log file, or base files of new groups."""
        first = merge.slices[0]
        if command is Command.LOG_COMPACTION:
            rows, deletes = self._groups.kept(first.logs), self._groups.deletes(first.logs)
            log = self._maker.log(first.group, rows, deletes, self._log_size_ratio(first.logs))
            self._groups.merge_logs(log, first.logs, at_ms)
            return [log]
        gone = _files_of(merge)
        rows, ratio = self._groups.kept(gone), self._size_ratio(merge)
        if command is Command.COMPACTION:
            base = self._maker.base(first.group, rows, ratio)
            self._groups.replace_base(base, gone, at_ms)
            return [base]
        tasks_count = min(merge.outputs_count, rows)
        shares = (even_share(rows, index, tasks_count) for index in range(tasks_count))
        bases = [
            self._maker.base(self._maker.group(first.group.partition), file_rows, ratio)
            for share in shares
            for file_rows in rolled(share, self._full_rows)
        ]
        self._groups.cluster(bases, [merged.group for merged in merge.slices], at_ms)
        return bases

    def _size_ratio(self, merge: Merge) -> float:
        bases = [merged.base for merged in merge.slices if merged.base is not None]
        return size_ratio(bases, self._spec.schema, self._coefficients)

    def _log_size_ratio(self, logs: Iterable[LogFile]) -> float:
        """As `size_ratio`, of log files."""
        if not self._spec.schema.of_table:
            return 1.0
        own = expected = 0
        for log in logs:
            deletes = self._groups.deletes([log])
            own += log.size_bytes
            expected += log_file_bytes(self._spec.schema, log.rows - deletes, deletes)
        return own / expected

    def _maintain(self, command: Command, arguments: Mapping[str, str], tag: Tag) -> tuple[Version, ...]:
        if command is Command.ARCHIVE:
            count = self._timeline.archive(int(arguments["min_commits"]), int(arguments["max_commits"]))
            done = MaintenanceWork(expired_versions_count=count)
        else:
            # States from the earliest instant on can still be read. Source: CleanPlanner with
            # KEEP_LATEST_COMMITS of Hudi 1.2.0.
            earliest = self._timeline.earliest_of(int(arguments["retain_commits"]))
            count = 0 if earliest is None else self._storage.delete(earliest + 1)
            done = MaintenanceWork(deleted_files_count=count)
        return (service_version(self._timeline.service(), command, tag, done),) if count else ()


def _files_of(merge: Merge) -> list[File]:
    return [file for merged in merge.slices for file in _files(merged)]


def _files(merged: FileSlice) -> tuple[File, ...]:
    return merged.logs if merged.base is None else (merged.base, *merged.logs)
