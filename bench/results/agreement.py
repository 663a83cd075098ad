"""Whether a simulated run decided as the real one did: both replayed the same scenario and strategy."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bench.errors import ScenarioError
from bench.results.folders import RunResult
from bench.results.records import CompactionRecord, DecisionRecord
from bench.results.rows import usable

_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the strategy led to: the decision in words, and the compaction if there was one."""

    tick: int
    at_ms: int
    decision: str
    compaction: CompactionRecord | None


@dataclass(frozen=True, slots=True)
class Pair:
    """One look in both modes; None where only the other run has it."""

    scenario: str
    strategy: str
    real: Look | None
    simulated: Look | None

    @property
    def looks(self) -> tuple[Look | None, Look | None]:
        """The real one and the simulated one."""
        return (self.real, self.simulated)

    @property
    def compactions(self) -> tuple[CompactionRecord | None, CompactionRecord | None]:
        """What the real and the simulated look led to."""
        real, simulated = (look.compaction if look else None for look in self.looks)
        return (real, simulated)

    @property
    def tick(self) -> int:
        """The commit both followed."""
        return next(look.tick for look in self.looks if look)

    @property
    def at_ms(self) -> int:
        """Scenario milliseconds of the look."""
        return next(look.at_ms for look in self.looks if look)

    @property
    def same_decision(self) -> bool:
        """Whether both decided alike at the same moment."""
        return _decision(self.real) == _decision(self.simulated)

    @property
    def same_files(self) -> bool:
        """Whether both compactions ended alike, with as many files in and out."""
        return _outcome(self.real) == _outcome(self.simulated)


def side_by_side(runs: Iterable[RunResult]) -> tuple[Pair, ...]:
    """The looks of each strategy's first usable run in either mode, beside each other, in order.

    Raises ScenarioError where no strategy has a run in both modes.
    """
    first: dict[_Key, dict[str, RunResult]] = {}
    for run in sorted(runs, key=_order):
        if usable(run):
            manifest = run.manifest
            key = (manifest.scenario_hash, manifest.strategy_hash, manifest.strategy)
            first.setdefault(key, {}).setdefault(manifest.mode, run)
    both = [found for found in first.values() if len(found) == 2]
    if not both:
        raise ScenarioError(
            "no strategy has both a real and a simulated run of the same scenario; make the missing one "
            "with `compactbench run SCENARIO`, with or without --simulate, into the same --out"
        )
    return tuple(pair for found in both for pair in _pairs(found["real"], found["simulated"]))


def _order(run: RunResult) -> tuple[str, int, int]:
    return (run.manifest.scenario, run.manifest.position, run.manifest.repetition)


def _pairs(real: RunResult, simulated: RunResult) -> Iterator[Pair]:
    by_tick = [{look.tick: look for look in looks(run)} for run in (real, simulated)]
    name, label = real.manifest.scenario, real.manifest.strategy
    for tick in sorted(by_tick[0].keys() | by_tick[1].keys()):
        yield Pair(name, label, by_tick[0].get(tick), by_tick[1].get(tick))


def looks(run: RunResult) -> tuple[Look, ...]:
    """Every look of a run at its strategy, with the compaction it led to."""
    compactions = {c.scheduled_at_ms: c for c in run.of(CompactionRecord)}
    ticks: dict[int, list[DecisionRecord]] = {}
    for decision in run.of(DecisionRecord):
        ticks.setdefault(decision.tick, []).append(decision)
    return tuple(
        Look(
            tick,
            found[0].at_ms,
            "; ".join(_words(decision, run.manifest.strategy) for decision in found),
            compactions.get(found[0].at_ms),
        )
        for tick, found in ticks.items()
    )


def _words(decision: DecisionRecord, strategy: str) -> str:
    """The rule's number from 1, its verdict, and what it planned; the label where a switch changed it."""
    label = "" if decision.strategy == strategy else f"as {decision.strategy}, "
    verdict = decision.status.replace("_", " ")
    actions = f" {', '.join(decision.actions)} ({decision.reason})" if decision.actions else ""
    return f"{label}rule {decision.rule + 1} {verdict}{actions}"


def _decision(look: Look | None) -> tuple[int, str] | None:
    return (look.at_ms, look.decision) if look else None


def _outcome(look: Look | None) -> tuple[str | int, ...] | None:
    found = look.compaction if look else None
    if found is None:
        return None
    files = (found.files_removed_count, found.files_added_count)
    return (found.status, *files, found.delete_files_removed_count, found.delete_files_added_count)
