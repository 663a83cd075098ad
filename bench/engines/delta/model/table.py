"""A simulated Delta table: effects and costs of commits, queries and Delta's commands.

A rewritten file has the live rows of the files it replaces. Their number is an expected value, derived from
the keys that commits hit (`bench.engines.simulated.live_rows`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bench.engines.contract import EngineSettings, InlineCompaction, Tag, Version
from bench.engines.delta.ledger import delta_ledger
from bench.engines.delta.model.auto_compaction import OPTIONS, AutoCompaction
from bench.engines.delta.model.changes import ChangeMaker, Changes
from bench.engines.delta.model.coefficients import DeltaCoefficients
from bench.engines.delta.model.files import FileMaker
from bench.engines.delta.model.log import SimulatedLog
from bench.engines.delta.model.recorded import RecordedCommits
from bench.engines.delta.model.versions import Versions
from bench.engines.delta.model.writers import is_merge
from bench.engines.delta.properties import table_properties, writer_properties
from bench.engines.delta.table_keys import CODEC_CONF, DEFAULT_CODEC, MERGE_ON_READ, clustering_columns_of
from bench.engines.rewrite_work import rewrite_work
from bench.engines.simulated.contents import Contents, Opened
from bench.engines.simulated.model import ConflictError, LostCommit
from bench.engines.simulated.recorded_rows import RecordedRows, file_rows
from bench.engines.simulated.selection import EVERYTHING, selection_of
from bench.engines.spark.conf import join_tasks
from bench.results.values import NO_COST, Change, CommitWork, MaintenanceWork, RewriteWork, ScanWork
from strategies.delta.commands import METADATA_COMMANDS, NO_REWRITE, Command
from strategies.delta.compaction import batches, plan_compaction
from strategies.delta.files import DeltaDataFile
from strategies.delta.optimize_options import optimize_options
from strategies.plan import Action, Native, Rewrite
from strategies.preview import NoPreview, Preview
from strategies.series import Files, rows_of, size_of
from workloads.commit import CommitSpec

_OPERATIONS = {Command.REORG: "REORG", Command.REPARTITION: "WRITE"}  # others: OPTIMIZE


@dataclass(frozen=True, slots=True)
class Prepared:
    """What OPTIMIZE has read: the key of the deletion vector of each data file, by its path."""

    preview: Preview
    vector_keys: Mapping[str, str | None]


class DeltaTableModel:
    """The `FormatModel` of Delta.

    With a virtual clock it stages nothing, because Delta's commands choose files when they run.
    REPARTITION may trigger automatic compaction as commits do; this is not modelled.
    """

    metadata_commands = METADATA_COMMANDS
    stages_files = False

    def __init__(self, settings: EngineSettings, coefficients: DeltaCoefficients) -> None:
        """Raises ScenarioError for a setting of Spark that is invalid."""
        spec = self._spec = settings.table
        self._coefficients = coefficients
        self.ledger = delta_ledger(
            spec.target_file_size_bytes, table_properties(spec), clustering_columns_of(spec),
            spec.stream_epoch_ms,
        )  # fmt: skip
        self._codec = settings.spark.conf.get(CODEC_CONF, DEFAULT_CODEC)
        properties = writer_properties(table_properties(spec))
        rows, maker = file_rows(spec.schema), FileMaker(spec.schema, coefficients, self._codec)
        self._contents = Contents(rows)
        self._recorded = (
            RecordedCommits(self.ledger, self._contents, rows, maker, spec.schema, coefficients)
            if isinstance(rows, RecordedRows)
            else None
        )
        self._maker = ChangeMaker(
            spec, maker, self._contents, coefficients,
            optimizes_writes=properties.optimizes_writes, join_tasks_count=join_tasks(settings.spark.conf),
        )  # fmt: skip
        self._log = SimulatedLog(coefficients.log, properties.checkpoint_interval)
        self._compacts_by_itself, self._automatic = properties.compacts_by_itself, AutoCompaction()
        self._versions = Versions(self.ledger, self._log, self._automatic, self._contents.keys)

    @property
    def live_rows(self) -> int:
        return self._contents.live_rows

    @property
    def physical_rows(self) -> int:
        return self.ledger.data_rows

    @property
    def content_bytes(self) -> int:
        return self._coefficients.table_bytes(self._spec.schema, self.live_rows, codec=self._codec)

    @property
    def stored_bytes(self) -> tuple[int, int]:
        return self._versions.storage.size_bytes, self._log.storage_bytes

    def create(self) -> None:
        """Write version 0, which has the schema and no file."""
        self.ledger.version = str(self._log.append(0, 0).version)

    def commit(self, spec: CommitSpec, tag: Tag) -> tuple[Version, tuple[InlineCompaction, ...]]:
        """The files at the start of an imported table are none that automatic compaction has seen written."""
        scanned_files_count, scanned_rows = self._scanned(spec) or (None, None)
        changes = self._changes(spec)
        version = self._versions.write(changes, tag.at_ms, tag)
        work = replace(version.work, scanned_files_count=scanned_files_count, scanned_rows=scanned_rows)
        version = replace(version, work=work)
        if self._recorded is not None and spec.is_initial:
            self._automatic.forget()
            return version, ()
        return version, self._compact_by_itself(changes, tag.at_ms)

    def _scanned(self, spec: CommitSpec) -> tuple[int, int] | None:
        """MERGE reads the keys of all files to find those that it changes."""
        if self._recorded is not None:
            return self._recorded.scanned(spec)
        return (len(self.ledger.data_files), self.ledger.data_rows) if is_merge(spec) else None

    def _changes(self, spec: CommitSpec) -> Changes:
        if self._recorded is not None:
            return self._recorded.changes(spec)
        data = self.ledger.data_files
        touched = [(data.at(*place), left) for place, (_, left) in self._contents.commit(spec).items()]
        return self._maker.of_commit(spec, touched)

    def _compact_by_itself(self, changes: Changes, at_ms: int) -> tuple[InlineCompaction, ...]:
        """Automatic compaction after a commit. A search that finds nothing to compact costs nothing here.

        A commit that writes only vectors does not trigger it (TransactionalWrite.writeFiles).
        """
        if not self._compacts_by_itself or not changes.added:
            return ()
        marked = (vector.partition for vector in changes.vectors)  # their data files are added again
        due = self._automatic.due((*(run.first.partition for run in changes.added), *marked))
        if not due:
            return ()
        preview = plan_compaction(self.ledger.state(at_ms), OPTIONS, due)
        versions = self._rewrite(preview, "OPTIMIZE", OPTIONS.batch_bytes, at_ms, None)
        self._automatic.compacted(due)
        if not versions:
            return ()
        work = rewrite_work([preview])
        return (InlineCompaction(NO_COST, versions, Command.OPTIMIZE, preview.is_sorted, work),)

    def lost(self, spec: CommitSpec, staged: Prepared) -> LostCommit | None:
        """MERGE reads the whole table, so it loses against any files that OPTIMIZE replaces meanwhile.

        Source: ConflictChecker of Delta 3.3 with Serializable, its only isolation level. Files that a commit
        adds are no conflict only if it read none, whether its data has changed or not.
        """
        if self._recorded is not None or not is_merge(spec) or not staged.preview.groups:
            return None
        data = self.ledger.data_files
        touched = Files(data.at(*place) for place in self._contents.losing(spec, data.runs))
        is_marked = self._spec.upsert_mode == MERGE_ON_READ
        gone, marked_count = (Files[DeltaDataFile](()), len(touched)) if is_marked else (touched, 0)
        change = Change(
            len(spec.partitions), len(gone), marked_count, added_bytes=spec.expected_bytes + size_of(gone),
            replaced_bytes=size_of(gone), replaced_rows=rows_of(gone),
        )  # fmt: skip
        files_count, rows = len(data), self.ledger.data_rows
        work = CommitWork(len(spec.partitions), files_count, rows, checkpointed_files_count=0)
        return LostCommit("ConcurrentAppendException: files were added by a concurrent update", change, work)

    def begin(self, spec: CommitSpec) -> None:
        """What is only staged is not in the table, and refuses nothing."""

    def overtaken(self, spec: CommitSpec) -> None: ...

    def stage(self, action: Action, preview: Preview | NoPreview, at_ms: int) -> Prepared:
        if isinstance(action, Rewrite):
            raise ValueError(NO_REWRITE)
        if isinstance(preview, NoPreview):
            raise ValueError(preview.reason)
        files = (file for group in preview.groups for file in group.files)
        return Prepared(preview, {file.path: self._vector_key(file.path) for file in files})

    def _conflict(self, staged: Prepared) -> str | None:
        """Why OPTIMIZE cannot commit: another commit has removed a file that it read, or marked rows of it.

        A commit that only adds files is no conflict. Source: ConflictChecker and OptimizeTableCommand of
        Delta 3.3: OPTIMIZE commits with snapshot isolation, and starts again from the newest version as long
        as the files that it read, with their vectors, are live.
        """
        data = self.ledger.data_files
        for path, vector_key in staged.vector_keys.items():
            if path not in data:
                return f"ConcurrentDeleteReadException: {path} has been removed"
            if self._vector_key(path) != vector_key:
                return f"ConcurrentDeleteReadException: rows of {path} have been deleted"
        return None

    def _vector_key(self, path: str) -> str | None:
        vector = self._versions.vectors.get(path)
        return None if vector is None else vector.key

    def execute(
        self, action: Action, preview: Preview | NoPreview, staged: Prepared | None, tag: Tag
    ) -> tuple[Version, ...]:
        if isinstance(action, Rewrite):
            raise ValueError(NO_REWRITE)
        command = Command(action.command) if isinstance(action, Native) else Command.OPTIMIZE
        if isinstance(action, Native) and command is Command.VACUUM:
            return self._vacuum(int(action.arguments["older_than_at_ms"]), tag)
        if staged is not None:
            if problem := self._conflict(staged):
                raise ConflictError(problem)
            preview = staged.preview
        if isinstance(preview, NoPreview):
            raise ValueError(preview.reason)
        options = optimize_options(action.options, self._spec.target_file_size_bytes)
        operation = _OPERATIONS.get(command, "OPTIMIZE")
        return self._rewrite(preview, operation, options.batch_bytes, tag.at_ms, tag)

    def _vacuum(self, older_than_ms: int, tag: Tag) -> tuple[Version, ...]:
        """On a local file system VACUUM is two commits."""
        start = self._versions.write(Changes("VACUUM START"), tag.at_ms, tag)
        deleted_count = self._versions.storage.delete(older_than_ms)
        end = self._versions.write(Changes("VACUUM END"), tag.at_ms, tag)
        return start, replace(end, maintenance=MaintenanceWork(deleted_files_count=deleted_count))

    def _rewrite(
        self, preview: Preview, operation: str, batch_bytes: int | None, at_ms: int, tag: Tag | None
    ) -> tuple[Version, ...]:
        """A version for each batch; a batch that adds no file commits nothing."""
        clusters = operation != _OPERATIONS[Command.REPARTITION]
        columns = self.ledger.state(at_ms).clustering_columns if clusters else ()
        versions: list[Version] = []
        for batch in batches(preview.groups, batch_bytes):
            live = [(group, self.ledger.data_files.located(group.files)) for group in batch]
            changes = self._maker.of_batch(live, operation, columns)
            if changes is not None:
                versions.append(self._versions.write(changes, at_ms, tag))
        return tuple(versions)

    def work_of(self, staged: Prepared) -> RewriteWork:
        return rewrite_work([staged.preview])

    def opened(self, sql: str) -> ScanWork:
        wanted = selection_of(sql, self._spec.partitioning)
        data, vectors = self.ledger.data_files, self._versions.vectors
        if wanted == EVERYTHING:
            files = Opened(len(data), self.ledger.data_bytes, self.ledger.data_rows)
            marked = Opened(len(vectors), self.ledger.size_bytes - self.ledger.data_bytes)
        else:
            files, marked = self._contents.opened(wanted, data.runs), self._versions.opened(wanted)
        return ScanWork(
            files.files_count,
            marked.files_count,
            files.size_bytes + marked.size_bytes,
            self._log.read_files_count,
            read_rows=files.rows,
            delete_bytes=marked.size_bytes,
        )
