"""Apache Amoro's self-optimizing of native Iceberg tables, as a planner.

Rules and constants are upstream master's at 96a4d78 (2026-08-22, after 0.9.0-rc4). Each module of this folder
holds one step. Differences:

- Where Amoro's order is accidental (object identity, parallel scans of manifests), files are ordered by path.
  Partitions come in the order of Amoro's hash maps (`strategies.java_hash_map`).
- The table is evaluated when the rule's trigger fires; Amoro does so at each refresh, once a minute by
  default. The plan is made at once, or at the first firing after `min-plan-interval` has passed; Amoro makes
  it as soon as that has passed. What Amoro keeps in between is the planner's note (`strategies.amoro.note`).
- A filter is evaluated on partition columns alone (`partition_filter`).
- A full optimization may sort, which Amoro cannot (upstream #1360); this is off by default.

Amoro is meant to plan only the partitions that the evaluation found, and at most
refresh-tables.max-pending-partition-count of them. At 96a4d78 they are lost when the table's pending input is
stored (`PendingInput.partitions` is `@JsonIgnore`, `DefaultTableRuntimeStore` keeps JSON; upstream #4122,
open), so the plan has no filter and no limit. Up to 0.8.1 the filter works, but each refresh evaluates a
pending table again and replaces it. The default here is the intended behaviour, with Amoro's own limit of
100; `max_pending_partitions = 0` does what 96a4d78 does. The two differ only if a table has more partitions,
or if one becomes due between an evaluation and its plan.

Like Amoro's, the plan may drop a delete file that another partition still needs; the engine then vetoes it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from strategies.amoro.clocks import Clocks, OptimizingType, read_clocks
from strategies.amoro.decision import REASONS, Candidate, decide_partition, is_worth_a_scan
from strategies.amoro.evaluation import FileClass, Partition, admitted, amoro_index, evaluate, filtered
from strategies.amoro.health import health
from strategies.amoro.note import AmoroNote, recall
from strategies.amoro.options import KNOWN_OPTIONS, Settings, read_settings
from strategies.amoro.tasks import PartitionPlan, Split, choose, splitter
from strategies.iceberg.files import IcebergDataFile, IcebergState
from strategies.java_hash_map import collected
from strategies.options import OptionValue
from strategies.partitions import fields_of
from strategies.plan import Capability, Plan, Rewrite, state_as
from strategies.planner import Answer, Planner, PlannerTraits
from strategies.state import MIB, TableState

_STRENGTH = tuple(OptimizingType)


@dataclass(frozen=True, slots=True)
class Amoro(Planner):
    """Optimize partitions as Apache Amoro does: merge fragments often, rewrite whole segments seldom.

    `options` are Amoro's own properties; sizes may be texts such as "128MiB", times are milliseconds or
    texts such as "1h". `self-optimizing.filter` is evaluated on partition values alone. Null matches no `<`
    or `<=`, whereas Amoro also takes null partitions whose files have no column metrics.

    On a table of many partitions a plan may leave some for later. It takes whole partitions, the most
    expensive first, until their cost exceeds `threads` x `max_input_per_thread_bytes`, which are group
    settings in Amoro (optimizer threads, max-input-file-size-per-thread). A file to rewrite costs twice its
    bytes and 4 MiB (`read.split.open-file-cost`), so at the defaults about 128 small files are the limit. If
    more come between two evaluations, in several partitions, set more `threads` or evaluate more often.

    With `full_sort_columns` a full optimization takes a partition as one task and writes what it rewrites in
    their order.

    With `max_pending_partitions` (refresh-tables.max-pending-partition-count) an evaluation keeps at most so
    many of the partitions that it finds due. The plan is limited to these partitions, with the files they
    have by then, and to partitions with files of other partition specs. With 0 there is no limit, as in an
    Amoro server at its commit 96a4d78.
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
        minima = {"threads": 1, "max_input_per_thread_bytes": 1, "max_pending_partitions": 0}
        for name, least in minima.items():
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)} must be >= {least}")

    def traits(self) -> PlannerTraits:
        partition_filter = read_settings(self.options).filter
        filter_columns = partition_filter.columns if partition_filter else ()
        sorting = {Capability.SORT} if self.full_sort_columns else set()
        return PlannerTraits(
            needs=frozenset({Capability.REWRITE, Capability.CONVERT, *sorting}),
            columns=tuple(dict.fromkeys((*self.full_sort_columns, *filter_columns))),
            max_format_version=2,  # upstream at 96a4d78 depends on Iceberg 1.7.2, without deletion vectors
        )

    def decide(self, state: TableState) -> Answer:
        table, settings = state_as(IcebergState, state), read_settings(self.options)
        note = recall(table)
        clocks = read_clocks(table, note.planned_at_ms)
        files = filtered(table.data_files, settings) if settings.is_enabled else ()
        evaluated = _evaluated(files, table, settings, clocks)
        due = _necessary(evaluated, settings, clocks)
        split = splitter(amoro_index(table), settings, self.full_sort_columns)
        figures = self._figures(evaluated, due, settings, split)
        plan: Plan | None = None
        # Amoro runs one process at a time for each table.
        if settings.is_enabled and not table.pending and not note.has_judged(table.version):
            note = self._refreshed(note, table, settings, clocks, due)
            if note.is_pending and clocks.may_plan(settings):
                plan, note = self._planned(note, table, settings, clocks, evaluated, split)
        return Answer(plan, note, figures)

    def _refreshed(
        self, note: AmoroNote, table: IcebergState, settings: Settings, clocks: Clocks,
        due: Sequence[Candidate],
    ) -> AmoroNote:  # fmt: skip
        """The note after a refresh, which makes the table pending if partitions are due."""
        if note.is_pending or not is_worth_a_scan(table, settings, clocks):
            return note
        if not due:
            return note.judged(table.version)
        limited = [candidate.partition.scanned_first for candidate in due[: self.max_pending_partitions]]
        return note.pending(tuple(limited) if self.max_pending_partitions else None)

    def _planned(
        self, note: AmoroNote, table: IcebergState, settings: Settings, clocks: Clocks,
        evaluated: Sequence[Partition], split: Split,
    ) -> tuple[Plan | None, AmoroNote]:  # fmt: skip
        """The plan of a pending table, None without a task; `evaluated` are known partitions."""
        scanned = _scanned(table.data_files, note.pending_partitions, settings)
        planned = _evaluated(scanned, table, settings, clocks, evaluated)
        by_name = {candidate.partition.name: candidate for candidate in _necessary(planned, settings, clocks)}
        # In the order of the map into which upstream collects the partitions.
        chosen = choose([by_name[name] for name in collected(by_name)], self._budget_bytes, split)
        if not any(plan.tasks for plan in chosen):
            return None, note.planned_nothing(table.version, table.observed_at_ms)
        return _plan(chosen, settings), note.planned(table.version, table.observed_at_ms)

    @property
    def _budget_bytes(self) -> int:
        return self.max_input_per_thread_bytes * self.threads

    def _figures(
        self, evaluated: Sequence[Partition], due: Sequence[Candidate], settings: Settings, split: Split
    ) -> Mapping[str, float]:
        """Amoro's health scores, the number of partitions due, and how many of them one plan leaves."""
        taken = choose(due[: self.max_pending_partitions or None], self._budget_bytes, split)
        scores = health(evaluated, settings)
        return {
            "partitions_due": len(due),
            "partitions_left": len(due) - len(taken),
            "health_score": scores.total,
            "health_small_files": scores.small_files,
            "health_equality_deletes": scores.equality_deletes,
            "health_position_deletes": scores.position_deletes,
        }


def _evaluated(
    files: Collection[IcebergDataFile],
    table: IcebergState,
    settings: Settings,
    clocks: Clocks,
    known: Iterable[Partition] = (),
) -> tuple[Partition, ...]:
    return evaluate(files, amoro_index(table), settings, clocks.is_full_due(settings), known)


def _scanned(
    files: Collection[IcebergDataFile], pending_partitions: tuple[str, ...] | None, settings: Settings
) -> Collection[IcebergDataFile]:
    """The files that a plan evaluates: of the pending partitions, or all that the option's filter admits.

    Iceberg applies a condition on partition columns of one spec to the files of another as far as that has
    the same columns, so files of specs without these columns pass. Here fields of two specs are the same if
    they have the same name. A spec without fields makes one partition of the whole table.

    Source: upstream `IcebergTableUtil.createOptimizingPlanner` and
    `ExpressionUtil.convertPartitionDataToDataFilter` at 96a4d78; `Projections.inclusive` and
    `ProjectionUtil.projectTransformPredicate` of Iceberg 1.7.2.
    """
    conditions = [fields_of(partition) for partition in pending_partitions or ()]
    if pending_partitions is None or not all(conditions):
        return filtered(files, settings)

    def admits(partition: str) -> bool:
        fields = fields_of(partition)
        return any(
            all(fields.get(name, value) == value for name, value in condition.items())
            for condition in conditions
        )

    return admitted(files, admits)


def _necessary(partitions: Iterable[Partition], settings: Settings, clocks: Clocks) -> list[Candidate]:
    return list(filter(None, (decide_partition(partition, settings, clocks) for partition in partitions)))


def _check_sorting(columns: tuple[str, ...], settings: Settings) -> None:
    if len(set(columns)) < len(columns):
        raise ValueError(f"full_sort_columns={list(columns)} names a column twice")
    if columns and settings.full_interval_ms < 0:
        raise ValueError(
            f"full_sort_columns={list(columns)} sorts full optimizations, and there are none: set option "
            "self-optimizing.full.trigger.interval, or leave full_sort_columns out"
        )


def _plan(chosen: tuple[PartitionPlan, ...], settings: Settings) -> Plan:
    """One rewrite with a group for each task. Its type is the strongest of all chosen partitions.

    Partitions without tasks count towards the type. The reason is the condition that fired first in the most
    expensive partition of that type.
    """
    candidates = [plan.candidate for plan in chosen]
    strongest = max((candidate.optimizing_type for candidate in candidates), key=_STRENGTH.index)
    leading = next(candidate for candidate in candidates if candidate.optimizing_type is strongest)
    groups = tuple(group for plan in chosen for group in plan.tasks)
    removed = frozenset[str]().union(*(plan.removed_deletes for plan in chosen))
    action = Rewrite(groups, settings.target_bytes, tuple(sorted(removed)))
    lines = [settings.warning] if settings.warning else []
    lines += [_describe(plan) for plan in chosen]
    return Plan((action,), REASONS[leading.fired[0][0]], "; ".join(lines), strongest.value)


def _describe(plan: PartitionPlan) -> str:
    candidate = plan.candidate
    fired = ", ".join(f"{trigger} ({figures})" for trigger, figures in candidate.fired)
    counts = " ".join(f"{file_class}={candidate.partition.count(file_class)}" for file_class in FileClass)
    return (
        f"{candidate.partition.name or 'table'}: {candidate.optimizing_type} by {fired}; {counts} "
        f"equality={candidate.partition.equality.files_count} "
        f"position={candidate.partition.position.files_count}, "
        f"cost {candidate.cost_bytes} B, {len(plan.tasks)} tasks"
    )
