"""A simulated Hudi table: effects of commits and queries."""

from collections.abc import Iterator
from functools import lru_cache

from bench.engines.contract import EngineSettings, InlineCompaction, Tag, Version
from bench.engines.hudi.inline import inline_rule
from bench.engines.hudi.ledger import HudiLedger
from bench.engines.hudi.model.coefficients import HudiCoefficients
from bench.engines.hudi.model.commits import Writer
from bench.engines.hudi.model.conflicts import Conflicts
from bench.engines.hudi.model.files import FileMaker
from bench.engines.hudi.model.groups import Groups
from bench.engines.hudi.model.recorded import RecordedWriter
from bench.engines.hudi.model.services import Scheduled, Services
from bench.engines.hudi.model.timeline import Timeline
from bench.engines.hudi.model.versions import data_version, store
from bench.engines.hudi.model.writers import RowBytes
from bench.engines.hudi.packing import packing
from bench.engines.hudi.table_keys import CODEC, DEFAULT_CODEC, READ_OPTIMIZED, hudi_day, is_merge_on_read
from bench.engines.simulated.model import LostCommit
from bench.engines.simulated.recorded_rows import RecordedRows, file_rows
from bench.engines.simulated.selection import selection_of
from bench.engines.simulated.storage import Storage
from bench.engines.sql import reads
from bench.results.values import NO_COST, RewriteWork, ScanWork
from strategies.hudi.commands import METADATA_COMMANDS, Command
from strategies.hudi.files import Action as InstantAction
from strategies.plan import Action
from strategies.planner import consult
from strategies.preview import NoPreview, Preview
from strategies.state import PartitionStats
from strategies.triggers import RuleMemory
from workloads.commit import CommitSpec


class HudiTableModel:
    """The `FormatModel` of Hudi. Staging is what Hudi calls scheduling."""

    metadata_commands = METADATA_COMMANDS
    stages_files = False

    def __init__(self, settings: EngineSettings, coefficients: HudiCoefficients) -> None:
        spec = self._spec = settings.table
        ledger = HudiLedger(spec.target_file_size_bytes, spec.properties, spec.stream_epoch_ms)
        self.ledger = ledger
        packed = packing(spec.properties, spec.target_file_size_bytes)
        rows = file_rows(spec.schema)
        self._groups = Groups(ledger, packed.small_file_bytes, rows)
        codec = spec.properties.get(CODEC, DEFAULT_CODEC).lower()
        self._codec_ratio = coefficients.data.codec_ratio(codec)
        self._maker, row_bytes = FileMaker(spec.schema, coefficients, codec), RowBytes(packed)
        self._writer: Writer | RecordedWriter
        self._conflicts: Conflicts | None = None  # commits of an imported table never lose
        if isinstance(rows, RecordedRows):
            self._writer = RecordedWriter(spec, self._groups, coefficients)
        else:
            self._writer = writer = Writer(spec, self._groups, self._maker, packed, row_bytes)
            self._conflicts = Conflicts(ledger, writer, spec.properties)
        self._timeline, self._storage = Timeline(coefficients.timeline, ledger), Storage()
        full_rows = coefficients.full_file_rows(spec.schema, spec.target_file_size_bytes, codec)
        self._services = Services(
            spec, full_rows, ledger, self._groups, self._maker, self._timeline, self._storage,
            row_bytes, coefficients,
        )  # fmt: skip
        self._is_merge_on_read = is_merge_on_read(spec)
        self._inline = inline_rule(spec.properties)

    @property
    def live_rows(self) -> int:
        return self._groups.live_rows

    @property
    def physical_rows(self) -> int:
        return sum(file.rows for _, group in self._groups.items() for file in group.read)

    @property
    def content_bytes(self) -> int:
        """Without Hudi's own columns, as in a dump of a real table."""
        return round(self._spec.schema.expected_bytes(self.live_rows) * self._codec_ratio)

    @property
    def stored_bytes(self) -> tuple[int, int]:
        return self._storage.size_bytes, self._timeline.storage_bytes

    def create(self) -> None:
        self._timeline.create()

    def commit(self, spec: CommitSpec, tag: Tag) -> tuple[Version, tuple[InlineCompaction, ...]]:
        action = InstantAction.DELTA_COMMIT if self._is_merge_on_read else InstantAction.COMMIT
        number = self._timeline.request(action, tag.at_ms)
        written = self._writer.commit(spec, tag.at_ms)
        entry = self._timeline.complete(number, tag.at_ms, len(written.added), written.partitions)
        version = data_version(entry, action, written.added, written.removed, tag, written.looked_up_count)
        store(self._storage, written.added, written.removed, number)
        return version, tuple(self._compact_by_itself(tag.at_ms))

    def _compact_by_itself(self, at_ms: int) -> Iterator[InlineCompaction]:
        """Inline compaction after a commit. Planning that finds nothing to compact costs nothing here.

        All pending compactions are executed first.
        """
        if self._inline is None:
            return
        for scheduled in self._services.pending_compactions:
            yield self._merge(scheduled, at_ms)
        if self._inline.trigger.due(self.ledger.state(at_ms), RuleMemory()):
            plan = consult(self._inline.planner, self.ledger.state(at_ms)).plan
            for action in plan.actions if plan else ():
                scheduled = self._services.stage(action, at_ms)
                if scheduled.merges:
                    yield self._merge(scheduled, at_ms)

    def _merge(self, scheduled: Scheduled, at_ms: int) -> InlineCompaction:
        work = scheduled.work
        versions = self._services.merge(Command.COMPACTION, scheduled, at_ms, None)
        return InlineCompaction(NO_COST, versions, Command.COMPACTION, is_sorted=False, work=work)

    def lost(self, spec: CommitSpec, staged: Scheduled) -> LostCommit | None:
        """Not to a compaction: it keeps to the slices of its plan, and later log files open the next ones."""
        return self._conflicts.lost(spec, staged) if self._conflicts else None

    def begin(self, spec: CommitSpec) -> LostCommit | None:
        return self._conflicts.begin(spec) if self._conflicts else None

    def overtaken(self, spec: CommitSpec) -> LostCommit | None:
        return self._conflicts.overtaken(spec) if self._conflicts else None

    def stage(self, action: Action, preview: Preview | NoPreview, at_ms: int) -> Scheduled:
        return self._services.stage(action, at_ms)

    def execute(
        self, action: Action, preview: Preview | NoPreview, staged: Scheduled | None, tag: Tag
    ) -> tuple[Version, ...] | None:
        return self._services.execute(action, staged, tag)

    def work_of(self, staged: Scheduled) -> RewriteWork:
        return staged.work

    def opened(self, sql: str) -> ScanWork:
        """All files of the latest slices; only base files if the query reads `orders_ro` alone."""
        wanted = selection_of(sql, self._spec.partitioning, hudi_day)
        admitted = (stats for name, stats in self.ledger.partitions.items() if wanted.admits(name))
        slices = sum(admitted, PartitionStats())
        files_count, data_bytes, rows = slices.files_count, slices.size_bytes, slices.rows
        if wanted.keys is not None:
            opened = self._groups.opened(wanted)
            files_count, data_bytes, rows = opened.files_count, opened.size_bytes, opened.rows
        instants_count = self._timeline.active_count
        if _is_read_optimized(sql):
            return ScanWork(files_count, 0, data_bytes, instants_count, rows, delete_bytes=0, merged_bytes=0)
        return ScanWork(
            files_count,
            slices.delete_files_count,
            data_bytes + slices.delete_size_bytes,
            instants_count,
            # A real scan does not report rows before it has merged them.
            read_rows=None if slices.delete_files_count else rows,
            delete_bytes=slices.delete_size_bytes,
            merged_bytes=self._groups.merged_bytes(wanted),
        )


@lru_cache(100)
def _is_read_optimized(sql: str) -> bool:
    return reads(sql, READ_OPTIMIZED) and not reads(sql, "orders")
