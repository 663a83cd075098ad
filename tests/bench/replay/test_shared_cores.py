import random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.replay.shared_cores import SharedCores

SECONDS = st.floats(0.01, 100)


def test_a_step_alone_takes_its_own_time():
    cores = SharedCores(2)
    assert cores.run(10, 1.5) == pytest.approx(10)
    assert cores.beside(3, 2) == pytest.approx(3)
    assert cores.now_s == pytest.approx(10)


def test_a_step_that_wants_more_cores_than_there_are_takes_longer():
    assert SharedCores(2).run(10, 8) == pytest.approx(40)
    assert SharedCores(2).beside(10, 8) == pytest.approx(40)


def test_two_steps_that_want_all_cores_get_half_each():
    cores = SharedCores(2)
    background = cores.begin(10, 2)
    assert cores.run(4, 2) == pytest.approx(8)
    cores.advance(float("inf"))
    assert cores.ended_s(background) == pytest.approx(14)


def test_what_a_small_step_leaves_is_for_the_others():
    cores = SharedCores(2)
    background = cores.begin(10, 2)
    assert cores.beside(4, 0.5) == pytest.approx(4)
    assert cores.run(4, 0.5) == pytest.approx(4)
    cores.advance(5)
    assert cores.ended_s(background) is None
    cores.advance(100)
    assert cores.ended_s(background) == pytest.approx(4 + 10 - 4 * 1.5 / 2)
    assert cores.now_s == 100


@given(jobs=st.lists(st.tuples(SECONDS, st.floats(0.1, 8)), min_size=1, max_size=8), count=st.floats(0.5, 8))
def test_no_more_work_is_done_than_cores_allow_and_none_is_idle_while_work_waits(jobs, count):
    cores = SharedCores(count)
    steps = [cores.begin(alone_s, width) for alone_s, width in jobs]
    cores.advance(float("inf"))
    work = sum(alone_s * width for alone_s, width in jobs)
    longest = max(alone_s * max(1, width / count) for alone_s, width in jobs)
    last_s = max(cores.ended_s(step) for step in steps)
    assert last_s >= max(longest, work / count) * (1 - 1e-6)
    assert last_s <= longest + work / count + 1e-6
    assert all(cores.ended_s(step) >= alone_s - 1e-6 for step, (alone_s, _) in zip(steps, jobs, strict=True))


@given(jobs=st.lists(st.tuples(SECONDS, st.floats(0.1, 8)), min_size=1, max_size=8))
def test_without_a_limit_nobody_waits(jobs):
    cores = SharedCores()
    steps = [cores.begin(alone_s, width) for alone_s, width in jobs]
    cores.advance(float("inf"))
    assert [cores.ended_s(step) for step in steps] == [pytest.approx(alone_s) for alone_s, _ in jobs]


SERVICES = {
    "M": lambda rng: rng.expovariate(1.0),
    "D": lambda rng: 1.0,
    "G": lambda rng: 0.5 if rng.random() < 0.9 else 5.5,
}  # of mean 1
SQUARES = {"M": 2.0, "D": 1.0, "G": 0.9 * 0.25 + 0.1 * 5.5**2}  # their second moments


def arrivals(load, service, count=60_000):
    """Times and work of a Poisson stream."""
    rng, at_s = random.Random(7), 0.0
    for _ in range(count):
        at_s += rng.expovariate(load)
        yield at_s, SERVICES[service](rng)


@pytest.mark.parametrize("load", [0.3, 0.6])
@pytest.mark.parametrize("service", SERVICES)
def test_response_times_are_those_of_a_queue_with_processor_sharing(service, load):
    """The mean is that of the service over 1 - load, however that is distributed.

    Source: Kleinrock, Queueing Systems II, 1976, section 4.4 (M/G/1-PS).
    """
    cores, began, busy_s, at_s = SharedCores(1), dict[int, float](), 0.0, 0.0
    for at_s, work_s in arrivals(load, service):
        cores.advance(at_s)
        busy_s += work_s
        began[cores.begin(work_s, 1.0)] = at_s
    cores.advance(float("inf"))
    responses = [cores.ended_s(step) - start_s for step, start_s in began.items()]
    assert busy_s / at_s == pytest.approx(load, rel=0.02)
    assert fmean(responses) == pytest.approx(1 / (1 - load), rel=0.02)


@pytest.mark.parametrize("service", SERVICES)
def test_what_runs_one_after_the_other_is_as_late_as_in_a_queue(service):
    """Pollaczek and Khinchine's mean wait of M/G/1: load x second moment / (2 x (1 - load))."""
    cores, lags, load = SharedCores(1), list[float](), 0.5
    for at_s, work_s in arrivals(load, service, 200_000):
        cores.advance(at_s)
        lags.append(cores.now_s - at_s)
        cores.run(work_s, 1.0)
    assert fmean(lags) == pytest.approx(load * SQUARES[service] / (2 * (1 - load)), rel=0.02)
