"""A simulated Delta table: effects and costs of commits, queries and Delta's commands.

A rewritten file has the live rows of the files it replaces. Their number is an expected value, derived from
the keys that commits hit (`bench.engines.simulated.live_rows`).
"""

from collections.abc import Collection
from dataclasses import replace

from bench.engines.contract import EngineSettings, InlineCompaction, Tag, Version
from bench.engines.delta.ledger import delta_ledger
from bench.engines.delta.model.auto_compaction import OPTIONS, AutoCompaction
from bench.engines.delta.model.changes import ChangeMaker, Changes
from bench.engines.delta.model.coefficients import DeltaCoefficients
from bench.engines.delta.model.files import FileMaker
from bench.engines.delta.model.log import SimulatedLog
from bench.engines.delta.model.versions import Versions
from bench.engines.delta.model.writers import is_merge, join_tasks
from bench.engines.delta.properties import table_properties, writer_properties
from bench.engines.delta.table_keys import clustering_columns_of
from bench.engines.simulated.contents import Contents
from bench.engines.simulated.costs import Work
from bench.engines.simulated.selection import EVERYTHING, selection_of
from bench.results.values import NO_COST, Cost, MaintenanceWork
from strategies.delta.commands import NO_REWRITE, Command
from strategies.delta.compaction import batches, plan_compaction
from strategies.delta.files import DeltaDataFile
from strategies.delta.optimize_options import optimize_options
from strategies.plan import Action, Native, Rewrite
from strategies.preview import NoPreview, Preview
from workloads.commit import CommitSpec

_OPERATIONS = {Command.REORG: "REORG", Command.REPARTITION: "WRITE"}  # others: OPTIMIZE


class DeltaTableModel:
    """The `FormatModel` of Delta. It stages nothing, because Delta's commands choose files when they run.

    REPARTITION may trigger automatic compaction as commits do; this is not modelled.
    """

    def __init__(self, settings: EngineSettings, coefficients: DeltaCoefficients) -> None:
        """Raises ScenarioError for a property or a setting of Spark that is invalid."""
        spec = self._spec = settings.table
        self._cores, self._coefficients = settings.cores, coefficients
        self.ledger = delta_ledger(
            spec.target_file_size_bytes, table_properties(spec), clustering_columns_of(spec),
            spec.stream_epoch_ms,
        )  # fmt: skip
        properties = writer_properties(table_properties(spec))
        self._contents = Contents()
        self._maker = ChangeMaker(
            spec, FileMaker(spec.schema, coefficients), self._contents,
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
        return self._coefficients.table_bytes(self._spec.schema, self.live_rows)

    @property
    def opened_metadata_files_count(self) -> int:
        return self._log.read_files_count

    @property
    def data_storage_bytes(self) -> int:
        return self._versions.storage.size_bytes

    @property
    def metadata_storage_bytes(self) -> int:
        return self._log.storage_bytes

    def create(self) -> None:
        """Write version 0, which has the schema and no file."""
        self.ledger.version = str(self._log.append(0, 0).version)

    def commit(self, spec: CommitSpec, tag: Tag) -> tuple[Version, Cost, tuple[InlineCompaction, ...]]:
        data = self.ledger.data_files
        touched = [(data.at(*place), left) for place, (_, left) in self._contents.commit(spec).items()]
        operation, reading = self._coefficients.commit, Work(tasks_count=0)
        scanned_files_count = scanned_rows = None
        if is_merge(spec):
            scanned_files_count, scanned_rows = len(data), self.ledger.data_rows
            files = [run.first for run, _ in touched]
            operation, reading = self._coefficients.merge, self._read_by_merge(files)
        changes = self._maker.of_commit(spec, touched)
        version, checkpoint_cost = self._write(changes, tag.at_ms, tag)
        work = replace(version.work, scanned_files_count=scanned_files_count, scanned_rows=scanned_rows)
        version = replace(version, work=work)
        written_count = version.change.files_added_count
        writing = Work(written_count, written_bytes=version.change.added_bytes, tasks_count=written_count)
        cost = self._coefficients.price(operation, reading + writing, self._cores.writer)
        compactions, idle_cost = self._compact_by_itself(changes, tag.at_ms)
        return version, cost + checkpoint_cost + idle_cost, compactions

    def _read_by_merge(self, touched: Collection[DeltaDataFile]) -> Work:
        """MERGE reads the keys of all files to find the files it touches, and these completely."""
        files, vectors = self.ledger.data_files, self._versions.vectors
        data_bytes = sum(file.size_bytes for file in touched)
        applied = [vectors[file.path] for file in touched if file.path in vectors]
        keys_bytes = round(self.ledger.data_bytes * self._coefficients.data.key_column_ratio)
        return Work(
            files_count=len(files) + len(touched),
            delete_files_count=len(applied),
            read_bytes=keys_bytes + data_bytes + sum(vector.size_bytes for vector in applied),
            tasks_count=len(files),
        )

    def _compact_by_itself(self, changes: Changes, at_ms: int) -> tuple[tuple[InlineCompaction, ...], Cost]:
        """Automatic compaction after a commit, and the cost of a search that finds nothing to compact.

        A commit that writes only vectors does not trigger it (TransactionalWrite.writeFiles).
        """
        if not self._compacts_by_itself or not changes.added:
            return (), NO_COST
        marked = (vector.partition for vector in changes.vectors)  # their data files are added again
        due = self._automatic.due((*(run.first.partition for run in changes.added), *marked))
        if not due:
            return (), NO_COST
        preview = plan_compaction(self.ledger.state(at_ms), OPTIONS, due)
        versions, cost = self._rewrite(
            preview, "OPTIMIZE", OPTIONS.batch_bytes, at_ms, None, self._cores.writer
        )
        self._automatic.compacted(due)
        if not versions:
            return (), cost
        return (InlineCompaction(cost, versions, Command.OPTIMIZE, preview.is_sorted),), NO_COST

    def stage(self, action: Action, preview: Preview | NoPreview, at_ms: int) -> tuple[None, Cost]:
        raise ValueError(NO_REWRITE)

    def execute(
        self, action: Action, preview: Preview | NoPreview, staged: None, tag: Tag
    ) -> tuple[tuple[Version, ...], Cost]:
        if isinstance(action, Rewrite):
            raise ValueError(NO_REWRITE)
        command = Command(action.command) if isinstance(action, Native) else Command.OPTIMIZE
        if isinstance(action, Native) and command is Command.VACUUM:
            return self._vacuum(int(action.arguments["older_than_at_ms"]), tag)
        if isinstance(preview, NoPreview):
            raise ValueError(preview.reason)
        options = optimize_options(action.options, self._spec.target_file_size_bytes)
        operation = _OPERATIONS.get(command, "OPTIMIZE")
        return self._rewrite(preview, operation, options.batch_bytes, tag.at_ms, tag, self._cores.compactor)

    def _vacuum(self, older_than_ms: int, tag: Tag) -> tuple[tuple[Version, ...], Cost]:
        """On a local file system VACUUM is two commits."""
        work = Work(self._versions.storage.files_count)
        cost = self._coefficients.price(self._coefficients.maintenance, work, self._cores.compactor)
        start, start_cost = self._write(Changes("VACUUM START"), tag.at_ms, tag)
        deleted_count = self._versions.storage.vacuum(older_than_ms)
        end, end_cost = self._write(Changes("VACUUM END"), tag.at_ms, tag)
        end = replace(end, maintenance=MaintenanceWork(deleted_files_count=deleted_count))
        return (start, end), cost + start_cost + end_cost

    def _rewrite(
        self, preview: Preview, operation: str, batch_bytes: int | None, at_ms: int, tag: Tag | None,
        cores: int,
    ) -> tuple[tuple[Version, ...], Cost]:  # fmt: skip
        """A version for each batch; a batch that adds no file commits nothing."""
        clusters = operation != _OPERATIONS[Command.REPARTITION]
        columns = self.ledger.state(at_ms).clustering_columns if clusters else ()
        versions: list[Version] = []
        checkpoints_cost = NO_COST
        for batch in batches(preview.groups, batch_bytes):
            live = [(group, self.ledger.data_files.located(group.files)) for group in batch]
            changes = self._maker.of_batch(live, operation, columns)
            if changes is not None:
                version, checkpoint_cost = self._write(changes, at_ms, tag)
                versions.append(version)
                checkpoints_cost += checkpoint_cost
        written_bytes = sum(version.change.added_bytes for version in versions)
        cost = self._coefficients.rewrite_cost(preview, cores, written_bytes)
        return tuple(versions), cost + checkpoints_cost

    def _write(self, changes: Changes, at_ms: int, tag: Tag | None) -> tuple[Version, Cost]:
        """Commit one version; returns it with the cost of its checkpoint."""
        version, entry = self._versions.write(changes, at_ms, tag)
        if entry.checkpointed_count is None:
            return version, NO_COST
        work = Work(entry.checkpointed_count)
        return version, self._coefficients.price(self._coefficients.checkpoint, work, self._cores.writer)

    def opened(self, sql: str) -> Work:
        wanted = selection_of(sql, self._spec.partitioning)
        data, vectors = self.ledger.data_files, self._versions.vectors
        if wanted == EVERYTHING:
            vectors_bytes = self.ledger.size_bytes - self.ledger.data_bytes
            rows = self.ledger.data_rows
            return _scan(len(data), self.ledger.data_bytes, len(vectors), vectors_bytes, rows)
        files, marked = self._contents.opened(wanted, data.runs), self._versions.opened(wanted)
        return _scan(files.files_count, files.size_bytes, marked.files_count, marked.size_bytes, files.rows)


def _scan(files_count: int, data_bytes: int, vectors_count: int, vectors_bytes: int, rows: int) -> Work:
    return Work(
        files_count, vectors_count, read_bytes=data_bytes + vectors_bytes, delete_bytes=vectors_bytes,
        tasks_count=files_count, rows=rows,
    )  # fmt: skip
