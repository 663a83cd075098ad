"""A table without Spark: files kept incrementally, plans by the format's rules, costs by coefficients.

The same scenario gives the same files and decisions on every machine. It holds no rows: what a commit
adds comes from the workload's shape, and a merged file has the rows of those it replaces.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.engines import capabilities
from bench.engines.base import (
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
    TicketId,
)
from bench.engines.costs import Coefficients, Operation, Work, load_coefficients, rewrite_cost
from bench.engines.ledger import Ledger, compaction_seen, pending_plan
from bench.engines.simulated_metadata import SimulatedMetadata
from bench.errors import EngineError
from strategies.expand import Expansion, RewriteGroup, expand
from strategies.plan import Action, Capability, Native, Plan, Reason, Rewrite, capabilities_of
from strategies.read_tasks import even_share
from strategies.state import MIB, CommitSeen, DataFile, PendingPlan, TableState
from workloads.commit import CommitSpec, PartitionShape, expected_files
from workloads.schema import Schema

ROW_GROUP_BYTES = 128 * MIB  # write.parquet.row-group-size-bytes; a file can be cut there for reading
_MAINTENANCE = frozenset({Capability.REWRITE_MANIFESTS, Capability.EXPIRE_SNAPSHOTS})
_KEY = re.compile(r"\border_id\s*(?:=\s*(\d+)|between\s+(\d+)\s+and\s+(\d+))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Keys:
    """The lowest and highest order_id a file may hold."""

    low: int
    high: int


@dataclass(slots=True)
class _Pending:
    """What `schedule` did of a plan: rewrites planned but not committed, or why that failed."""

    seen: PendingPlan
    sequence_number: int  # of the table when it was scheduled
    planned: dict[int, Expansion] = field(default_factory=dict)  # by position in the plan's actions
    cost: Cost = NO_COST
    error: str | None = None


class SimulatedEngine:
    """One simulated table (see the `Engine` contract); every cost is modelled seconds."""

    capabilities = capabilities.ICEBERG_SIMULATED

    def __init__(self, spec: TableSpec, coefficients: Coefficients, cores: Cores) -> None:
        self._spec, self._coefficients, self._cores = spec, coefficients, cores
        self._ticket_ids = itertools.count(1)
        self._clear()

    def _clear(self) -> None:
        self._ledger = Ledger(self._spec.target_file_size_bytes, self._spec.properties)
        self._metadata = SimulatedMetadata(self._coefficients.metadata)
        self._keys: dict[str, _Keys] = {}
        self._pending: dict[TicketId, _Pending] = {}
        self._file_numbers = itertools.count(1)
        self._sequence_number = 0

    def create(self) -> None:
        self._clear()
        self._metadata.create()

    def commit(self, batch: Batch, at_s: float) -> CommitOutcome:
        spec = batch.spec
        if not spec.rows:
            return CommitOutcome(NO_COST, 0.0, self._observe(Change()))
        self._sequence_number += 1
        added = [file for shape in spec.partitions for file in self._files_of(shape, spec)]
        change = self._replace(at_s, (), added)
        if not spec.is_initial:
            self._ledger.saw_commit(CommitSeen(at_s, len(added), change.added_bytes, spec.rows))
        work = Work(len(added), written_bytes=change.added_bytes, tasks_count=len(added))
        cost = self._price(self._coefficients.commit, work, self._cores.writer)
        return CommitOutcome(cost, 0.0, self._observe(change))

    def _files_of(self, shape: PartitionShape, spec: CommitSpec) -> Iterator[DataFile]:
        """The files a commit adds to one partition, its rows spread evenly."""
        writers, count = self._spec.files_per_commit or spec.writers, shape.files
        if self._spec.files_per_commit:
            count = expected_files(shape.rows, spec.rows, writers)
        for number in range(count):
            rows = even_share(shape.rows, number, count)
            first = spec.first_row + spec.rows * number // count
            keys = _Keys(first + 1, spec.first_row + spec.rows * (number + 1) // count)
            yield self._new_file(rows, shape.partition, keys, self._sequence_number)

    def _new_file(self, rows: int, partition: str, keys: _Keys, sequence_number: int) -> DataFile:
        path = f"data/{next(self._file_numbers):08}.parquet"
        self._keys[path] = keys
        size_bytes = table_bytes(self._spec.schema, self._coefficients, rows)
        offsets = tuple(range(4, max(5, size_bytes), ROW_GROUP_BYTES))
        return DataFile(path, size_bytes, rows, partition, sequence_number, split_offsets=offsets)

    def state(self, at_s: float) -> TableState:
        return self._ledger.state(at_s)

    def schedule(self, plan: Plan, at_s: float, due_at_s: float) -> Ticket:
        ticket = Ticket(TicketId(next(self._ticket_ids)), plan, at_s, due_at_s)
        pending = _Pending(pending_plan(plan, at_s, due_at_s), self._sequence_number)
        self._pending[ticket.id] = pending
        for position, action in enumerate(() if self._missing(plan) else plan.actions):
            if isinstance(action, Rewrite) and pending.error is None:
                pending.error = self._check_live(action)
                if pending.error is None:
                    planned = expand(action, self.state(at_s))
                    pending.planned[position] = planned
                    pending.cost += self._rewrite_cost(planned)
        self._tell_pending()
        return ticket

    def _check_live(self, action: Rewrite) -> str | None:
        named = (path for group in action.groups for path in group.paths)
        gone = next((path for path in named if path not in self._ledger.data_files), None)
        return f"{gone} is no longer live" if gone else None

    def complete(self, ticket: Ticket, at_s: float) -> Outcome:
        pending = self._pending.pop(ticket.id)
        self._tell_pending()
        missing = self._missing(ticket.plan)
        if missing:
            error = f"simulation cannot {', '.join(sorted(missing))}"
            return Outcome("vetoed", NO_COST, self._observe(Change()), error)
        cost, change, error_text = pending.cost, Change(), pending.error
        for position, action in enumerate(ticket.plan.actions if error_text is None else ()):
            try:
                planned = pending.planned.get(position)
                did, took = self._act(action, planned, pending.sequence_number, at_s)
            except ValueError as error:
                error_text = str(error)
                break
            cost, change = cost + took, change + did
        committed = change.metadata_files_count > 0
        status = "failed" if error_text else "ok" if committed else "noop"
        if ticket.plan.reason is not Reason.MAINTENANCE:
            seen = compaction_seen(at_s, status, ticket.plan, ticket.scheduled_at_s, change, cost)
            self._ledger.saw_compaction(seen)
        return Outcome(status, cost, self._observe(change), error_text)

    def _act(
        self, action: Action, planned: Expansion | None, planned_at: int, at_s: float
    ) -> tuple[Change, Cost]:
        """Carry out one action, which may be `planned` already, at sequence number `planned_at`.

        Raises ValueError on a conflict or an option the format does not know.
        """
        if isinstance(action, Native) and action.command in _MAINTENANCE:
            cost = self._price(self._coefficients.maintenance, Work(), self._cores.compactor)
            return self._maintain(action, at_s), cost
        if planned is not None:  # and paid for when it was scheduled
            return self._rewrite(planned, planned_at, at_s), NO_COST
        expansion = expand(action, self.state(at_s))
        return self._rewrite(expansion, self._sequence_number, at_s), self._rewrite_cost(expansion)

    def _maintain(self, action: Native, at_s: float) -> Change:
        if action.command is Capability.REWRITE_MANIFESTS:
            written_bytes, files_count = self._metadata.rewrite(at_s)
        else:
            keep_from_s = float(action.arguments["older_than_at_s"])
            retain_last = int(action.arguments.get("retain_last", "1"))
            written_bytes, files_count = self._metadata.expire(keep_from_s, retain_last)
        return Change(metadata_bytes=written_bytes, metadata_files_count=files_count)

    def _rewrite_cost(self, expansion: Expansion) -> Cost:
        tasks = (task for group in expansion.groups for task in group.tasks)
        written_bytes = sum(table_bytes(self._spec.schema, self._coefficients, task.rows) for task in tasks)
        return rewrite_cost(self._coefficients, expansion, self._cores.compactor, written_bytes)

    def _rewrite(self, expansion: Expansion, sequence_number: int, at_s: float) -> Change:
        """Replace the groups' files in one commit; deletes do not occur in a simulated table.

        New files have the sequence number the plan was made at (use-starting-sequence-number).
        """
        removed = [file for group in expansion.groups for file in group.files]
        gone = next((file.path for file in removed if file.path not in self._ledger.data_files), None)
        if gone:
            raise ValueError(f"missing required files to delete: {gone}")
        added = [f for group in expansion.groups for f in self._outputs(group, sequence_number)]
        if removed:
            self._sequence_number += 1
        return self._replace(at_s, removed, added) if removed else Change()

    def _outputs(self, group: RewriteGroup, sequence_number: int) -> Iterator[DataFile]:
        """A file a task."""
        keys = [self._keys[file.path] for file in group.files]
        span = _Keys(min(k.low for k in keys), max(k.high for k in keys))
        for task in group.tasks:
            yield self._new_file(task.rows, group.partition, span, sequence_number)

    def _replace(self, at_s: float, removed: Iterable[DataFile], added: list[DataFile]) -> Change:
        """One snapshot."""
        gone = [file.path for file in removed]
        removed_bytes = sum(self._ledger.data_files[path].size_bytes for path in gone)
        added_bytes = sum(file.size_bytes for file in added)
        self._ledger.remove(gone)
        self._ledger.add(added)
        for path in gone:
            del self._keys[path]
        written_bytes, written_count = self._metadata.commit(
            at_s, [file.path for file in added], gone, added_bytes, removed_bytes
        )
        return Change(
            1, len(added), len(gone), added_bytes=added_bytes, removed_bytes=removed_bytes,
            metadata_bytes=written_bytes, metadata_files_count=written_count,
        )  # fmt: skip

    def query(self, probe: Probe) -> QueryOutcome:
        """Opens the files that may hold the keys the probe names, all where it names none."""
        files_count, opened_bytes = self._opened(probe.sql)
        work = Work(files_count, read_bytes=opened_bytes, tasks_count=files_count)
        planning = self._price(self._coefficients.query_planning, work, self._cores.reader)
        execution = self._price(self._coefficients.query_execution, work, self._cores.reader)
        return QueryOutcome(
            planning + execution, planning.wall_s, execution.wall_s, files_count, 0, opened_bytes,
            self._metadata.manifests_count,
        )  # fmt: skip

    def _opened(self, sql: str) -> tuple[int, int]:
        """How many files a probe opens, and their bytes; of all files the ledger keeps the sums."""
        wanted = _wanted_keys(sql)
        if wanted is None:
            return len(self._ledger.data_files), self.state(0.0).size_bytes
        found = [
            file.size_bytes
            for path, file in self._ledger.data_files.items()
            if self._keys[path].low <= wanted.high and self._keys[path].high >= wanted.low
        ]
        return len(found), sum(found)

    def dump(self, folder: Path) -> None:
        raise EngineError("a simulated table has no rows to dump")

    def sibling(self, name: str) -> "SimulatedEngine":
        return SimulatedEngine(self._spec, self._coefficients, self._cores)

    def drop(self) -> None:
        self._clear()

    def _missing(self, plan: Plan) -> frozenset[Capability]:
        return capabilities_of(plan) - self.capabilities

    def _tell_pending(self) -> None:
        self._ledger.pending = tuple(p.seen for p in self._pending.values())

    def _price(self, operation: Operation, work: Work, cores: int) -> Cost:
        return self._coefficients.price(operation, work, cores)

    def _observe(self, change: Change) -> Observation:
        state, metadata = self.state(0.0), self._metadata
        return Observation(
            cost=NO_COST,
            data_files_count=len(self._ledger.data_files),
            delta_files_count=len(self._ledger.delta_files),
            live_bytes=state.size_bytes,
            rows=sum(p.rows for p in state.partitions.values()),
            storage_bytes=metadata.data_storage_bytes + metadata.metadata_storage_bytes,
            metadata_storage_bytes=metadata.metadata_storage_bytes,
            change=change,
            delta_rows=sum(p.delta_rows for p in state.partitions.values()),
            equality_files_count=sum(p.equality_files_count for p in state.partitions.values()),
        )


@contextmanager
def open_simulated(table_format: str, settings: EngineSettings) -> Iterator[SimulatedEngine]:
    """An engine for one table of a format. Raises ScenarioError where the coefficients are unsound."""
    coefficients = load_coefficients(table_format, settings.coefficients)
    yield SimulatedEngine(settings.table, coefficients, settings.cores)


def table_bytes(schema: Schema, coefficients: Coefficients, rows: int, files: int = 1) -> int:
    """Bytes of data files of the table: those of plain Parquet and what the format adds to each."""
    return schema.expected_bytes(rows, files) + files * coefficients.data.file_bytes


def _wanted_keys(sql: str) -> _Keys | None:
    """The keys a probe asks for by one `order_id = n` or `BETWEEN n AND m`; None for all.

    A probe that names several is taken to open every file: they may be joined by OR.
    """
    named = _KEY.findall(sql)
    if len(named) != 1:
        return None
    numbers = [int(number) for number in named[0] if number]
    return _Keys(numbers[0], numbers[-1])
