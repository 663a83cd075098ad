"""Which runs a suite makes, and in which order."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bench.errors import ScenarioError
from bench.results.folders import RunResult
from bench.results.records import Mode
from bench.results.rows import timed, usable
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec
from bench.scenario.variants import BASE


@dataclass(frozen=True, slots=True)
class Case:
    """A strategy in one variant of a scenario, which runs once in each repetition.

    `scenario` is the scenario in that variant, and `spec` has the label there. `strategy` and `variant` are
    the names that `--only` takes. `index` is the position in tables.
    """

    scenario: Scenario
    spec: StrategySpec
    strategy: str
    variant: str
    index: int = 0


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run to make; `position` is its place among the runs of its scenario."""

    case: Case
    mode: Mode
    repetition: int
    position: int

    @property
    def scenario(self) -> Scenario:
        return self.case.scenario

    @property
    def spec(self) -> StrategySpec:
        return self.case.spec

    @property
    def folder_name(self) -> str:
        """Format, mode, label (in characters safe for file names) and repetition; not always unique."""
        label = re.sub(r"[^A-Za-z0-9._-]+", "_", self.spec.label)
        return f"{self.scenario.table.format}-{self.mode}-{label}-r{self.repetition}"


def cases(scenario: Scenario) -> tuple[Case, ...]:
    """Each strategy in the base scenario and in every variant that has it, in the order of tables."""
    made = (
        Case(place, place.strategies[number], spec.label, place.variant_label or BASE)
        for number, spec in enumerate(scenario.strategies)
        for place in (scenario, *scenario.variants)
        if place.variant is None or place.variant.has(spec.label)
    )
    return tuple(replace(case, index=index) for index, case in enumerate(made))


def shuffled(cases: Iterable[Case], seed: int, repetition: int) -> list[Case]:
    """The cases of one repetition in the order in which they run, drawn from the seed.

    The place of a case depends only on its own label, so any two cases keep their order: with `--only`, with
    `--resume`, and when a strategy or variant is added.
    """

    def place(case: Case) -> bytes:
        return hashlib.sha256(f"{seed}/{repetition}/{case.spec.label}".encode()).digest()

    return sorted(cases, key=place)


def plan_runs(
    scenarios: Sequence[Scenario],
    only: Sequence[str],
    repetitions: int | None,
    done: Sequence[RunResult],
    *,
    only_variants: Sequence[str] = (),
    mode: Mode = "real",
    invalidated_too: bool = False,
) -> tuple[PlannedRun, ...]:
    """The runs still to make: each repetition has every case once, in an order drawn from the seed.

    `only` and `only_variants` are labels of the strategies and variants to run. Runs in `done` that finished
    are left out; runs with invalid timings only if no timings are needed (`invalidated_too`). Raises
    ScenarioError for a label that no scenario has.
    """
    finished = {
        (r.manifest.scenario, r.manifest.strategy, r.manifest.repetition)
        for r in done
        if (usable(r) if invalidated_too else timed(r))
    }
    by_scenario = [(scenario, cases(scenario)) for scenario in scenarios]
    all_cases = [case for _, cases_of_scenario in by_scenario for case in cases_of_scenario]
    labels = [label for case in all_cases for label in (case.strategy, case.spec.label)]
    _check_known("strategy", only, labels)
    _check_known("variant", only_variants, [case.variant for case in all_cases])
    planned: list[PlannedRun] = []
    for scenario, cases_of_scenario in by_scenario:
        chosen = [case for case in cases_of_scenario if _is_chosen(case, only, only_variants)]
        earlier = sum(run.manifest.scenario == scenario.name for run in done) - len(planned)
        for repetition in range(1, (repetitions or repetitions_of(scenario, mode)) + 1):
            for case in shuffled(chosen, scenario.seed, repetition):
                if (scenario.name, case.spec.label, repetition) not in finished:
                    planned.append(PlannedRun(case, mode, repetition, earlier + len(planned)))
    return tuple(planned)


def _is_chosen(case: Case, only: Sequence[str], only_variants: Sequence[str]) -> bool:
    is_strategy = not only or case.strategy in only or case.spec.label in only
    return is_strategy and (not only_variants or case.variant in only_variants)


def repetitions_of(scenario: Scenario, mode: Mode) -> int:
    """How often each strategy runs: once in a simulation, since repetitions would be identical."""
    return 1 if mode == "simulated" else scenario.repetitions


def _check_known(what: str, only: Sequence[str], known: Sequence[str]) -> None:
    for label in only:
        if label not in known:
            available = ", ".join(dict.fromkeys(known))
            raise ScenarioError(
                f"no such {what}; available: {available}", code="unknown-name", path=f"--only {what}={label}"
            )
