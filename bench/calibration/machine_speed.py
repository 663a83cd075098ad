"""Steps that were measured on machines of different speeds, as if one machine had made them all."""

from collections.abc import Iterable
from dataclasses import replace
from statistics import median

from bench.calibration.measured import MeasuredStep
from bench.engines.simulated.costs import core_speed


def at_one_speed(
    steps: Iterable[MeasuredStep], fixed_work_cpu_s: float | None = None
) -> tuple[list[MeasuredStep], float | None]:
    """The steps with the seconds of one machine, and that machine's fixed work.

    It is the machine on which the fixed work takes `fixed_work_cpu_s`, by default that of the median run.
    Steps of runs without the fixed work are taken to be of that machine.
    """
    measured = list(steps)
    of_runs = {step.run_id: cpu_s for step in measured if (cpu_s := step.fixed_work_cpu_s) is not None}
    if not of_runs:
        return measured, None
    typical_s = median(of_runs.values()) if fixed_work_cpu_s is None else fixed_work_cpu_s
    return [_at_speed(step, core_speed(step.fixed_work_cpu_s, typical_s)) for step in measured], typical_s


def _at_speed(step: MeasuredStep, speed: float) -> MeasuredStep:
    return replace(
        step,
        cost=step.cost.on_cores(1 / speed),
        jvm_cpu_s=step.jvm_cpu_s * speed,
        planning_s=None if step.planning_s is None else step.planning_s * speed,
    )
