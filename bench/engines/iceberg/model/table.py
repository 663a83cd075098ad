"""A simulated Iceberg table: the effect of commits, rewrites and maintenance on files and metadata.

A merged file has the live rows of the files it replaces. How many those are is an expected value, from the
keys that commits hit (`live_rows`).
"""

from collections.abc import Collection

from bench.engines.contract import EngineSettings, InlineCompaction, Tag, Version
from bench.engines.iceberg.ledger import iceberg_ledger
from bench.engines.iceberg.model.coefficients import IcebergCoefficients
from bench.engines.iceberg.model.files import FileMaker, keys_of, span_of
from bench.engines.iceberg.model.metadata import SimulatedMetadata
from bench.engines.iceberg.model.rewrite import (
    Prepared,
    Replacement,
    conflict,
    prepare,
)
from bench.engines.iceberg.model.scan import Scan
from bench.engines.simulated.costs import Work
from bench.engines.simulated.key_ranges import wanted_keys
from bench.engines.simulated.live_rows import LiveRows
from bench.results.values import NO_COST, Change, Cost
from strategies.iceberg.commands import METADATA_COMMANDS, Command
from strategies.iceberg.dropped_deletes import aged, below_oldest, dangling, removes_dangling
from strategies.iceberg.files import IcebergDataFile, IcebergDeleteFile, KeyBounds
from strategies.plan import Action, Native, Rewrite
from strategies.preview import NoPreview, Preview
from workloads.commit import CommitSpec

_WORKER_THREADS_MIN = 2  # iceberg.worker.num-threads: as many as there are cores, at least two


class IcebergTableModel:
    """The format model of Iceberg (see `FormatModel`)."""

    def __init__(self, settings: EngineSettings, coefficients: IcebergCoefficients) -> None:
        self._spec, self._cores, self._coefficients = settings.table, settings.cores, coefficients
        spec = self._spec
        self.ledger = iceberg_ledger(
            spec.target_file_size_bytes, spec.properties, stream_epoch_ms=spec.stream_epoch_ms
        )
        self._metadata = SimulatedMetadata(coefficients.metadata)
        self._maker = FileMaker(spec.schema, coefficients, spec.files_per_commit)
        self._rows = LiveRows()
        self._scan: Scan | None = Scan()  # None: counted again when it is needed
        self._sequence_number = 0

    @property
    def live_rows(self) -> int:
        return self._rows.total

    @property
    def physical_rows(self) -> int:
        return sum(file.rows for file in self.ledger.data_files.values())

    @property
    def content_bytes(self) -> int:
        return self._coefficients.table_bytes(self._spec.schema, self.live_rows)

    @property
    def opened_metadata_files_count(self) -> int:
        return self._metadata.manifests_count

    @property
    def data_storage_bytes(self) -> int:
        return self._metadata.data_storage_bytes

    @property
    def metadata_storage_bytes(self) -> int:
        return self._metadata.metadata_storage_bytes

    def create(self) -> None:
        self._metadata.create()

    def commit(self, spec: CommitSpec, tag: Tag) -> tuple[Version, Cost, tuple[InlineCompaction, ...]]:
        self._rows.commit(spec)
        new_files, deletes = self._maker.commit(spec, self._sequence_number + 1)
        for file, live_rows in new_files:
            self._rows.add(file, live_rows, keys_of(file))
        data = [file for file, _ in new_files]
        version = self._snapshot(tag, "overwrite" if deletes else "append", (), data, deletes)
        if self._scan is not None:
            self._scan.add(data, deletes)
        tasks_count = len(data) or len(deletes)
        work = Work(
            len(data) + len(deletes), written_bytes=version.change.added_bytes, tasks_count=tasks_count
        )
        cost = self._coefficients.price(self._coefficients.commit, work, self._cores.writer)
        return version, cost, ()

    def stage(self, action: Action, preview: Preview | NoPreview, at_ms: int) -> tuple[Prepared, Cost]:
        if not isinstance(action, Rewrite):
            raise ValueError("Iceberg's procedures plan and commit in one call")
        data, deletes = self.ledger.data_files, self.ledger.delete_files
        missing = next((key for key in action.keys if key not in data and key not in deletes), None)
        if missing:
            raise ValueError(f"{missing} is no longer live")
        prepared = self._prepare(action, preview)
        return prepared, prepared.cost

    def _prepare(self, action: Action, preview: Preview | NoPreview) -> Prepared:
        if isinstance(preview, NoPreview):
            raise ValueError(preview.reason)
        return prepare(
            action, preview, self.ledger, self._rows, self._sequence_number, self._spec.schema,
            self._coefficients, self._cores.compactor,
        )  # fmt: skip

    def execute(
        self, action: Action, preview: Preview | NoPreview, staged: Prepared | None, tag: Tag
    ) -> tuple[tuple[Version, ...], Cost]:
        if isinstance(action, Native) and action.command in METADATA_COMMANDS:
            return self._maintain(action, tag), self._price_maintenance()
        if staged is not None:
            return self._rewrite(staged, tag), NO_COST
        prepared = self._prepare(action, preview)
        versions, cost = self._rewrite(prepared, tag), prepared.cost
        options = {} if isinstance(action, Rewrite) else action.options
        if removes_dangling(options) and prepared.replaced and self._spec.partitioning.column:
            return versions + self._remove_dangling(tag), cost + self._price_maintenance()
        return versions, cost

    def _maintain(self, action: Native, tag: Tag) -> tuple[Version, ...]:
        if action.command == Command.REWRITE_MANIFESTS:
            written_bytes, files_count = self._metadata.rewrite(tag.at_ms)
            operation = "replace"
        else:
            keep_from_ms = int(action.arguments["older_than_at_ms"])
            retain_last = int(action.arguments.get("retain_last", "1"))
            written_bytes, files_count = self._metadata.expire(keep_from_ms, retain_last)
            operation = "metadata"
        change = Change(metadata_bytes=written_bytes, metadata_files_count=files_count)
        return (Version(None, operation, change, tag),) if files_count else ()

    def _remove_dangling(self, tag: Tag) -> tuple[Version, ...]:
        """`remove-dangling-deletes`: a separate commit, which does nothing for an unpartitioned table."""
        gone = dangling(map(aged, self.ledger.data_files.values()), self.ledger.delete_files.values())
        return (self._snapshot(tag, "replace", gone),) if gone else ()

    def _rewrite(self, prepared: Prepared, tag: Tag) -> tuple[Version, ...]:
        """Commit a rewrite: add data files and position deletes, and remove the files they replace.

        New data files get the sequence number at which the plan was made (use-starting-sequence-number), new
        delete files that of this commit. The commit also drops delete files that are older than all data of
        the table, but only from as many manifests as Iceberg has worker threads (effect of its code since
        1.8, PR #11131); the others stay until a later commit and apply to nothing. Here the oldest manifests
        are first.
        """
        data, deletes = self.ledger.data_files, self.ledger.delete_files
        if problem := conflict(prepared, data, deletes, self._sequence_number):
            raise ValueError(problem)
        outputs = [
            file
            for replacement in prepared.replaced
            for file in self._outputs(replacement, prepared.sequence_number)
        ]
        number = self._sequence_number + 1
        positions = [
            self._maker.position_deletes(file, rows, number) for file, rows in prepared.converted if rows
        ]
        gone = {file.path: file for file in prepared.replaced_files}
        removed = [*gone, *prepared.removed_deletes]
        if not removed and not positions:
            return ()
        if gone:
            removed += self._dropped_by_commit(outputs, frozenset(removed))
        self._scan = None
        return (self._snapshot(tag, "replace", removed, outputs, positions),)

    def _outputs(self, replacement: Replacement, sequence_number: int) -> list[IcebergDataFile]:
        """The files that replace those of a group, one for each task with rows."""
        span = span_of(replacement.files)
        outputs = [
            self._maker.data_file(rows, replacement.partition, span, sequence_number)
            for rows in replacement.rows
            if rows
        ]
        self._rows.replace((file.path for file in replacement.files), outputs)
        return outputs

    def _dropped_by_commit(self, outputs: Collection[IcebergDataFile], removed: Collection[str]) -> list[str]:
        data = [file for path, file in self.ledger.data_files.items() if path not in removed]
        deletes = (delete for key, delete in self.ledger.delete_files.items() if key not in removed)
        threads = max(_WORKER_THREADS_MIN, self._cores.compactor)
        return self._metadata.first_deletes(below_oldest(map(aged, [*data, *outputs]), deletes), threads)

    def _snapshot(
        self, tag: Tag, operation: str, removed: Collection[str], data: Collection[IcebergDataFile] = (),
        deletes: Collection[IcebergDeleteFile] = (),
    ) -> Version:  # fmt: skip
        """Commit one snapshot, which removes and adds files, to the ledger and the metadata."""
        self._sequence_number += 1
        live_bytes = self.ledger.size_bytes
        removed_deletes_count = sum(key in self.ledger.delete_files for key in removed)
        self.ledger.remove(removed)
        replaced_bytes = live_bytes - self.ledger.size_bytes
        self.ledger.add([*data, *deletes], tag.at_ms)
        added_bytes = self.ledger.size_bytes - live_bytes + replaced_bytes
        metadata_bytes, metadata_files_count = self._metadata.commit(
            tag.at_ms, [file.path for file in data], removed, added_bytes, replaced_bytes,
            [file.path for file in deletes],
        )  # fmt: skip
        change = Change(
            len(data), len(removed) - removed_deletes_count, len(deletes), removed_deletes_count,
            added_bytes, replaced_bytes, metadata_bytes, metadata_files_count,
        )  # fmt: skip
        return Version(str(self._sequence_number), operation, change, tag)

    def opened(self, sql: str) -> Work:
        if self._scan is None:
            self._scan = Scan.of(self.ledger.state(0))
        wanted = wanted_keys(sql)
        if wanted is None:
            return self._scan.all(len(self.ledger.data_files), self.ledger.data_bytes)
        bounds, data = KeyBounds(*wanted), self.ledger.data_files.values()
        return self._scan.some(file for file in data if bounds.meets(file.key_bounds))

    def _price_maintenance(self) -> Cost:
        return self._coefficients.price(self._coefficients.maintenance, Work(), self._cores.compactor)
