"""A simulated Iceberg table: the effect of commits, rewrites and maintenance on files and metadata.

A merged file has the live rows of the files it replaces. How many those are is an expected value, from the
keys that commits hit (`live_rows`).
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import chain

from bench.engines.contract import (
    EngineSettings,
    InlineCompaction,
    Tag,
    Version,
    change_of,
    metadata_change,
)
from bench.engines.iceberg.conflicts import Effect, Kind, conflict_between
from bench.engines.iceberg.ledger import iceberg_ledger
from bench.engines.iceberg.model.coefficients import IcebergCoefficients
from bench.engines.iceberg.model.files import FileMaker, keys_of, span_of
from bench.engines.iceberg.model.merge import Merged, MergeMaker
from bench.engines.iceberg.model.metadata import Entries, SimulatedMetadata
from bench.engines.iceberg.model.recorded import RecordedCommits
from bench.engines.iceberg.model.rewrite import (
    Prepared,
    Replacement,
    conflict,
    effect_of,
    prepare,
)
from bench.engines.iceberg.model.scan import Scan
from bench.engines.iceberg.table_keys import CODEC_PROPERTY, COPY_ON_WRITE, DEFAULT_CODEC, MERGE_ON_READ
from bench.engines.simulated.contents import Contents
from bench.engines.simulated.model import ConflictError, LostCommit
from bench.engines.simulated.recorded_files import size_ratio
from bench.engines.simulated.recorded_rows import RecordedRows, file_rows
from bench.engines.simulated.rolling import rolled
from bench.engines.simulated.selection import Selection, selection_of
from bench.engines.spark.conf import join_tasks
from bench.results.values import Change, CommitWork, MaintenanceWork, RewriteWork, ScanWork
from strategies.iceberg.commands import METADATA_COMMANDS, Command
from strategies.iceberg.dropped_deletes import below_oldest, dangling, removes_dangling
from strategies.iceberg.files import IcebergDataFile, IcebergDeleteFile
from strategies.plan import Action, Native, Rewrite
from strategies.preview import NoPreview, Preview
from strategies.series import Files, Run, rows_of, size_of
from workloads.commit import CommitSpec
from workloads.recorded import NO_RECORDED_CHANGE

_WORKER_THREADS_MIN = 2  # iceberg.worker.num-threads: as many as there are cores, at least two


class IcebergTableModel:
    """The format model of Iceberg (see `FormatModel`)."""

    metadata_commands = METADATA_COMMANDS
    stages_files = True

    def __init__(self, settings: EngineSettings, coefficients: IcebergCoefficients) -> None:
        self._spec, self._cores, self._coefficients = settings.table, settings.cores, coefficients
        spec = self._spec
        self.ledger = iceberg_ledger(
            spec.target_file_size_bytes, spec.properties, stream_epoch_ms=spec.stream_epoch_ms
        )
        self._metadata = SimulatedMetadata(coefficients.metadata)
        self._codec = spec.properties.get(CODEC_PROPERTY, DEFAULT_CODEC).lower()
        self._maker = FileMaker(spec.schema, coefficients, spec.files_per_commit, self._codec)
        self._rows = file_rows(spec.schema)
        # Of a table that commits change by MERGE, which has to know the files that lose rows.
        merges = spec.upsert_mode in (MERGE_ON_READ, COPY_ON_WRITE) and not spec.schema.of_table
        self._contents = Contents(self._rows) if merges else None
        full_rows = coefficients.full_file_rows(spec.schema, spec.target_file_size_bytes, self._codec)
        join_tasks_count = join_tasks(settings.spark.conf)
        self._merges = MergeMaker(spec, self.ledger, self._maker, full_rows, join_tasks_count)
        self._scans: dict[Selection, Scan] = {}  # made when they are needed
        self._sequence_number = 0

    @property
    def live_rows(self) -> int:
        return self._rows.total

    @property
    def physical_rows(self) -> int:
        return self.ledger.data_rows

    @property
    def content_bytes(self) -> int:
        return self._coefficients.table_bytes(self._spec.schema, self.live_rows, codec=self._codec)

    @property
    def stored_bytes(self) -> tuple[int, int]:
        return self._metadata.data_storage_bytes, self._metadata.metadata_storage_bytes

    def create(self) -> None:
        self._metadata.create()

    def commit(self, spec: CommitSpec, tag: Tag) -> tuple[Version, tuple[InlineCompaction, ...]]:
        if isinstance(self._rows, RecordedRows):
            return self._commit_recorded(spec, tag, self._rows), ()
        if self._contents is not None and not spec.is_initial:
            return self._commit_merge(spec, tag, self._contents), ()
        rows = self._rows if self._contents is None else self._contents
        rows.commit(spec)
        new_runs, deletes = self._maker.commit(spec, self._sequence_number + 1)
        for run, live_rows in new_runs:
            rows.add(run, live_rows, keys_of(run.first))
        if deletes and not self.ledger.delete_files:
            self._scans.clear()  # without deletes, they have not counted what deletes apply to
        data = Files(run for run, _ in new_runs)
        version = self._snapshot(tag, "overwrite" if deletes else "append", data.runs, deletes)
        for scan in self._scans.values():
            scan.add(data, deletes)
        return version, ()

    def _commit_merge(self, spec: CommitSpec, tag: Tag, contents: Contents) -> Version:
        """Like a rewrite, it also drops delete files that are older than all data of the table."""
        files_count, rows = self._scanned
        touched = {place: left for place, (_, left) in contents.commit(spec).items()}
        merged = self._merges.of(spec, touched, contents, self._sequence_number + 1)
        for run in merged.added:
            contents.add(run, run.first.rows, keys_of(run.first))
        for one in merged.rewritten:
            contents.replace(one.gone, one.made, one.new_rows, one.keys)
        gone, dropped = merged.removed, merged.removed_deletes
        if self.ledger.delete_files:
            dropped += self._dropped_by_commit(merged.data, gone, dropped, self._cores.writer)
        self._update_scans(merged.data, gone, merged.deletes)
        version = self._snapshot(tag, "overwrite", merged.data, merged.deletes, gone, dropped)
        return replace(
            version, work=replace(version.work, scanned_files_count=files_count, scanned_rows=rows)
        )

    @property
    def _scanned(self) -> tuple[int, int]:
        """The files and rows in which MERGE looks for keys."""
        return len(self.ledger.data_files), self.ledger.data_rows

    def lost(self, spec: CommitSpec, staged: Prepared) -> LostCommit | None:
        contents = self._contents
        if contents is None:
            return None
        touched = contents.losing(spec, self.ledger.data_files.runs)
        paths = frozenset(self.ledger.data_files.at(*place).first.path for place in touched)
        is_marked = self._spec.upsert_mode == MERGE_ON_READ
        own = Effect(Kind.MERGE_ON_READ, marked=paths) if is_marked else Effect(Kind.COPY_ON_WRITE, paths)
        reason = conflict_between(own, [effect_of(staged)])
        if reason is None:
            return None
        merged = self._merges.of(spec, touched, contents, self._sequence_number + 1)
        files_count, rows = self._scanned
        partitions = {run.first.partition for run in merged.data}
        partitions |= {delete.partition for delete in merged.deletes}
        return LostCommit(reason, _change_of(merged), CommitWork(len(partitions), files_count, rows))

    def _commit_recorded(self, spec: CommitSpec, tag: Tag, rows: RecordedRows) -> Version:
        """A commit of an imported table; the files at its start count as one."""
        change = spec.recorded or NO_RECORDED_CHANGE
        if spec.is_initial:
            self._sequence_number = max((file.sequence_number for file in change.added), default=1) - 1
        commits = RecordedCommits(self.ledger, rows, self._maker, self._spec.schema, self._coefficients)
        made = commits.snapshot(spec, change, self._sequence_number + 1)
        self._update_scans(made.data, made.removed, made.deletes)
        return self._snapshot(
            tag, change.operation, made.data, made.deletes, made.removed, made.removed_deletes
        )

    def begin(self, spec: CommitSpec) -> None:
        """What is only staged is not in the table, and refuses nothing."""

    def overtaken(self, spec: CommitSpec) -> None: ...

    def stage(self, action: Action, preview: Preview | NoPreview, at_ms: int) -> Prepared:
        if isinstance(action, Rewrite):
            data, deletes = self.ledger.data_files, self.ledger.delete_files
            missing = next((key for key in action.keys if key not in data and key not in deletes), None)
            if missing:
                raise ValueError(f"{missing} is no longer live")
        return self._prepare(action, preview)

    def _prepare(self, action: Action, preview: Preview | NoPreview) -> Prepared:
        if isinstance(preview, NoPreview):
            raise ValueError(preview.reason)
        return prepare(action, preview, self.ledger, self._rows, self._sequence_number)

    def execute(
        self, action: Action, preview: Preview | NoPreview, staged: Prepared | None, tag: Tag
    ) -> tuple[Version, ...]:
        if isinstance(action, Native) and action.command in METADATA_COMMANDS:
            return self._maintain(action, tag)
        prepared = self._prepare(action, preview) if staged is None else staged
        versions = self._rewrite(prepared, tag)
        options = {} if isinstance(action, Rewrite) else action.options
        if removes_dangling(options) and prepared.replaced and self._spec.partitioning.column:
            return versions + self._remove_dangling(tag)
        return versions

    def _maintain(self, action: Native, tag: Tag) -> tuple[Version, ...]:
        work = MaintenanceWork()
        if action.command == Command.REWRITE_MANIFESTS:
            written_bytes, files_count = self._metadata.rewrite(tag.at_ms)
            operation = "replace"
        else:
            keep_from_ms = int(action.arguments["older_than_at_ms"])
            retain_last = int(action.arguments.get("retain_last", "1"))
            written_bytes, files_count, work = self._metadata.expire(keep_from_ms, retain_last)
            operation = "metadata"
        change = metadata_change(written_bytes, files_count)
        return (Version(None, operation, change, tag, maintenance=work),) if files_count else ()

    def _remove_dangling(self, tag: Tag) -> tuple[Version, ...]:
        """`remove-dangling-deletes`: a separate commit, which does nothing for an unpartitioned table."""
        files = (run.first for run in self.ledger.data_files.runs)
        data = ((file.place, file.data_sequence_number) for file in files)
        gone = dangling(data, self.ledger.delete_files.values())
        self._scans.clear()
        return (self._snapshot(tag, "replace", removed_deletes=gone),) if gone else ()

    def _rewrite(self, prepared: Prepared, tag: Tag) -> tuple[Version, ...]:
        """Commit a rewrite: add data files and position deletes, and remove the files they replace.

        New data files get the sequence number at which the plan was made, unless use-starting-sequence-number
        is off, new delete files that of this commit. The commit also drops delete files that are older than
        all data of the table, but only from as many manifests as Iceberg has worker threads (effect of its
        code since 1.8, PR #11131); the others stay until a later commit and apply to nothing. Here the oldest
        manifests are first.
        """
        data, deletes = self.ledger.data_files, self.ledger.delete_files
        if problem := conflict(prepared, data, deletes, self._sequence_number):
            raise ConflictError(problem)
        number = self._sequence_number + 1
        files_number = prepared.sequence_number if prepared.keeps_age else number
        outputs = [
            file for replacement in prepared.replaced for file in self._outputs(replacement, files_number)
        ]
        positions = [
            self._maker.position_deletes(file, rows, number) for file, rows in prepared.converted if rows
        ]
        gone, dropped = tuple(prepared.replaced_files), list(prepared.removed_deletes)
        if not gone and not dropped and not positions:
            return ()
        if gone and self.ledger.delete_files:
            dropped += self._dropped_by_commit(outputs, gone, dropped, self._cores.compactor)
        self._update_scans(outputs, gone, positions)
        return (self._snapshot(tag, "replace", outputs, positions, gone, dropped),)

    def _outputs(self, replacement: Replacement, sequence_number: int) -> list[IcebergDataFile]:
        """The files that replace those of a group, one or more for each task with rows."""
        span = span_of(replacement.files)
        full_rows = self._coefficients.full_file_rows(
            self._spec.schema, replacement.max_file_bytes, self._codec
        )
        ratio = size_ratio(replacement.files, self._spec.schema, self._coefficients)
        outputs = [
            self._maker.data_file(rows, replacement.partition, span, sequence_number, ratio)
            for task_rows in replacement.rows
            for rows in rolled(task_rows, full_rows)
        ]
        rows = self._rows if self._contents is None else self._contents
        rows.replace(replacement.files, outputs)
        return outputs

    def _update_scans(
        self, data: Collection[Run[IcebergDataFile]], gone: Collection[Run[IcebergDataFile]],
        deletes: Collection[IcebergDeleteFile],
    ) -> None:  # fmt: skip
        """Before a snapshot that replaces files: scans of a table with deletes are made anew."""
        if self.ledger.delete_files or deletes:
            self._scans.clear()
        for scan in self._scans.values():
            scan.remove(gone)
            scan.add(Files(data), ())

    def _dropped_by_commit(
        self, added: Collection[Run[IcebergDataFile]], gone: Collection[Run[IcebergDataFile]],
        dropped: Iterable[str], cores: int,
    ) -> list[str]:  # fmt: skip
        """Delete files that the commit drops beyond those that are `dropped` anyway."""
        named, live, gone_counts = frozenset(dropped), self.ledger.data_files, _file_counts(gone)
        left = (run for run in live.runs if gone_counts.get(run.origin, 0) < live.count_of(run.origin))
        deletes = (delete for key, delete in self.ledger.delete_files.items() if key not in named)
        numbers = (run.first.data_sequence_number for run in chain(left, added))
        return self._metadata.first_deletes(below_oldest(numbers, deletes), max(_WORKER_THREADS_MIN, cores))

    def _snapshot(
        self, tag: Tag, operation: str, data: Collection[Run[IcebergDataFile]] = (),
        deletes: Collection[IcebergDeleteFile] = (), removed: Collection[Run[IcebergDataFile]] = (),
        removed_deletes: Collection[str] = (),
    ) -> Version:  # fmt: skip
        """Commit one snapshot to the ledger and the metadata."""
        self._sequence_number += 1
        ledger = self.ledger
        old_deletes = (ledger.delete_files[key] for key in removed_deletes)
        change = change_of([*data, *deletes], [*removed, *old_deletes])
        ledger.remove_data(removed)
        ledger.remove(removed_deletes)
        ledger.add([*data, *deletes], tag.at_ms)
        added_counts, removed_counts = _file_counts(data), _file_counts(removed)
        emptied = [origin for origin in removed_counts if not ledger.data_files.count_of(origin)]
        metadata_bytes, metadata_files_count = self._metadata.commit(
            tag.at_ms,
            Entries(added_counts, removed_counts, emptied),
            Entries(
                {delete.key: 1 for delete in deletes}, dict.fromkeys(removed_deletes, 1), removed_deletes
            ),
            change.added_bytes,
            change.replaced_bytes,
        )
        change += metadata_change(metadata_bytes, metadata_files_count)
        partitions = {run.first.partition for run in (*data, *removed)}
        partitions |= {delete.partition for delete in deletes}
        work = CommitWork(partitions_count=len(partitions))
        return Version(str(self._sequence_number), operation, change, tag, work=work)

    def work_of(self, staged: Prepared) -> RewriteWork:
        return RewriteWork()

    def opened(self, sql: str) -> ScanWork:
        wanted = selection_of(sql, self._spec.partitioning)
        scan = self._scans.get(wanted)
        if scan is None:
            scan = self._scans[wanted] = Scan(self.ledger.state(0), wanted)
        return scan.work(self._metadata.manifests_count)


def _change_of(merged: Merged) -> Change:
    """What a MERGE writes, apart from metadata."""
    added, gone, deletes = Files(merged.data), Files(merged.removed), merged.deletes
    return Change(
        len(added), len(gone), len(deletes), len(merged.removed_deletes),
        size_of(added) + sum(delete.size_bytes for delete in deletes), size_of(gone),
        added_rows=rows_of(added), replaced_rows=rows_of(gone),
        added_delete_rows=sum(delete.rows for delete in deletes),
    )  # fmt: skip


def _file_counts(runs: Iterable[Run[IcebergDataFile]]) -> Counter[str]:
    """The number of files by the origin of their run."""
    counts = Counter[str]()
    for run in runs:
        counts[run.origin] += run.count
    return counts
