"""Means over time of simulated runs of which not every tick is probed; seeded, so always the same."""

import pytest
from simulated_queries import CYCLES, LATENCIES, errors

pytestmark = pytest.mark.noise

SUITES = 30


@pytest.mark.parametrize(("every", "rms", "run_sd"), [(2, 2.2, 3.5), (4, 4.5, 8.0)])
@pytest.mark.parametrize("latency", LATENCIES)
@pytest.mark.parametrize("cycle", CYCLES)
def test_the_mean_over_time_does_not_depend_on_the_phase(latency, cycle, every, rms, run_sd):
    found = errors(LATENCIES[latency], cycle, every, SUITES)["regression"]
    assert found.rms <= rms
    assert found.run_sd <= run_sd


def test_the_mean_over_the_probed_ticks_does():
    found = errors(LATENCIES["any delete file"], 3, 2, SUITES)
    assert found["probed ticks"].run_sd > 8 * found["regression"].run_sd


def test_a_line_alone_takes_the_warming_up_for_an_effect_of_the_table():
    found = errors(LATENCIES["warming up"], 3, 2, SUITES)
    assert found["line alone"].bias > 2 > abs(found["regression"].bias)
