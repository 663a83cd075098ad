"""A table without Spark: files kept incrementally, plans by the format's rules, costs by coefficients.

The same scenario gives the same files and decisions on every machine. It holds no rows: what a commit
adds comes from the workload's shape, a merged file has the rows of those it replaces that still live, and
how many those are is expected from the keys that commits hit (`simulated_rows`).
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.engines.contract import (
    NO_COST,
    Batch,
    Change,
    CommitOutcome,
    Cores,
    Cost,
    EngineSettings,
    Observation,
    Outcome,
    Probe,
    QueryOutcome,
    TableSpec,
    Ticket,
)
from bench.engines.iceberg.format import SIMULATED_CAPABILITIES
from bench.engines.iceberg.model.files import FileMaker, span_of
from bench.engines.iceberg.model.metadata import SimulatedMetadata
from bench.engines.iceberg.model.rewrite import (
    Prepared,
    Replacement,
    below_oldest,
    conflict,
    dangling,
    prepare,
    removes_dangling,
)
from bench.engines.iceberg.model.scan import Scan, wanted_keys
from bench.engines.ledger import Ledger
from bench.engines.simulated.costs import Coefficients, Operation, Work, load_coefficients
from bench.engines.simulated.live_rows import LiveRows
from bench.engines.tickets import Staged, Tickets
from bench.errors import EngineError
from strategies.iceberg.commands import Command
from strategies.plan import Action, Native, Plan, Rewrite
from strategies.state import CommitSeen, DataFile, DeleteFile, TableState

_MAINTENANCE = frozenset({Command.REWRITE_MANIFESTS, Command.EXPIRE_SNAPSHOTS})
_WORKER_THREADS_MIN = 2  # iceberg.worker.num-threads: the cores, at least two


class SimulatedEngine:
    """One simulated table (see the `Engine` contract); every cost is modelled seconds."""

    capabilities = SIMULATED_CAPABILITIES

    def __init__(self, spec: TableSpec, coefficients: Coefficients, cores: Cores) -> None:
        self._spec, self._coefficients, self._cores = spec, coefficients, cores
        self._clear()

    def _clear(self) -> None:
        self._ledger = Ledger(self._spec.target_file_size_bytes, self._spec.properties)
        self._tickets = Tickets[Prepared](self._ledger)
        self._metadata = SimulatedMetadata(self._coefficients.metadata)
        self._maker = FileMaker(self._spec.schema, self._coefficients, self._spec.files_per_commit)
        self._rows = LiveRows()
        self._scan: Scan | None = Scan()  # None: to be counted anew
        self._sequence_number = 0

    @property
    def live_rows(self) -> int:
        """The rows a reader is expected to find, deletes applied."""
        return self._rows.total

    def create(self) -> None:
        self._clear()
        self._metadata.create()

    def commit(self, batch: Batch, at_ms: int) -> CommitOutcome:
        spec = batch.spec
        if not spec.rows:
            return CommitOutcome(NO_COST, 0.0, self._observe(Change()))
        self._rows.commit(spec)
        made, deletes = self._maker.commit(spec, self._sequence_number + 1)
        for file, live_rows in made:
            self._rows.add(file, live_rows)
        data = [file for file, _ in made]
        change = self._change(at_ms, (), data, deletes)
        if self._scan is not None:
            self._scan.add(data, deletes)
        if not spec.is_initial:
            self._ledger.saw_commit(CommitSeen(at_ms, len(data), change.added_bytes, spec.rows))
        files_count, tasks_count = len(data) + len(deletes), len(data) or len(deletes)
        work = Work(files_count, written_bytes=change.added_bytes, tasks_count=tasks_count)
        cost = self._price(self._coefficients.commit, work, self._cores.writer)
        return CommitOutcome(cost, 0.0, self._observe(change))

    def state(self, at_ms: int) -> TableState:
        return self._ledger.state(at_ms)

    def schedule(self, plan: Plan, at_ms: int, due_at_ms: int) -> Ticket:
        ticket, staged = self._tickets.issue(plan, self.capabilities, at_ms, due_at_ms)
        for position, action in enumerate(() if staged.veto else plan.actions):
            if isinstance(action, Rewrite) and staged.error is None:
                self._stage(action, position, staged, at_ms)
        return ticket

    def _stage(self, action: Rewrite, position: int, staged: Staged[Prepared], at_ms: int) -> None:
        """Prepare an explicit rewrite, unless a file is gone."""
        data, deletes = self._ledger.data_files, self._ledger.delete_files
        gone = next((key for key in action.keys if key not in data and key not in deletes), None)
        if gone:
            staged.error = f"{gone} is no longer live"
            return
        prepared = self._prepare(action, at_ms)
        staged.actions[position] = prepared
        staged.cost += prepared.cost

    def _prepare(self, action: Action, at_ms: int) -> Prepared:
        return prepare(
            action, self.state(at_ms), self._rows, self._sequence_number, self._spec.schema,
            self._coefficients, self._cores.compactor,
        )  # fmt: skip

    def complete(self, ticket: Ticket, at_ms: int) -> Outcome:
        staged, plan = self._tickets.redeem(ticket), ticket.plan
        cost, change, error_text = staged.cost, Change(), staged.veto or staged.error
        for position, action in enumerate(plan.actions if error_text is None else ()):
            try:
                did, took = self._act(action, staged.actions.get(position), at_ms)
            except ValueError as error:
                error_text = str(error)
                break
            cost, change = cost + took, change + did
        status = staged.status(error_text, change)
        self._tickets.ended(ticket, at_ms, status, change, cost)
        return Outcome(status, cost, self._observe(change), error_text)

    def _act(self, action: Action, prepared: Prepared | None, at_ms: int) -> tuple[Change, Cost]:
        """Carry out one action, which may be prepared already, and so paid for.

        Raises ValueError on a conflict or an option the format does not know.
        """
        if isinstance(action, Native) and action.command in _MAINTENANCE:
            return self._maintain(action, at_ms), self._price_maintenance()
        if prepared is not None:
            return self._rewrite(prepared, at_ms), NO_COST
        prepared = self._prepare(action, at_ms)
        change, cost = self._rewrite(prepared, at_ms), prepared.cost
        if removes_dangling(action) and prepared.replaced and self._spec.partitioning.column:
            return change + self._remove_dangling(at_ms), cost + self._price_maintenance()
        return change, cost

    def _maintain(self, action: Native, at_ms: int) -> Change:
        if action.command == Command.REWRITE_MANIFESTS:
            written_bytes, files_count = self._metadata.rewrite(at_ms)
        else:
            keep_from_ms = int(action.arguments["older_than_at_ms"])
            retain_last = int(action.arguments.get("retain_last", "1"))
            written_bytes, files_count = self._metadata.expire(keep_from_ms, retain_last)
        return Change(metadata_bytes=written_bytes, metadata_files_count=files_count)

    def _remove_dangling(self, at_ms: int) -> Change:
        """`remove-dangling-deletes`: a commit of its own, which does nothing without partitions."""
        gone = dangling(self._ledger.data_files.values(), self._ledger.delete_files.values())
        return self._change(at_ms, gone, (), ()) if gone else Change()

    def _rewrite(self, prepared: Prepared, at_ms: int) -> Change:
        """Commit a rewrite: new data files, new position deletes, and the files they take the place of.

        New data files have the sequence number the plan was made at (use-starting-sequence-number), new
        deletes that of this commit. It also drops delete files older than all data of the table, but only
        those of as many manifests as Iceberg has worker threads: since 1.8 (PR #11131) it comes to that,
        and the others stay until a later commit, applying to nothing. Here the oldest go first.
        """
        data, deletes = self._ledger.data_files, self._ledger.delete_files
        if problem := conflict(prepared, data, deletes, self._sequence_number):
            raise ValueError(problem)
        made = [file for each in prepared.replaced for file in self._outputs(each, prepared.sequence_number)]
        number = self._sequence_number + 1
        positions = [
            self._maker.position_deletes(file, rows, number) for file, rows in prepared.converted if rows
        ]
        gone = {file.path: file for file in prepared.replaced_files}
        removed = [*gone, *prepared.removed_deletes]
        if not removed and not positions:
            return Change()
        if gone:
            removed += self._dropped_by_commit(made, frozenset(removed))
        self._scan = None
        return self._change(at_ms, removed, made, positions)

    def _outputs(self, replacement: Replacement, sequence_number: int) -> list[DataFile]:
        """The files that replace a group's, one a task that has a row."""
        span = span_of(replacement.files)
        made = [
            self._maker.data_file(rows, replacement.partition, span, sequence_number)
            for rows in replacement.rows
            if rows
        ]
        self._rows.replace((file.path for file in replacement.files), made)
        return made

    def _dropped_by_commit(self, made: Collection[DataFile], removed: Collection[str]) -> list[str]:
        data = [file for path, file in self._ledger.data_files.items() if path not in removed]
        deletes = (delete for key, delete in self._ledger.delete_files.items() if key not in removed)
        threads = max(_WORKER_THREADS_MIN, self._cores.compactor)
        return self._metadata.first_deletes(below_oldest([*data, *made], deletes), threads)

    def _change(
        self,
        at_ms: int,
        removed: Collection[str],
        data: Collection[DataFile],
        deletes: Collection[DeleteFile],
    ) -> Change:
        """One snapshot."""
        self._sequence_number += 1
        live_bytes = self.state(at_ms).size_bytes
        removed_delete_files = sum(key in self._ledger.delete_files for key in removed)
        self._ledger.remove(removed)
        replaced_bytes = live_bytes - self.state(at_ms).size_bytes
        self._ledger.add([*data, *deletes])
        added_bytes = sum(file.size_bytes for file in data) + sum(file.size_bytes for file in deletes)
        written_bytes, written_count = self._metadata.commit(
            at_ms, [file.path for file in data], removed, added_bytes, replaced_bytes,
            [file.path for file in deletes],
        )  # fmt: skip
        return Change(
            1, len(data), len(removed) - removed_delete_files, len(deletes), removed_delete_files,
            added_bytes=added_bytes, replaced_bytes=replaced_bytes,
            metadata_bytes=written_bytes, metadata_files_count=written_count,
        )  # fmt: skip

    def query(self, probe: Probe) -> QueryOutcome:
        """Opens the files that may hold the keys the probe names, all where it names none."""
        work = self._opened(probe.sql)
        planning = self._price(self._coefficients.query_planning, work, self._cores.reader)
        execution = self._price(self._coefficients.query_execution, work, self._cores.reader)
        return QueryOutcome(
            planning + execution, planning.wall_s, execution.wall_s, work.files_count,
            work.delete_files_count, work.read_bytes, self._metadata.manifests_count,
        )  # fmt: skip

    def _opened(self, sql: str) -> Work:
        """The files a probe opens."""
        if self._scan is None:
            self._scan = Scan.of(self._ledger.data_files.values(), self._ledger.delete_files.values())
        wanted = wanted_keys(sql)
        if wanted is None:
            data_bytes = sum(p.size_bytes for p in self.state(0).partitions.values())
            return self._scan.all(len(self._ledger.data_files), data_bytes)
        return self._scan.some(file for file in self._ledger.data_files.values() if wanted.meets(file.keys))

    def dump(self, folder: Path) -> None:
        raise EngineError("a simulated table has no rows to dump")

    def sibling(self, name: str) -> "SimulatedEngine":
        return SimulatedEngine(self._spec, self._coefficients, self._cores)

    def drop(self) -> None:
        self._clear()

    def _price(self, operation: Operation, work: Work, cores: int) -> Cost:
        return self._coefficients.price(operation, work, cores)

    def _price_maintenance(self) -> Cost:
        return self._price(self._coefficients.maintenance, Work(), self._cores.compactor)

    def _observe(self, change: Change) -> Observation:
        metadata_bytes = self._metadata.metadata_storage_bytes
        storage_bytes = self._metadata.data_storage_bytes + metadata_bytes
        return self._ledger.observation(change, NO_COST, storage_bytes, metadata_bytes)


@contextmanager
def open_simulated(table_format: str, settings: EngineSettings) -> Iterator[SimulatedEngine]:
    """An engine for one table of a format. Raises ScenarioError where the coefficients are unsound."""
    coefficients = load_coefficients(table_format, settings.coefficients)
    yield SimulatedEngine(settings.table, coefficients, settings.cores)
