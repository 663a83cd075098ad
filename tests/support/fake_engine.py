"""A small engine in memory for tests of the loop: the ledger is real, files are made up, costs are given.

Any compaction merges the small files of each partition that were live when it was scheduled, and lets go
of all delete files but the newest. A table without two small files in a partition makes it a noop; a file
that is gone by then makes it fail.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace

from bench.engines.contract import (
    Batch,
    CommitConflictError,
    CommitOutcome,
    InlineCompaction,
    Observation,
    Outcome,
    QueryOutcome,
    Tag,
    Ticket,
    TicketId,
    Version,
)
from bench.engines.iceberg.ledger import iceberg_ledger
from bench.engines.tickets import tag_of
from bench.results.values import Change, Cost, ScanWork
from strategies.iceberg.commands import Command
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, TableState
from strategies.plan import Capability, Compact, Native, Plan, Reason
from strategies.preview import PlanPreview
from strategies.state import MIB, PendingPlan

TARGET_BYTES = 8 * MIB
MAINTENANCE = {Command.EXPIRE_SNAPSHOTS, Command.REWRITE_MANIFESTS}


@dataclass(frozen=True)
class Costs:
    """Wall seconds of each step; a query takes `query_file_s` for each live file.

    `control_s` None means that the engine has no control query.
    """

    prepare_s: float = 0.5
    commit_s: float = 1.0
    query_file_s: float = 0.01
    compaction_s: float = 4.0
    staging_s: float = 0.0
    expected_s: float = 0.0  # until a compaction can commit, with a real clock; on two cores
    observe_s: float = 0.25
    control_s: float | None = None


@dataclass(frozen=True, slots=True)
class CompactAll:
    """A planner that compacts every partition."""

    kind: str = ""

    def decide(self, state: TableState) -> Plan | None:
        return Plan((Compact(),), Reason.SCHEDULED, kind=self.kind) if state.data_files else None


class FakeEngine:
    """See the module. `fates` makes the n-th ticket, counted from 1, end as "failed" or "vetoed".

    Commits in `inline_at` compact by themselves. Each commit adds so many `deletes`, delete files of 10 rows
    and 100 bytes, the first by equality. One that `merges` loses against a compaction that commits during it.
    """

    capabilities = frozenset[str]((*Capability, *Command))
    table_id = "orders"
    sessions = ("new",)

    def __init__(
        self,
        costs: Costs = Costs(),
        fates: Mapping[int, str] | None = None,
        deletes: int = 0,
        inline_at: frozenset[int] = frozenset(),
        *,
        merges: bool = False,
    ) -> None:
        self.costs, self.fates, self.deletes = costs, fates or {}, deletes
        self.ledger = iceberg_ledger(TARGET_BYTES, {})
        self.states: list[TableState] = []  # as they were when they were asked for
        self._numbers, self._ticket_ids = itertools.count(1), itertools.count(1)
        self._version_numbers, self.inline_at = itertools.count(1), inline_at
        self._pending: dict[TicketId, tuple[PendingPlan, list[IcebergDataFile]]] = {}
        self._dead_bytes = 0
        self.merges, self._begun, self._overtaken = merges, False, False

    def create(self) -> None:
        self.ledger = iceberg_ledger(TARGET_BYTES, {})

    def begin(self, batch: Batch) -> None:
        self._begun, self._overtaken = True, False

    def commit(self, batch: Batch, at_ms: int) -> CommitOutcome:
        spec = batch.spec
        if not spec.rows:
            return CommitOutcome(Cost(), 0.0, (), self._observe())
        is_overtaken, self._begun, self._overtaken = self._overtaken, False, False
        if is_overtaken and self.merges:
            cost = Cost(self.costs.commit_s, 2 * self.costs.commit_s)
            raise CommitConflictError(f"commit-{spec.index}", "missing data files", cost)
        made = []
        for p in spec.partitions:
            count = min(p.rows, spec.writers)
            made += [
                self._file(p.partition, p.expected_bytes // count, p.rows // count) for _ in range(count)
            ]
        deletes = [self._delete(number) for number in range(self.deletes)]
        self.ledger.add([*made, *deletes], at_ms)
        added_bytes = sum(f.size_bytes for f in [*made, *deletes])
        change = Change(len(made), 0, len(deletes), 0, added_bytes, 0, 100, 2)
        version = self._version(change, Tag.of_commit(spec, at_ms))
        cost = Cost(self.costs.commit_s, 2 * self.costs.commit_s)
        inline = self.inline(spec.index, at_ms)
        return CommitOutcome(cost, self.costs.prepare_s, (version,), self._observe(), inline)

    def state(self, at_ms: int) -> TableState:
        state = self.ledger.state(at_ms)
        self.states.append(replace(state, data_files=tuple(state.data_files)))
        return state

    def schedule(self, plan: Plan, at_ms: int, due_at_ms: int, executor: str | None = None) -> Ticket:
        inputs = [] if _is_maintenance(plan) else self._small_files()
        seen = PendingPlan(at_ms, due_at_ms, plan.reason, frozenset(f.path for f in inputs))
        preview = PlanPreview(self.ledger.version, ())
        number = TicketId(next(self._ticket_ids))
        costs = self.costs
        expected = Cost(costs.expected_s, 2 * costs.expected_s)
        ticket = Ticket(number, plan, preview, at_ms, due_at_ms, costs.staging_s, executor, expected)
        self._pending[ticket.id] = seen, inputs
        self._tell_pending()
        return ticket

    def complete(self, ticket: Ticket, at_ms: int) -> Outcome:
        _, inputs = self._pending.pop(ticket.id)
        self._tell_pending()
        status, versions = self.fates.get(ticket.id), ()
        if status is None and _is_maintenance(ticket.plan):
            status, self._dead_bytes = "ok", 0
        elif status is None and any(f.path not in self.ledger.data_files for f in inputs):
            status = "failed"
        elif status is None:
            status = "ok" if inputs else "noop"
            versions = (self._merge(inputs, at_ms, tag_of(ticket, at_ms)),) if inputs else ()
            self._overtaken |= self._begun and bool(versions)
        error = f"made to be {status}" if status in ("failed", "vetoed") else None
        cost = Cost(self.costs.compaction_s, 2 * self.costs.compaction_s)
        return Outcome(status, cost, versions, self._observe(), error)

    def inline(self, index: int, at_ms: int) -> tuple[InlineCompaction, ...]:
        """The compaction that commit `index` runs by itself, where it does."""
        inputs = self._small_files() if index in self.inline_at else []
        if not inputs:
            return ()
        version = self._merge(inputs, at_ms)
        return (InlineCompaction(Cost(self.costs.compaction_s, 1.0), (version,), "auto_compact()"),)

    def query(self, probe, session="new") -> QueryOutcome:
        count = len(self.ledger.data_files)
        wall_s = count * self.costs.query_file_s
        size_bytes = self.ledger.state(0).size_bytes
        return QueryOutcome(Cost(wall_s, wall_s), 0.0, wall_s, ScanWork(count, 0, size_bytes, 0))

    def control(self) -> Cost | None:
        control_s = self.costs.control_s
        return None if control_s is None else Cost(control_s, 2 * control_s)

    def _small_files(self) -> list[IcebergDataFile]:
        small = [f for f in self.ledger.data_files.values() if f.size_bytes < TARGET_BYTES * 3 // 4]
        partitions = [f.partition for f in small]
        return [f for f in small if partitions.count(f.partition) > 1]

    def _merge(self, inputs: list[IcebergDataFile], at_ms: int, tag: Tag | None = None) -> Version:
        made = []
        for partition in dict.fromkeys(f.partition for f in inputs):
            merged = [f for f in inputs if f.partition == partition]
            made.append(self._file(partition, sum(f.size_bytes for f in merged), sum(f.rows for f in merged)))
        applied = list(self.ledger.delete_files)[:-1]
        self.ledger.remove([*(f.path for f in inputs), *applied])
        self.ledger.add(made, at_ms)
        size_bytes = sum(f.size_bytes for f in inputs)
        self._dead_bytes += size_bytes
        return self._version(Change(len(made), len(inputs), 0, len(applied), size_bytes, size_bytes), tag)

    def _version(self, change: Change, tag: Tag | None) -> Version:
        version = Version(f"v{next(self._version_numbers)}", "fake", change, tag)
        self.ledger.saw_versions((version,))
        return version

    def _file(self, partition: str, size_bytes: int, rows: int) -> IcebergDataFile:
        return IcebergDataFile(f"file-{next(self._numbers)}", size_bytes, rows, partition)

    def _delete(self, number: int) -> IcebergDeleteFile:
        kind = DeleteKind.POSITION if number else DeleteKind.EQUALITY
        return IcebergDeleteFile(f"delete-{next(self._numbers)}", 100, 10, kind=kind)

    def _tell_pending(self) -> None:
        self.ledger.pending = lambda: tuple(seen for seen, _ in self._pending.values())

    def _observe(self) -> Observation:
        cost = Cost(self.costs.observe_s, self.costs.observe_s)
        return self.ledger.observation(cost, self.ledger.state(0).size_bytes + self._dead_bytes, 0)


def _is_maintenance(plan: Plan) -> bool:
    return all(isinstance(a, Native) and a.command in MAINTENANCE for a in plan.actions)
