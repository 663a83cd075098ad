"""Whether a simulated run made the same decisions as the real run of the same scenario and strategy."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from bench.errors import ScenarioError
from bench.results.folders import RunResult
from bench.results.records import CompactionRecord, DecisionRecord
from bench.results.rows import usable

_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The evaluation of a strategy in one tick: the decision in words, and the compactions of the tick.

    `planned` is the one that followed the decision, `inline` one that the commit of the tick ran itself.
    """

    tick: int
    at_ms: int
    decision: str
    planned: CompactionRecord | None
    inline: CompactionRecord | None

    @property
    def compaction(self) -> CompactionRecord | None:
        """The planned one, or else the one of the commit."""
        return self.inline if self.planned is None else self.planned


@dataclass(frozen=True, slots=True)
class Pair:
    """The same evaluation in both modes; None if a run does not have it."""

    strategy: str
    real: Evaluation | None
    simulated: Evaluation | None

    @property
    def evaluations(self) -> tuple[Evaluation | None, Evaluation | None]:
        return (self.real, self.simulated)

    @property
    def compactions(self) -> tuple[CompactionRecord | None, CompactionRecord | None]:
        real, simulated = (evaluation.compaction if evaluation else None for evaluation in self.evaluations)
        return (real, simulated)

    @property
    def tick(self) -> int:
        return next(evaluation.tick for evaluation in self.evaluations if evaluation)

    @property
    def same_decision(self) -> bool:
        """Whether both runs made the same decision at the same time."""
        return _decision(self.real) == _decision(self.simulated)

    @property
    def same_files(self) -> bool:
        """Whether all compactions had the same status, numbers of files and, if recorded, partitions."""
        return self._all(_is_alike)

    @property
    def same_partitions(self) -> bool:
        """Whether all compactions had the same status and the same partitions, recorded in both modes."""
        return self._all(_has_same_partitions)

    def _all(self, is_same: Callable[[CompactionRecord, CompactionRecord], bool]) -> bool:
        """Whether this is so of the planned compactions of both runs, and of those that commits ran."""
        real, simulated = (
            (one.planned, one.inline) if one is not None else (None, None) for one in self.evaluations
        )
        return all(
            a is b if a is None or b is None else is_same(a, b) for a, b in zip(real, simulated, strict=True)
        )


def side_by_side(runs: Iterable[RunResult]) -> tuple[Pair, ...]:
    """The evaluations of each strategy's first usable run in either mode, side by side and in order.

    Raises ScenarioError if no strategy has a run in both modes.
    """
    first: dict[_Key, dict[str, RunResult]] = {}
    for run in sorted(runs, key=_order):
        if usable(run):
            manifest = run.manifest
            key = (manifest.scenario_hash, manifest.strategy_hash, manifest.strategy)
            first.setdefault(key, {}).setdefault(manifest.mode, run)
    in_both_modes = [by_mode for by_mode in first.values() if len(by_mode) == 2]
    if not in_both_modes:
        raise ScenarioError(
            "no strategy has both a real and a simulated run of the same scenario; create the missing one "
            "with `compactbench run SCENARIO`, with or without --simulate, into the same --out",
            code="no-runs-to-compare",
        )
    return tuple(pair for runs in in_both_modes for pair in _pairs(runs["real"], runs["simulated"]))


def _order(run: RunResult) -> tuple[int, int]:
    return (run.manifest.position, run.manifest.repetition)


def _pairs(real: RunResult, simulated: RunResult) -> Iterator[Pair]:
    by_tick = [{evaluation.tick: evaluation for evaluation in evaluations(run)} for run in (real, simulated)]
    for tick in sorted(by_tick[0].keys() | by_tick[1].keys()):
        yield Pair(real.manifest.strategy, by_tick[0].get(tick), by_tick[1].get(tick))


def evaluations(run: RunResult) -> tuple[Evaluation, ...]:
    """Every evaluation of the strategy of a run, with the compactions of its tick."""
    compactions = run.of(CompactionRecord)
    planned = {record.scheduled_at_ms: record for record in compactions if not record.is_inline}
    inline = {record.scheduled_at_ms: record for record in compactions if record.is_inline}
    ticks: dict[int, list[DecisionRecord]] = {}
    for decision in run.of(DecisionRecord):
        ticks.setdefault(decision.tick, []).append(decision)
    return tuple(
        Evaluation(
            tick,
            decisions[0].at_ms,
            "; ".join(map(_words, decisions)),
            planned.get(decisions[0].at_ms),
            inline.get(decisions[0].at_ms),
        )
        for tick, decisions in ticks.items()
    )


def _words(decision: DecisionRecord) -> str:
    """The rule, numbered from 1, its verdict and its plan."""
    verdict = decision.status.replace("_", " ")
    actions = f" {', '.join(decision.actions)} ({decision.reason})" if decision.actions else ""
    return f"rule {decision.rule + 1} {verdict}{actions}"


def _decision(evaluation: Evaluation | None) -> tuple[int, str] | None:
    return (evaluation.at_ms, evaluation.decision) if evaluation else None


def _is_alike(real: CompactionRecord, simulated: CompactionRecord) -> bool:
    is_known = real.partitions is not None and simulated.partitions is not None
    if is_known and real.partitions != simulated.partitions:
        return False
    return _outcome(real) == _outcome(simulated)


def _has_same_partitions(real: CompactionRecord, simulated: CompactionRecord) -> bool:
    if real.partitions is None:
        return False
    return (real.status, real.partitions) == (simulated.status, simulated.partitions)


def _outcome(compaction: CompactionRecord) -> tuple[str | int, ...]:
    change = compaction.change
    return (
        compaction.status,
        change.files_removed_count,
        change.files_added_count,
        change.delete_files_removed_count,
        change.delete_files_added_count,
    )
