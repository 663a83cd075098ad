"""Real runs simulated again, to see how far the simulation is off."""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from bench.engines.registry import FORMATS
from bench.engines.simulated.costs import core_speed
from bench.errors import ScenarioError
from bench.results.arithmetic import known_mean, mean_of_known
from bench.results.folders import RunResult, load_runs
from bench.results.records import Manifest, SpeedRecord, label_in
from bench.results.rows import usable
from bench.runs.preflight.checks import check_coefficients, check_supported
from bench.runs.recorded_document import recorded_document
from bench.runs.suite.cases import Case, PlannedRun
from bench.runs.suite.suite import Options, run_suite
from bench.runs.suite.watcher import Watcher
from bench.scenario.load import scenario_of
from bench.scenario.scenario import Scenario
from bench.scenario.variants import BASE, Variant
from strategies.grouping import by_key

# Keys that have no effect on a simulation, and that may name places and secrets of the real run.
_OF_REAL_RUNS = ("catalog", "warm_up_rounds")


@dataclass(frozen=True, slots=True)
class Resimulation:
    """A strategy's real runs in one group of comparable runs, and what became of their simulation.

    `planned` is the run to make, `made` the run that was made, and `problem` says why there is none.
    `fixed_work_cpu_s` is the mean over the runs of the group, and `core_speed` is how fast their machine was,
    relative to that of the coefficients.
    """

    group: int
    real: tuple[RunResult, ...]
    fixed_work_cpu_s: float | None = None
    core_speed: float = 1.0
    planned: PlannedRun | None = None
    made: RunResult | None = None
    problem: str = ""

    @property
    def strategy(self) -> str:
        return self.real[0].manifest.strategy

    @property
    def scenario(self) -> str:
        return self.real[0].manifest.scenario

    @property
    def has_failed(self) -> bool:
        return self.planned is not None and self.made is None

    def __str__(self) -> str:
        """Why it was left out."""
        return f"{self.scenario}, {self.strategy}: left out: {self.problem}"


def resimulations(
    groups: Iterable[Sequence[RunResult]], coefficients: Path | None = None
) -> list[Resimulation]:
    """One for each strategy of groups of usable real runs, by the scenario as the runs recorded it.

    It is simulated on cores as fast as those of the group. Single runs would say less of a machine than all
    of them do, and ratios of strategies would follow their noise. Raises ScenarioError for coefficients that
    a format of the runs cannot use.
    """
    tried: list[Resimulation] = []
    fitted_work_cpu_s = cache(lambda name: FORMATS[name].engines.estimates(coefficients).fixed_work_cpu_s)
    for number, runs in enumerate(groups):
        work_cpu_s = fixed_work_cpu_s(runs)
        for own in by_key(runs, lambda run: run.manifest.strategy).values():
            speed = core_speed(work_cpu_s, fitted_work_cpu_s(own[0].manifest.format))
            one = Resimulation(number, tuple(own), work_cpu_s, speed)
            tried.append(_resimulation(one, position=len(tried)))
    return tried


def fixed_work_cpu_s(runs: Iterable[RunResult]) -> float | None:
    """The mean CPU seconds of the fixed work over the runs that measured it; None if none did.

    The CPU, since the wall time also shows that the roles of a run wait for cores.
    """
    return mean_of_known(known_mean(run.of(SpeedRecord).column("cpu_s")) for run in runs)


def _resimulation(one: Resimulation, position: int) -> Resimulation:
    manifest = one.real[0].manifest
    try:
        scenario = recorded_scenario(manifest, one.core_speed)
        spec = scenario.strategies[0]
        check_supported(replace(scenario, variant=_variant(manifest)), "simulated", [spec])
    except ScenarioError as error:
        return replace(one, problem=str(error).splitlines()[-1])
    case = Case(scenario, spec, spec.label, manifest.variant_label or BASE)
    return replace(one, planned=PlannedRun(case, "simulated", 1, position))


def simulate(
    tried: Sequence[Resimulation], coefficients: Path | None, watcher: Watcher
) -> list[Resimulation]:
    """The same, of which some are planned, with the runs that were made.

    Raises ScenarioError for coefficients that a format of the runs cannot use.
    """
    planned = [one.planned for one in tried if one.planned is not None]
    if coefficients is not None:
        check_coefficients(coefficients, [run.scenario for run in planned])
    with tempfile.TemporaryDirectory(prefix="compactbench-") as folder:
        run_suite(planned, Options(Path(folder), coefficients=coefficients), watcher)
        by_position = {run.manifest.position: run for run in load_runs(Path(folder))}
    return [_with_run(one, by_position) for one in tried]


def _with_run(one: Resimulation, by_position: Mapping[int, RunResult]) -> Resimulation:
    if one.planned is None:
        return one
    run = by_position[one.planned.position]
    if not usable(run):
        problem = run.end.error if run.end and run.end.error else "it was stopped"
        return replace(one, problem=f"its simulation failed: {problem.splitlines()[-1]}")
    return replace(one, made=run)


def recorded_scenario(manifest: Manifest, core_speed: float = 1.0) -> Scenario:
    """The scenario of a run with its strategy first, at a core speed, and without what only real runs have.

    Raises the errors of `recorded_document`, and ScenarioError for one of an earlier version that does not
    load any more.
    """
    suffix = label_in("", manifest.variant_label or "")
    document = recorded_document(manifest, [manifest.strategy.removesuffix(suffix)], suffix)
    if "page_cache" in document:
        raise ScenarioError("a cold page cache is not modelled", code="no-effect", path=manifest.scenario)
    for key in _OF_REAL_RUNS:
        document.pop(key, None)
    if core_speed != 1:
        document["resources"] = {**document.get("resources", {}), "core_speed": core_speed}
    return scenario_of(Path(f"{manifest.scenario}.toml"), document)


def _variant(manifest: Manifest) -> Variant | None:
    variant: Any = manifest.variant
    return None if variant is None else Variant(variant["label"], variant["set"])
