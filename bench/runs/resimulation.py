"""Real runs simulated again, to see how far the simulation is off."""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.errors import ScenarioError
from bench.results.folders import RunResult, load_runs
from bench.results.records import Manifest
from bench.results.rows import usable
from bench.runs.preflight.checks import check_supported
from bench.runs.suite.cases import Case, PlannedRun
from bench.runs.suite.suite import Options, run_suite
from bench.runs.suite.watcher import Watcher
from bench.scenario.load import scenario_of
from bench.scenario.scenario import Scenario
from bench.scenario.variants import BASE

# Keys that change nothing in a simulation, and that may name places and secrets of the real run.
_OF_REAL_RUNS = ("catalog", "variants", "versions", "page_cache", "warm_up_rounds")


@dataclass(frozen=True, slots=True)
class Resimulation:
    """A strategy's real runs, and the simulated run to make; or why it cannot be made."""

    real: tuple[RunResult, ...]
    planned: PlannedRun | None
    problem: str = ""

    @property
    def strategy(self) -> str:
        return self.real[0].manifest.strategy


def resimulations(runs: Iterable[RunResult]) -> list[Resimulation]:
    """One for each scenario and strategy of the usable real runs, by the scenario as the runs recorded it."""
    by_strategy: dict[tuple[str, str], list[RunResult]] = {}
    for run in runs:
        if run.manifest.mode == "real" and usable(run):
            by_strategy.setdefault((run.manifest.scenario, run.manifest.strategy), []).append(run)
    return [_resimulation(tuple(own), index) for index, own in enumerate(by_strategy.values())]


def simulate(
    tried: Sequence[Resimulation], coefficients: Path | None, watcher: Watcher
) -> Mapping[tuple[str, str], RunResult]:
    """The simulated runs, by scenario and strategy of the real ones. Raises what `run_suite` raises."""
    planned = [one.planned for one in tried if one.planned is not None]
    with tempfile.TemporaryDirectory(prefix="compactbench-") as folder:
        run_suite(planned, Options(Path(folder), coefficients=coefficients), watcher)
        by_position = {run.manifest.position: run for run in load_runs(Path(folder))}
    # Simulated runs are of the base variant, so their own labels lack the real run's variant.
    return {
        (one.planned.scenario.name, one.strategy): by_position[one.planned.position]
        for one in tried
        if one.planned is not None
    }


def _resimulation(real: tuple[RunResult, ...], index: int) -> Resimulation:
    manifest = real[0].manifest
    try:
        scenario = recorded_scenario(manifest)
        spec = scenario.strategies[0]
        check_supported(scenario, "simulated", [spec])
    except ScenarioError as error:
        return Resimulation(real, None, str(error))
    case = Case(scenario, spec, spec.label, manifest.variant_label or BASE)
    return Resimulation(real, PlannedRun(case, "simulated", 1, index, index))


def recorded_scenario(manifest: Manifest) -> Scenario:
    """The scenario of a run with its strategy first, and without what only real runs have.

    Raises ScenarioError for a scenario of an earlier version that does not load any more.
    """
    document: dict[str, Any] = deepcopy(dict(manifest.scenario_text))
    for key in _OF_REAL_RUNS:
        document.pop(key, None)
    suffix = f" @ {manifest.variant_label}"
    strategies = {table["label"].removesuffix(suffix): table for table in document["strategies"]}
    label = manifest.strategy.removesuffix(suffix)
    followed_by = [switch["strategy"] for switch in strategies[label].get("switch", ())]
    document["strategies"] = [
        {**strategies[name], "label": name} for name in dict.fromkeys((label, *followed_by))
    ]
    return scenario_of(Path(f"{manifest.scenario}.toml"), document)
