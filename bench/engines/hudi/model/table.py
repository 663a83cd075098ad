"""A simulated Hudi table: the effect of commits and of Hudi's table services, and what they cost.

A compaction puts the live rows of a file slice into a new base file. How many those are is an expected value,
from the keys that commits hit (`bench.engines.simulated.live_rows`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.engines.contract import (
    NO_COST,
    Change,
    Cores,
    Cost,
    InlineCompaction,
    TableSpec,
    Tag,
    Version,
)
from bench.engines.hudi.inline import inline_rule
from bench.engines.hudi.ledger import HudiLedger
from bench.engines.hudi.model.coefficients import HudiCoefficients
from bench.engines.hudi.model.commits import Writer, is_upsert
from bench.engines.hudi.model.files import FileMaker
from bench.engines.hudi.model.groups import Groups
from bench.engines.hudi.model.storage import Storage
from bench.engines.hudi.model.timeline import Entry, Timeline
from bench.engines.hudi.table_keys import READ_OPTIMIZED, is_merge_on_read
from bench.engines.simulated.costs import Work
from bench.engines.simulated.key_ranges import may_meet, wanted_keys
from bench.engines.simulated.model import Committed, Staging
from strategies.hudi.clustering_plan import clustering_options, plan_clustering
from strategies.hudi.commands import METADATA_COMMANDS, Command
from strategies.hudi.files import Action as InstantAction
from strategies.hudi.files import BaseFile, FileSlice, LogFile
from strategies.hudi.log_compaction_plan import blocks_min, plan_log_compaction
from strategies.hudi.preview import NO_REWRITE, planned_compaction
from strategies.plan import Action, Native
from strategies.preview import NoPreview, Preview, even_share
from strategies.triggers import RuleMemory
from workloads.commit import CommitSpec

_INSTANTS: Mapping[Command, InstantAction] = {
    Command.COMPACTION: InstantAction.COMMIT,
    Command.LOG_COMPACTION: InstantAction.DELTA_COMMIT,
    Command.CLUSTERING: InstantAction.REPLACE_COMMIT,
}
_READ_OPTIMIZED = re.compile(rf"\b{READ_OPTIMIZED}\b", re.IGNORECASE)
_File = BaseFile | LogFile


@dataclass(frozen=True, slots=True)
class Merge:
    """File slices that a plan merges together, and into how many files."""

    slices: tuple[FileSlice, ...]
    outputs_count: int = 1


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A plan on the timeline: the number of its instant, and what it merges.

    Log files that a group gets afterwards are not in it. Without anything to merge there is no instant.
    """

    number: int
    merges: tuple[Merge, ...] = ()

    @property
    def slices(self) -> list[FileSlice]:
        """All file slices."""
        return [each for merge in self.merges for each in merge.slices]


class HudiTableModel:
    """The format model of Hudi (see `FormatModel`). It stages what Hudi schedules."""

    def __init__(
        self, spec: TableSpec, coefficients: HudiCoefficients, cores: Cores, ledger: HudiLedger
    ) -> None:
        self._spec, self._coefficients, self._cores, self.ledger = spec, coefficients, cores, ledger
        self._groups, self._maker = Groups(ledger), FileMaker(spec.schema, coefficients)
        self._writer = Writer(spec, self._groups, self._maker, coefficients.data.key_column_ratio)
        self._timeline, self._storage = Timeline(coefficients.timeline, ledger), Storage()
        self._is_merge_on_read = is_merge_on_read(spec)
        self._inline = inline_rule(spec.properties)
        self._pending: dict[int, tuple[Command, Scheduled]] = {}

    @property
    def live_rows(self) -> int:
        return self._groups.live_rows

    @property
    def physical_rows(self) -> int:
        return sum(file.rows for _, group in self._groups.items() for file in group.read)

    @property
    def content_bytes(self) -> int:
        """Without Hudi's own columns, as in the files that a real table is dumped to."""
        return self._spec.schema.expected_bytes(self.live_rows)

    @property
    def opened_metadata_files_count(self) -> int:
        return self._timeline.active_count

    @property
    def data_storage_bytes(self) -> int:
        return self._storage.size_bytes

    @property
    def metadata_storage_bytes(self) -> int:
        return self._timeline.storage_bytes

    def create(self) -> None:
        self._timeline.create()

    def commit(self, spec: CommitSpec, tag: Tag) -> Committed:
        action = InstantAction.DELTA_COMMIT if self._is_merge_on_read else InstantAction.COMMIT
        number = self._timeline.request(action, tag.at_ms)
        written = self._writer.commit(spec, tag.at_ms)
        entry = self._timeline.complete(number, tag.at_ms, len(written.added), written.partitions)
        version = self._version(entry, action, written.added, written.removed, tag)
        self._store(written.added, written.removed, number)
        operation = self._coefficients.upsert if is_upsert(spec) else self._coefficients.commit
        work = Work(
            len(written.added), read_bytes=written.read_bytes, written_bytes=version.change.added_bytes,
            tasks_count=len(written.added),
        )  # fmt: skip
        cost = self._coefficients.price(operation, work, self._cores.writer)
        compactions, idle_cost = self._compact_by_itself(tag.at_ms)
        return Committed(version, cost + idle_cost, compactions)

    def _compact_by_itself(self, at_ms: int) -> tuple[tuple[InlineCompaction, ...], Cost]:
        """What inline compaction does after a commit, and what it costs if it has nothing to do.

        Whatever is pending is executed first, whoever has scheduled it.
        """
        if self._inline is None:
            return (), NO_COST
        done = [
            self._merge(command, scheduled, at_ms, None, self._cores.writer)
            for command, scheduled in list(self._pending.values())
            if command is Command.COMPACTION
        ]
        idle_cost = NO_COST
        if self._inline.trigger.due(self.ledger.state(at_ms), RuleMemory()):
            plan = self._inline.planner.decide(self.ledger.state(at_ms))
            for action in plan.actions if plan else ():
                staging = self.stage(action, NoPreview("not asked for"), at_ms)
                if staging.prepared.merges:
                    versions, cost = self._merge(
                        Command.COMPACTION, staging.prepared, at_ms, None, self._cores.writer
                    )
                    done.append((versions, cost + staging.cost))
                else:
                    idle_cost += staging.cost
        compactions = tuple(
            InlineCompaction(cost, versions, Command.COMPACTION, is_sorted=False) for versions, cost in done
        )
        return compactions, idle_cost

    def stage(self, action: Action, preview: Preview | NoPreview, at_ms: int) -> Staging[Scheduled]:
        """Schedule a service: write its plan, if it has anything to do."""
        if not isinstance(action, Native):
            raise ValueError(NO_REWRITE)
        command = Command(action.command)
        merges, missing_partitions = self._planned(command, action, at_ms)
        work, cores = Work(len(self.ledger.data_files)), self._cores.compactor
        if not merges:
            cost = self._coefficients.price(self._coefficients.noop_compaction, work, cores)
            return Staging(Scheduled(0), cost)
        is_log_compaction = command is Command.LOG_COMPACTION
        number = self._timeline.request(
            _INSTANTS[command], at_ms, missing_partitions, is_log_compaction=is_log_compaction
        )
        scheduled = Scheduled(number, merges)
        self._pending[number] = command, scheduled
        self.ledger.pending_groups |= {each.group for each in scheduled.slices}
        return Staging(scheduled, self._coefficients.price(self._coefficients.scheduling, work, cores))

    def _planned(
        self, command: Command, action: Native, at_ms: int
    ) -> tuple[tuple[Merge, ...], tuple[str, ...] | None]:
        """What a service merges, and the partitions that its plan notes for the next one."""
        state, target_bytes = self.ledger.state(at_ms), self._spec.target_file_size_bytes
        match command:
            case Command.COMPACTION:
                plan = planned_compaction(action, state)
                return tuple(Merge((each.slice,)) for each in plan.operations), plan.missing_partitions
            case Command.LOG_COMPACTION:
                slices = plan_log_compaction(state, blocks_min(action.options))
                return tuple(Merge((each,)) for each in slices), None
            case _:
                options = clustering_options(action.options, target_bytes)
                clustering = plan_clustering(state, options, target_bytes)
                merges = tuple(Merge(group.slices, group.outputs_count) for group in clustering.groups)
                return merges, clustering.missing_partitions

    def execute(
        self, action: Action, preview: Preview | NoPreview, staged: Scheduled | None, tag: Tag
    ) -> tuple[tuple[Version, ...], Cost]:
        if not isinstance(action, Native):
            raise ValueError(NO_REWRITE)
        command = Command(action.command)
        if command in METADATA_COMMANDS:
            return self._maintain(command, action.arguments, tag)
        if staged is None:
            raise ValueError("a table service has to be scheduled before it is executed")
        if staged.number not in self._pending:  # nothing to merge, or a commit has done it
            return (), NO_COST
        return self._merge(command, staged, tag.at_ms, tag, self._cores.compactor)

    def _merge(
        self, command: Command, staged: Scheduled, at_ms: int, tag: Tag | None, cores: int
    ) -> tuple[tuple[Version, ...], Cost]:
        """Execute a plan: each of its groups of slices becomes so many files."""
        del self._pending[staged.number]
        added: list[_File] = []
        for merge in staged.merges:
            added += self._merged(command, merge, at_ms)
        read = [file for each in staged.slices for file in _files(each)]
        removed = () if command is Command.LOG_COMPACTION else read
        self.ledger.pending_groups -= {each.group for each in staged.slices}
        partitions = {file.partition for file in added}
        action = _INSTANTS[command]
        entry = self._timeline.complete(
            staged.number, at_ms, len(added), partitions, slices_count=len(staged.slices)
        )
        version = self._version(entry, action, added, removed, tag)
        self._store(added, removed, staged.number)
        if command is not Command.CLUSTERING:
            self._writer.row_bytes.note(added)
        logs = [file for file in read if isinstance(file, LogFile)]
        work = Work(
            len(read) - len(logs), len(logs), sum(file.size_bytes for file in read),
            sum(log.size_bytes for log in logs), version.change.added_bytes, len(added),
        )  # fmt: skip
        return (version,), self._coefficients.price(self._coefficients.rewrite, work, cores)

    def _merged(self, command: Command, merge: Merge, at_ms: int) -> Sequence[_File]:
        """The files that replace those of slices: a base file of the group, a log file, or new groups."""
        slices, outputs_count = merge.slices, merge.outputs_count
        gone = [file for each in slices for file in _files(each)]
        rows = self._groups.kept(gone)
        match command:
            case Command.LOG_COMPACTION:
                logs = slices[0].logs
                deletes = self._groups.deletes(logs)
                log = self._maker.log(slices[0].group, self._groups.kept(logs), deletes)
                self._groups.merge_logs(log, logs, at_ms)
                return [log]
            case Command.COMPACTION:
                base = self._maker.base(slices[0].group, rows)
                self._groups.replace_base(base, gone, at_ms)
                return [base]
            case _:
                partition = slices[0].group.partition
                bases = [
                    self._maker.base(self._maker.group(partition), even_share(rows, index, outputs_count))
                    for index in range(outputs_count)
                ]
                self._groups.cluster(bases, [each.group for each in slices], at_ms)
                return bases

    def _maintain(
        self, command: Command, arguments: Mapping[str, str], tag: Tag
    ) -> tuple[tuple[Version, ...], Cost]:
        """Clean or archive, if there is anything to."""
        work = Work(self._storage.files_count)
        cost = self._coefficients.price(self._coefficients.maintenance, work, self._cores.compactor)
        if command is Command.ARCHIVE:
            least, most = int(arguments["min_commits"]), int(arguments["max_commits"])
            moved = self._timeline.archive(least, most)
            return ((self._service(command, tag),) if moved else (), cost)
        earliest = self._timeline.earliest_of(int(arguments["retain_commits"]))
        if earliest is None or not self._storage.clean(earliest):
            return (), cost
        return (self._service(command, tag),), cost

    def _service(self, command: Command, tag: Tag) -> Version:
        """What cleaning or archiving leaves on the timeline; readers see no other version of the table."""
        entry = self._timeline.service()
        change = Change(metadata_bytes=entry.size_bytes, metadata_files_count=entry.files_count)
        return Version(None, command.removeprefix("hudi."), change, tag)

    def _store(self, added: Iterable[_File], removed: Iterable[_File], number: int) -> None:
        self._storage.write(added)
        self._storage.replace(removed, number)

    def _version(
        self, entry: Entry, operation: str, added: Sequence[_File], removed: Sequence[_File], tag: Tag | None
    ) -> Version:
        change = Change(
            files_added_count=_count(added, BaseFile),
            files_removed_count=_count(removed, BaseFile),
            delete_files_added_count=_count(added, LogFile),
            delete_files_removed_count=_count(removed, LogFile),
            added_bytes=sum(file.size_bytes for file in added),
            replaced_bytes=sum(file.size_bytes for file in removed),
            metadata_bytes=entry.size_bytes,
            metadata_files_count=entry.files_count,
        )
        return Version(str(entry.number), str(operation), change, tag)

    def opened(self, sql: str) -> Work:
        """All files of the latest slices, or for `orders_ro` their base files."""
        wanted = wanted_keys(sql)
        files = [
            file
            for file in self.ledger.data_files.values()
            if wanted is None or may_meet(wanted, self._groups.keys(file.path))
        ]
        data_bytes = sum(file.size_bytes for file in files)
        if _READ_OPTIMIZED.search(sql):
            return Work(len(files), read_bytes=data_bytes, tasks_count=len(files))
        logs = self.ledger.delete_files.values()
        log_bytes = sum(log.size_bytes for log in logs)
        return Work(
            len(files), len(logs), data_bytes + log_bytes, log_bytes, tasks_count=len(self.ledger.data_files)
        )


def _files(merged: FileSlice) -> tuple[_File, ...]:
    """The files of a slice."""
    return merged.logs if merged.base is None else (merged.base, *merged.logs)


def _count(files: Iterable[_File], kind: type[_File]) -> int:
    return sum(isinstance(file, kind) for file in files)
