"""Apache Amoro's self-optimizing of native Iceberg tables, as a planner.

Rules and constants are those of upstream master at 96a4d78 (2026-08-22, after 0.9.0-rc4), by the reference
page's sections 1.1, 2.1 to 2.7 and 3.1; the modules of this folder hold a step each. What differs:

- Where Amoro's order is accidental, over object identities or over a scan of several manifests, ours is by
  path. The order of partitions is that of its hash maps (`hash_map`).
- A look is an evaluation and a plan at once. Amoro evaluates at its own refreshes, once a minute by default,
  keeps the partitions found (`PendingInput`), and plans when `min-plan-interval` is over: on the newest
  snapshot, but of those partitions alone. The two are one as long as no look falls between a plan and the
  end of its `min-plan-interval`: then the first look after a process is also the first that may plan, and
  all is as upstream. A trigger that fires more often makes looks at which Amoro would evaluate and not plan;
  partitions that become worth optimizing after such a look wait there for the plan after the next, and are
  in the next one here. To freeze them the planner would have to know when its rule looked since the last
  process, and which files the table held then. A state tells neither: a look leaves no trace in it, its
  commits have a time but neither partitions nor sequence numbers, and files replaced since are gone.
- Amoro skips a table whose snapshot it has judged before. A planner does not remember which version it has
  judged, so a look at an unchanged table judges again: an interval that ended meanwhile fires here at once,
  there at the next commit.
- A filter is evaluated on partition columns alone (`partition_filter`).

One thing is more, and off by default: a full optimization may sort, which Amoro cannot (upstream #1360).

The plan may drop a delete file that another partition, or a partition left out, still needs: Amoro does
(2.7). Whether that is safe is for the engine to check.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar

from strategies.amoro.clocks import Clocks, OptimizingType, read_clocks
from strategies.amoro.decision import PartitionDecision, decide_partition, is_worth_a_scan
from strategies.amoro.evaluation import FileClass, Partition, admitted, amoro_index, evaluate, filtered
from strategies.amoro.hash_map import collected
from strategies.amoro.health import Health, health
from strategies.amoro.options import KNOWN_OPTIONS, Settings, read_settings
from strategies.amoro.pending import PendingInput
from strategies.amoro.tasks import PartitionCandidate, PartitionPlan, candidate_of, choose
from strategies.iceberg.deletes.index import DeleteIndex
from strategies.iceberg.files import IcebergDataFile, iceberg_state
from strategies.options import OptionValue
from strategies.plan import Capability, Plan, Rewrite
from strategies.state import MIB, TableState

_STRENGTH = tuple(OptimizingType)


@dataclass(frozen=True, slots=True)
class Amoro:
    """Optimize as Apache Amoro does: fragments often, whole segments seldom, by the partition.

    `options` are Amoro's own properties; sizes may be texts such as "128MiB", times are milliseconds or
    texts such as "1h". One plan takes partitions of `max_input_per_thread_bytes` x `threads`, which are
    group settings in Amoro (max-input-file-size-per-thread, optimizer threads), out of at most
    `max_pending_partitions` (refresh-tables.max-pending-partition-count) and those that files of other
    partition specs are in. With `full_sort_columns` a full
    optimization takes a partition as one task and writes what it rewrites in their order.
    """

    options: Mapping[str, OptionValue] = field(default_factory=dict)
    threads: int = 1
    max_input_per_thread_bytes: int = 512 * MIB
    max_pending_partitions: int = 100
    full_sort_columns: tuple[str, ...] = ()
    known_options: ClassVar[Mapping[str, str]] = KNOWN_OPTIONS
    needs: ClassVar[frozenset[str]] = frozenset({Capability.REWRITE, Capability.CONVERT})
    max_format_version: ClassVar[int] = 2  # upstream at 96a4d78 depends on Iceberg 1.7.2, without vectors

    def __post_init__(self) -> None:
        settings = read_settings(self.options)
        _check_sorting(self.full_sort_columns, settings)
        for name in ("threads", "max_input_per_thread_bytes", "max_pending_partitions"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be >= 1")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that its plans and its filter name."""
        own = read_settings(self.options).filter
        return tuple(dict.fromkeys((*self.full_sort_columns, *(own.columns if own else ()))))

    def decide(self, state: TableState) -> Plan | None:
        settings, table = read_settings(self.options), iceberg_state(state)
        if not settings.is_enabled or table.pending:  # one process a table at a time
            return None
        clocks = read_clocks(table)
        if not clocks.may_plan(settings) or not is_worth_a_scan(table, settings, clocks):
            return None
        index = amoro_index(table)
        candidates = self._candidates(table.data_files, index, settings, clocks)
        budget_bytes = self.max_input_per_thread_bytes * self.threads
        chosen = choose(candidates, index, settings, budget_bytes, self.full_sort_columns)
        return _plan(chosen, settings) if any(plan.tasks for plan in chosen) else None

    def health(self, state: TableState) -> Health:
        """Amoro's health score of the table under these options."""
        return health(iceberg_state(state), read_settings(self.options))

    def figures(self, state: TableState) -> Mapping[str, float]:
        """What Amoro reports of a table at a look, for the decision log."""
        scores = self.health(state)
        return {
            "health_score": scores.total,
            "health_small_files": scores.small_files,
            "health_equality_deletes": scores.equality_deletes,
            "health_position_deletes": scores.position_deletes,
        }

    def _candidates(
        self, files: Collection[IcebergDataFile], index: DeleteIndex, settings: Settings, clocks: Clocks
    ) -> Iterable[PartitionCandidate]:
        """The partitions to optimize among those that the pending ones let through, in Amoro's order.

        An evaluation finds at most so many partitions pending, the plan evaluates what their filter admits.
        """
        full_due = clocks.is_full_due(settings)
        looked_at = filtered(files, settings)
        evaluated = evaluate(looked_at, index, settings, full_due)
        necessary = islice(_necessary(evaluated, settings, clocks), self.max_pending_partitions)
        pending = PendingInput(partition.scanned_first for partition, _ in necessary)
        scanned = looked_at if pending.is_everything else admitted(files, pending.admits)
        planned = evaluate(scanned, index, settings, full_due, known=evaluated)
        found = {
            partition.name: candidate_of(partition, decision, settings)
            for partition, decision in _necessary(planned, settings, clocks)
        }
        return (found[name] for name in collected(found))


def _necessary(
    partitions: Iterable[Partition], settings: Settings, clocks: Clocks
) -> Iterator[tuple[Partition, PartitionDecision]]:
    for partition in partitions:
        decision = decide_partition(partition, settings, clocks)
        if decision is not None:
            yield partition, decision


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
    """A partition's type, what fired, and the figures it was decided by."""
    candidate = plan.candidate
    fired = ", ".join(f"{trigger} ({figures})" for trigger, figures in candidate.decision.fired)
    counts = " ".join(f"{each}={candidate.partition.count(each)}" for each in FileClass)
    return (
        f"{candidate.partition.name or 'table'}: {candidate.decision.optimizing_type} by {fired}; {counts} "
        f"equality={candidate.partition.equality.files_count} "
        f"position={candidate.partition.position.files_count}, "
        f"cost {candidate.cost_bytes} B, {len(plan.tasks)} tasks"
    )
