"""Whether a simulated run of a scenario and strategy made the same decisions as the real one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from bench.errors import ScenarioError
from bench.results.folders import RunResult
from bench.results.records import CompactionRecord, DecisionRecord
from bench.results.rows import usable

_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation of a strategy: the decision in words, and the compaction it led to, if any.

    In the same tick the commit may have run an `inline` compaction; without another one that is `compaction`.
    """

    tick: int
    at_ms: int
    decision: str
    compaction: CompactionRecord | None
    inline: CompactionRecord | None = None

    @property
    def compactions(self) -> list[CompactionRecord]:
        """All compactions of the tick."""
        return [each for each in (self.inline, self.compaction) if each is not None]


@dataclass(frozen=True, slots=True)
class Pair:
    """The same evaluation in both modes; None where only the other run has it."""

    scenario: str
    strategy: str
    real: Evaluation | None
    simulated: Evaluation | None

    @property
    def evaluations(self) -> tuple[Evaluation | None, Evaluation | None]:
        """The real one and the simulated one."""
        return (self.real, self.simulated)

    @property
    def compactions(self) -> tuple[CompactionRecord | None, CompactionRecord | None]:
        """What the real and the simulated evaluation led to."""
        real, simulated = (one.compaction if one else None for one in self.evaluations)
        return (real, simulated)

    @property
    def tick(self) -> int:
        """The number of the commit before it."""
        return next(one.tick for one in self.evaluations if one)

    @property
    def at_ms(self) -> int:
        """Scenario milliseconds of the evaluation."""
        return next(one.at_ms for one in self.evaluations if one)

    @property
    def same_decision(self) -> bool:
        """Whether both made the same decision at the same time."""
        return _decision(self.real) == _decision(self.simulated)

    @property
    def same_files(self) -> bool:
        """Whether all compactions had the same status, and the same numbers of files in and out.

        In the same partitions, too, where both records name them.
        """
        return self._all(_is_alike)

    @property
    def same_partitions(self) -> bool:
        """Whether all compactions had the same status and, as both records say, the same partitions."""
        return self._all(_is_in_same_place)

    def _all(self, is_same: Callable[[CompactionRecord, CompactionRecord], bool]) -> bool:
        real, simulated = (one.compactions if one else [] for one in self.evaluations)
        return len(real) == len(simulated) and all(map(is_same, real, simulated))


def side_by_side(runs: Iterable[RunResult]) -> tuple[Pair, ...]:
    """The evaluations of each strategy's first usable run in either mode, side by side and in order.

    Raises ScenarioError where no strategy has a run in both modes.
    """
    first: dict[_Key, dict[str, RunResult]] = {}
    for run in sorted(runs, key=_order):
        if usable(run):
            manifest = run.manifest
            key = (manifest.scenario_hash, manifest.strategy_hash, manifest.strategy)
            first.setdefault(key, {}).setdefault(manifest.mode, run)
    both = [by_mode for by_mode in first.values() if len(by_mode) == 2]
    if not both:
        raise ScenarioError(
            "no strategy has both a real and a simulated run of the same scenario; create the missing one "
            "with `compactbench run SCENARIO`, with or without --simulate, into the same --out"
        )
    return tuple(pair for by_mode in both for pair in _pairs(by_mode["real"], by_mode["simulated"]))


def _order(run: RunResult) -> tuple[str, int, int]:
    return (run.manifest.scenario, run.manifest.position, run.manifest.repetition)


def _pairs(real: RunResult, simulated: RunResult) -> Iterator[Pair]:
    by_tick = [{one.tick: one for one in evaluations(run)} for run in (real, simulated)]
    name, label = real.manifest.scenario, real.manifest.strategy
    for tick in sorted(by_tick[0].keys() | by_tick[1].keys()):
        yield Pair(name, label, by_tick[0].get(tick), by_tick[1].get(tick))


def evaluations(run: RunResult) -> tuple[Evaluation, ...]:
    """Every evaluation of the strategy of a run, with the compaction it led to.

    One that a commit ran by itself follows from no evaluation: it stands beside one of its tick.
    """
    done = {each.scheduled_at_ms: each for each in run.of(CompactionRecord) if not each.is_inline}
    inline = {each.scheduled_at_ms: each for each in run.of(CompactionRecord) if each.is_inline}
    ticks: dict[int, list[DecisionRecord]] = {}
    for decision in run.of(DecisionRecord):
        ticks.setdefault(decision.tick, []).append(decision)
    return tuple(
        Evaluation(
            tick,
            decisions[0].at_ms,
            "; ".join(_words(decision, run.manifest.strategy) for decision in decisions),
            done.get(decisions[0].at_ms, inline.get(decisions[0].at_ms)),
            inline.get(decisions[0].at_ms),
        )
        for tick, decisions in ticks.items()
    )


def _words(decision: DecisionRecord, strategy: str) -> str:
    """The number of the rule from 1, its verdict and plan; the label where a switch changed it."""
    label = "" if decision.strategy == strategy else f"as {decision.strategy}, "
    verdict = decision.status.replace("_", " ")
    actions = f" {', '.join(decision.actions)} ({decision.reason})" if decision.actions else ""
    return f"{label}rule {decision.rule + 1} {verdict}{actions}"


def _decision(evaluation: Evaluation | None) -> tuple[int, str] | None:
    return (evaluation.at_ms, evaluation.decision) if evaluation else None


def _is_alike(one: CompactionRecord, other: CompactionRecord) -> bool:
    places = (one.partitions, other.partitions)
    return (None in places or places[0] == places[1]) and _outcome(one) == _outcome(other)


def _is_in_same_place(one: CompactionRecord, other: CompactionRecord) -> bool:
    places = one.partitions
    return places is not None and (one.status, places) == (other.status, other.partitions)


def _outcome(done: CompactionRecord) -> tuple[str | int, ...]:
    change = done.change
    return (
        done.status,
        change.files_removed_count,
        change.files_added_count,
        change.delete_files_removed_count,
        change.delete_files_added_count,
    )
