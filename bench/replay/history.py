"""What planners are told of a run besides the state of its table: its queries and its compactions."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from bench.engines.contract import INLINE, InlineCompaction, Outcome, Ticket, total_change
from bench.engines.ledger import HISTORY_LIMIT
from bench.results.values import Change, Cost, ScanWork
from strategies.preview import NoPreview, PlanPreview
from strategies.series import runs_of
from strategies.state import OWN_EXECUTOR, CompactionSeen, CostPriors, PartitionStats, ProbeSeen, TableState

NO_PRIORS: Mapping[str, CostPriors] = MappingProxyType({})

_Seen = TypeVar("_Seen")


class _Recent(Generic[_Seen]):
    """The latest things seen, oldest first, as a tuple that is made anew only after a change."""

    def __init__(self) -> None:
        self._kept: deque[_Seen] = deque(maxlen=HISTORY_LIMIT)
        self._tuple: tuple[_Seen, ...] | None = ()

    def add(self, seen: _Seen) -> None:
        self._kept.append(seen)
        self._tuple = None

    def replace_last(self, seen: _Seen) -> None:
        self._kept[-1] = seen
        self._tuple = None

    @property
    def last(self) -> _Seen | None:
        return self._kept[-1] if self._kept else None

    def __call__(self) -> tuple[_Seen, ...]:
        if self._tuple is None:
            self._tuple = tuple(self._kept)
        return self._tuple


class History:
    """The primary probe and the compactions of one table, as far back as planners can look.

    The queries around a compaction are those that reports show (`bench.results.query_effect`): before it the
    last one of the same tick, after it the first one. It has none if it committed nothing or belongs to a
    commit.
    """

    def __init__(self, cost_priors: Mapping[str, CostPriors] = NO_PRIORS) -> None:
        self._cost_priors = cost_priors
        self._probes, self._compactions = _Recent[ProbeSeen](), _Recent[CompactionSeen]()
        self._probed_tick: int | None = None
        self._awaits_query = False  # the last compaction, for the query after it

    @property
    def probe(self) -> ProbeSeen | None:
        """The latest run of the primary probe."""
        return self._probes.last

    def saw_probe(self, tick: int, probe: ProbeSeen) -> None:
        self._probes.add(probe)
        self._probed_tick = tick
        done = self._compactions.last
        if self._awaits_query and done is not None:
            self._compactions.replace_last(replace(done, query_after_s=probe.latency_s))
            self._awaits_query = False

    def saw_compaction(
        self, tick: int, at_ms: int, ticket: Ticket, outcome: Outcome, *, is_inline: bool = False
    ) -> None:
        """A plan of a rule, completed at a moment; a commit has waited for it if it `is_inline`."""
        has_queries = outcome.status == "ok" and not is_inline
        has_before = has_queries and self._probed_tick == tick
        change, plan = outcome.change, ticket.plan
        seen = _seen(
            at_ms, change, outcome.cost, outcome.status, plan.reason, ticket.scheduled_at_ms,
            kind=plan.kind,
            query_before_s=self.probe.latency_s if self.probe and has_before else None,
            executor=ticket.executor or OWN_EXECUTOR,
            replaced=_replaced(ticket.preview, change),
        )  # fmt: skip
        self._compactions.add(seen)
        self._awaits_query = has_queries

    def saw_inline(self, at_ms: int, compactions: Iterable[InlineCompaction]) -> None:
        """The compactions that a commit ran by itself."""
        for compaction in compactions:
            change = total_change(compaction.versions)
            seen = _seen(at_ms, change, compaction.cost, "ok", INLINE, at_ms, executor=OWN_EXECUTOR)
            self._compactions.add(seen)
            self._awaits_query = False

    def added_to(self, state: TableState, probe_rate_per_s: float) -> TableState:
        """A state of the table with what is known of the run."""
        probe = self.probe
        return replace(
            state,
            probe_rate_per_s=probe_rate_per_s,
            probe_latency_s=None if probe is None else probe.latency_s,
            probe_latency_age_ms=None if probe is None else state.observed_at_ms - probe.at_ms,
            probes=self._probes(),
            compactions=self._compactions(),
            cost_priors=self._cost_priors,
        )


def probe_seen(at_ms: int, cost: Cost, work: ScanWork) -> ProbeSeen:
    return ProbeSeen(at_ms, cost.wall_s, cost.cpu_s, work.files_count, work.delete_files_count)


def _seen(
    at_ms: int, change: Change, cost: Cost, status: str, reason: str, scheduled_at_ms: int, **known: Any
) -> CompactionSeen:
    return CompactionSeen(
        at_ms, status, reason,
        files_removed_count=change.files_removed_count,
        files_added_count=change.files_added_count,
        replaced_bytes=change.replaced_bytes,
        added_bytes=change.added_bytes,
        wall_s=cost.wall_s,
        cpu_s=cost.cpu_s,
        scheduled_at_ms=scheduled_at_ms,
        **known,
    )  # fmt: skip


def _replaced(preview: PlanPreview, change: Change) -> Mapping[str, PartitionStats] | None:
    """The replaced data files by partition, as previewed; None if other files were replaced than that."""
    if not change.files_removed_count:
        return {}
    totals: dict[str, list[int]] = {}
    for action in preview.actions:
        if isinstance(action, NoPreview):
            return None
        for group in action.groups:
            for run in runs_of(group.files):
                file, total = run.first, totals.setdefault(run.first.partition, [0, 0, 0])
                total[0] += run.count
                total[1] += run.count * file.size_bytes
                total[2] += run.count * file.rows
    replaced = {name: PartitionStats(*total) for name, total in totals.items()}
    previewed_count = sum(stats.files_count for stats in replaced.values())
    return replaced if previewed_count == change.files_removed_count else None
