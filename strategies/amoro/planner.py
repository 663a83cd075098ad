"""Apache Amoro's self-optimizing of native Iceberg tables, as a planner.

Rules and constants are those of upstream master at 96a4d78 (2026-08-22, after 0.9.0-rc4), by the reference
page's sections 1.1, 2.1 to 2.7 and 3.1; the modules of this folder hold a step each. Differences:

- Where Amoro's order is accidental, by object identity or by a scan of several manifests, ours is by path.
  Partitions come in the order of Amoro's hash maps (`strategies.java_hash_map`).
- An evaluation happens when the rule's trigger fires, in Amoro at each refresh, once a minute by default. The
  plan follows at once, or at the first firing after the end of `min-plan-interval`; in Amoro it follows at
  its end. What Amoro keeps in between is the planner's note (`strategies.amoro.note`).
- A filter is evaluated on partition columns alone (`partition_filter`).
- A full optimization may sort, which Amoro cannot (upstream #1360); this is off by default.

Amoro's code means to plan only the partitions that the evaluation found, and at most
refresh-tables.max-pending-partition-count of them. At 96a4d78 they are lost when the table's pending input is
stored (`PendingInput.partitions` is `@JsonIgnore`, `DefaultTableRuntimeStore` keeps JSON; upstream #4122,
open), so the plan has no filter and no limit. Up to 0.8.1 the filter works, but a pending table is evaluated
again at each refresh, which replaces it. The default here is what the code means, with Amoro's own limit of
100; `max_pending_partitions = 0` is what 96a4d78 does. Both plan alike a table of fewer partitions, none of
which falls due between an evaluation and its plan.

Like Amoro's, the plan may drop a delete file that another partition still needs (2.7): the engine checks it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from strategies.amoro.clocks import Clocks, OptimizingType, read_clocks
from strategies.amoro.decision import cost_bytes, decide_partition, is_worth_a_scan
from strategies.amoro.evaluation import FileClass, Partition, admitted, amoro_index, evaluate, filtered
from strategies.amoro.health import health
from strategies.amoro.note import AmoroNote, recall
from strategies.amoro.options import KNOWN_OPTIONS, Settings, read_settings
from strategies.amoro.pending import PendingInput
from strategies.amoro.tasks import PartitionCandidate, PartitionPlan, choose
from strategies.iceberg.files import IcebergDataFile, IcebergState
from strategies.java_hash_map import collected
from strategies.options import OptionValue
from strategies.plan import Capability, Plan, Rewrite, state_as
from strategies.planner import Answer, Planner, PlannerTraits
from strategies.state import MIB, TableState

_STRENGTH = tuple(OptimizingType)


@dataclass(frozen=True, slots=True)
class Amoro(Planner):
    """Optimize as Apache Amoro does: fragments often, whole segments seldom, by the partition.

    `options` are Amoro's own properties; sizes may be texts such as "128MiB", times are milliseconds or
    texts such as "1h". `self-optimizing.filter` is evaluated on partition values alone, and null matches no
    `<` or `<=`: Amoro also takes null partitions where files have no column metrics.

    On a table of many partitions a plan may leave some for later. It takes whole partitions, the most
    expensive first, until their cost exceeds `threads` x `max_input_per_thread_bytes`, which are group
    settings in Amoro (optimizer threads, max-input-file-size-per-thread). A file to rewrite costs twice its
    bytes and 4 MiB (`read.split.open-file-cost`), so at the defaults about 128 small files are the limit. If
    more come between two evaluations, in several partitions, set more `threads` or evaluate more often.

    With `full_sort_columns` a full optimization takes a partition as one task and writes what it rewrites in
    their order.

    With `max_pending_partitions` (refresh-tables.max-pending-partition-count) an evaluation that finds
    partitions to optimize keeps at most so many of them, and until the plan is made no other is added: it is
    of these partitions with the files they have by then, and of those that files of other partition specs
    are in. 0 keeps none and plans all, as an Amoro server at 96a4d78 does (see the module).
    """

    options: Mapping[str, OptionValue] = field(default_factory=dict)
    threads: int = 1
    max_input_per_thread_bytes: int = 512 * MIB
    max_pending_partitions: int = 100
    full_sort_columns: tuple[str, ...] = ()
    known_options: ClassVar[Mapping[str, str]] = KNOWN_OPTIONS

    def __post_init__(self) -> None:
        settings = read_settings(self.options)
        _check_sorting(self.full_sort_columns, settings)
        for name, least in (
            ("threads", 1),
            ("max_input_per_thread_bytes", 1),
            ("max_pending_partitions", 0),
        ):
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)} must be >= {least}")

    def traits(self) -> PlannerTraits:
        own = read_settings(self.options).filter
        return PlannerTraits(
            needs=frozenset({Capability.REWRITE, Capability.CONVERT}),
            columns=tuple(dict.fromkeys((*self.full_sort_columns, *(own.columns if own else ())))),
            max_format_version=2,  # upstream at 96a4d78 depends on Iceberg 1.7.2, without deletion vectors
        )

    def decide(self, state: TableState) -> Answer:
        table, settings = state_as(IcebergState, state), read_settings(self.options)
        evaluated = _all_evaluated(table, settings)
        plan, note = self._evaluation(table, settings, evaluated)
        return Answer(plan, note, self._figures(table, settings, evaluated))

    def _figures(
        self, table: IcebergState, settings: Settings, evaluated: Sequence[Partition]
    ) -> Mapping[str, float]:
        """Amoro's health scores of a table, how many partitions are due, and how many one plan leaves."""
        due = _necessary(evaluated, settings, read_clocks(table))
        taken = self._choose(due[: self.max_pending_partitions or None], table, settings)
        scores = health(evaluated, settings)
        return {
            "partitions_due": len(due),
            "partitions_left": len(due) - len(taken),
            "health_score": scores.total,
            "health_small_files": scores.small_files,
            "health_equality_deletes": scores.equality_deletes,
            "health_position_deletes": scores.position_deletes,
        }

    def _evaluation(
        self, table: IcebergState, settings: Settings, evaluated: Sequence[Partition]
    ) -> tuple[Plan | None, AmoroNote]:
        """A refresh, which may leave the table pending, and the plan of a pending table if it is due.

        `evaluated` are all partitions that the options admit.
        """
        note = recall(table)
        if not settings.is_enabled or table.pending or note.has_judged(table.version):
            return None, note  # with a compaction pending too: Amoro runs one process a table at a time
        clocks = read_clocks(table, note.planned_at_ms)
        if not note.is_pending:
            if not is_worth_a_scan(table, settings, clocks):
                return None, note
            necessary = _necessary(evaluated, settings, clocks)
            if not necessary:
                return None, note.judged(table.version)
            note = note.pending(self._limited(necessary))
        if not clocks.may_plan(settings):
            return None, note
        scanned = _scanned(table.data_files, note.pending_partitions, settings)
        planned = _evaluated(scanned, table, settings, clocks, evaluated)
        by_name = {candidate.partition.name: candidate for candidate in _necessary(planned, settings, clocks)}
        # In the order of the map that upstream collects the partitions and copies them into.
        chosen = self._choose([by_name[name] for name in collected(by_name)], table, settings)
        if not any(plan.tasks for plan in chosen):
            return None, note.planned_nothing(table.version, table.observed_at_ms)
        return _plan(chosen, settings), note.planned(table.version, table.observed_at_ms)

    def _choose(
        self, candidates: Sequence[PartitionCandidate], table: IcebergState, settings: Settings
    ) -> tuple[PartitionPlan, ...]:
        budget_bytes = self.max_input_per_thread_bytes * self.threads
        return choose(candidates, amoro_index(table), settings, budget_bytes, self.full_sort_columns)

    def _limited(self, necessary: Sequence[PartitionCandidate]) -> tuple[str, ...] | None:
        """The pending partitions that a plan is limited to; None: no limit."""
        count = self.max_pending_partitions
        return tuple(candidate.partition.scanned_first for candidate in necessary[:count]) if count else None


def _all_evaluated(table: IcebergState, settings: Settings) -> tuple[Partition, ...]:
    """The partitions that the options admit, evaluated now; none if they disable optimizing."""
    if not settings.is_enabled:
        return ()
    return _evaluated(filtered(table.data_files, settings), table, settings, read_clocks(table))


def _evaluated(
    files: Collection[IcebergDataFile],
    table: IcebergState,
    settings: Settings,
    clocks: Clocks,
    known: Iterable[Partition] = (),
) -> tuple[Partition, ...]:
    return evaluate(files, amoro_index(table), settings, clocks.is_full_due(settings), known)


def _scanned(
    files: Collection[IcebergDataFile], limit: tuple[str, ...] | None, settings: Settings
) -> Collection[IcebergDataFile]:
    """The files that a plan evaluates, by the filter of the pending partitions or else by the option's."""
    pending = None if limit is None else PendingInput(limit)
    if pending is None or pending.is_everything:
        return filtered(files, settings)
    return admitted(files, pending.admits)


def _necessary(
    partitions: Iterable[Partition], settings: Settings, clocks: Clocks
) -> list[PartitionCandidate]:
    decided = ((partition, decide_partition(partition, settings, clocks)) for partition in partitions)
    return [
        PartitionCandidate(partition, decision, cost_bytes(partition, settings))
        for partition, decision in decided
        if decision is not None
    ]


def _check_sorting(columns: tuple[str, ...], settings: Settings) -> None:
    if len(set(columns)) < len(columns):
        raise ValueError(f"full_sort_columns={list(columns)} names a column twice")
    if columns and settings.full_interval_ms < 0:
        raise ValueError(
            f"full_sort_columns={list(columns)} sorts full optimizations, of which there are none: give "
            "option self-optimizing.full.trigger.interval, or leave full_sort_columns out"
        )


def _plan(chosen: tuple[PartitionPlan, ...], settings: Settings) -> Plan:
    """One rewrite, a group a task. Its type is the strongest of any partition chosen, tasks or not.

    The reason is what fired first in the most expensive partition of that type.
    """
    decisions = [plan.candidate.decision for plan in chosen]
    strongest = max((decision.optimizing_type for decision in decisions), key=_STRENGTH.index)
    leading = next(decision for decision in decisions if decision.optimizing_type is strongest)
    groups = tuple(group for plan in chosen for group in plan.tasks)
    removed = frozenset[str]().union(*(plan.removed_deletes for plan in chosen))
    action = Rewrite(groups, settings.target_bytes, tuple(sorted(removed)))
    lines = [settings.warning] if settings.warning else []
    lines += [_describe(plan) for plan in chosen]
    return Plan((action,), leading.fired[0][0].reason, "; ".join(lines), strongest.value)


def _describe(plan: PartitionPlan) -> str:
    candidate = plan.candidate
    fired = ", ".join(f"{trigger} ({figures})" for trigger, figures in candidate.decision.fired)
    counts = " ".join(f"{file_class}={candidate.partition.count(file_class)}" for file_class in FileClass)
    return (
        f"{candidate.partition.name or 'table'}: {candidate.decision.optimizing_type} by {fired}; {counts} "
        f"equality={candidate.partition.equality.files_count} "
        f"position={candidate.partition.position.files_count}, "
        f"cost {candidate.cost_bytes} B, {len(plan.tasks)} tasks"
    )
