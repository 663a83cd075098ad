"""The rate of queries at which a policy pays off, and its interval."""

import math

import pytest
from records import commit, compaction, end, query, run

from reports.data.group import run_groups
from reports.verdicts.break_even import BreakEven, break_even, interval
from reports.verdicts.samples import Sample

SPREAD = 0.02  # of the log of a run: three runs at -2 %, 0 and +2 %
NOISE = (-SPREAD, 0.0, SPREAD)
# Standard error of the log of a ratio; 4 degrees of freedom, t(97.5 %) = 2.77645.
MARGIN = math.exp(2.77645 * SPREAD * math.sqrt(2 / 3))


def sample(mean, noise=NOISE):
    return Sample(tuple(mean * math.exp(off) for off in noise), ("one",) * len(noise), (None,) * len(noise))


def ends(cpu, query_cpu, noise=NOISE):
    samples = ({label: sample(mean, noise) for label, mean in of.items()} for of in (cpu, query_cpu))
    return interval(*samples, "policy", "never")


def test_the_ends_are_where_the_ratio_of_all_cpu_is_told_from_1():
    # Each run is off by one factor in all its steps, so the ratio (21 + 0.25 b) / (15 + 0.6 b) has the same
    # error at every number of queries b. It equals the margin r at b = (21 - 15 r) / (0.6 r - 0.25).
    low, high = ends({"never": 15.0, "policy": 21.0}, {"never": 0.6, "policy": 0.25})
    of = {r: (21 - 15 * r) / (0.6 * r - 0.25) for r in (MARGIN, 1 / MARGIN)}
    assert (low, high) == (pytest.approx(of[MARGIN], rel=1e-4), pytest.approx(of[1 / MARGIN], rel=1e-4))
    assert low < 6 / 0.35 < high


def test_the_upper_end_is_open_where_no_saving_is_proven():
    low, high = ends({"never": 15.0, "policy": 21.0}, {"never": 0.6, "policy": 0.58})
    assert 0 < low < 6 / 0.02
    assert math.isinf(high)


def test_the_lower_end_is_zero_where_no_cost_is_proven():
    low, high = ends({"never": 15.0, "policy": 15.2}, {"never": 0.6, "policy": 0.25})
    assert low == 0
    assert high > 0.2 / 0.35


def test_a_policy_that_is_proven_cheaper_without_queries_pays_off_at_once():
    assert ends({"never": 15.0, "policy": 10.0}, {"never": 0.6, "policy": 0.25}) == (0, 0)


def test_a_policy_that_is_proven_dearer_at_every_rate_has_no_end():
    assert ends({"never": 15.0, "policy": 21.0}, {"never": 0.6, "policy": 0.9}) == (math.inf, math.inf)


@pytest.mark.parametrize("noise", [NOISE[:2], (0.0, 0.0, 0.0)])
def test_without_known_noise_there_is_no_interval(noise):
    assert ends({"never": 15.0, "policy": 21.0}, {"never": 0.6, "policy": 0.25}, noise) is None


def runs(repetitions, query_cpu_s=0.25, at_ms=60_000, **changes):
    policies = {"never": (0.0, 0.6), "policy": (6.0, query_cpu_s)}
    return [
        run(
            commit(cpu_s=15 * factor), *([compaction(cpu_s=cpu_s * factor, at_ms=at_ms)] if cpu_s else []),
            query(cpu_s=of_query * factor), end(), strategy=label, repetition=number + 1, **changes,
        )
        for label, (cpu_s, of_query) in policies.items()
        for number, factor in enumerate(math.exp(off) for off in NOISE[:repetitions])
    ]  # fmt: skip


def of_policy(*made):
    (group,) = run_groups(made)
    return break_even(group, group.row("policy"))


def test_a_rate_is_queries_an_hour_of_the_scenario():
    hour, two = (of_policy(*runs(3, duration_ms=hours * 3_600_000)) for hours in (1, 2))
    assert hour.rate == pytest.approx(6 / 0.35)
    low, high = ends({"never": 15.0, "policy": 21.0}, {"never": 0.6, "policy": 0.25})
    assert (hour.low, hour.high) == (pytest.approx(low), pytest.approx(high))
    assert (two.rate, two.low, two.high) == pytest.approx((hour.rate / 2, low / 2, high / 2))


def test_two_runs_have_a_rate_without_an_interval():
    at = of_policy(*runs(2))
    assert (at.low, at.high) == (None, None)
    assert at.rate > 0


def test_a_model_has_a_rate_where_queries_save_more_than_its_tolerance():
    modelled = of_policy(*runs(1, mode="simulated"))
    assert modelled == BreakEven(modelled.rate)
    assert of_policy(*runs(1, query_cpu_s=0.595, mode="simulated")) is None


def test_what_compacts_at_the_last_tick_only_pays_off_after_the_stream():
    assert of_policy(*runs(3, at_ms=3_600_000)) is None


def test_queries_that_are_no_cheaper_never_pay_off():
    assert of_policy(*runs(3, query_cpu_s=0.7)) is None
