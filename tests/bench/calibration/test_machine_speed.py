from dataclasses import replace

import pytest

from bench.calibration.machine_speed import at_one_speed
from bench.calibration.measured import MeasuredStep
from bench.engines.simulated.steps import Operation, Step
from bench.results.values import Cost

STEP = MeasuredStep(
    "delta", "stream", "append: never", "fast-1", "today", Step(Operation.QUERY, {"s": 1.0}, 2),
    Cost(3.0, 4.0, 2.0, 1.0), 10.0, 2, planning_s=0.5, fixed_work_cpu_s=0.03,
)  # fmt: skip
FAST = (STEP, replace(STEP, run_id="fast-2"))
# Four times the time for the fixed work means twice the seconds.
SLOW = replace(
    STEP, run_id="slow", cost=Cost(6.0, 8.0, 4.0, 2.0), jvm_cpu_s=20.0, planning_s=1.0, fixed_work_cpu_s=0.12
)  # fmt: skip


def seconds(step):
    cost = step.cost
    return (cost.wall_s, cost.cpu_s, cost.executor_cpu_s, cost.jit_cpu_s, step.jvm_cpu_s, step.planning_s)


def test_steps_of_a_slow_machine_become_steps_of_the_median_run():
    steps, fixed_work_cpu_s = at_one_speed([*FAST, SLOW])
    assert fixed_work_cpu_s == 0.03
    assert [step.run_id for step in steps] == ["fast-1", "fast-2", "slow"]
    assert [*map(seconds, steps)] == [pytest.approx(seconds(STEP))] * 3


def test_a_run_counts_once_however_many_steps_it_has():
    assert at_one_speed([*FAST, *[SLOW] * 9])[1] == 0.03


def test_steps_without_the_fixed_work_stay_as_they_are():
    unknown = replace(SLOW, fixed_work_cpu_s=None)
    steps, fixed_work_cpu_s = at_one_speed([*FAST, unknown])
    assert fixed_work_cpu_s == 0.03
    assert seconds(steps[2]) == seconds(unknown)
    assert at_one_speed([unknown])[1] is None


def test_the_machine_may_be_chosen():
    steps, fixed_work_cpu_s = at_one_speed([*FAST, SLOW], 0.12)
    assert fixed_work_cpu_s == 0.12
    assert [*map(seconds, steps)] == [pytest.approx(seconds(SLOW))] * 3
