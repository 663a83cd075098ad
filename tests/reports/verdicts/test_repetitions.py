import math

from comparisons import measured
from hypothesis import given
from hypothesis import strategies as st
from records import end, run
from scipy import stats

from reports.data.group import run_groups
from reports.verdicts import repetitions
from reports.verdicts.compare import undecided


def test_needed_is_the_first_number_with_enough_power():
    n = repetitions.needed(measured(math.exp(0.1), 0.1 / math.sqrt(3), 4))

    def threshold(count):
        return (stats.t.ppf(0.975, 4 + 2 * (count - 3)) + 0.8416) * 0.1 / math.sqrt(count)

    assert threshold(n) < 0.1 < threshold(n - 1)


def test_noise_that_is_not_known_needs_the_fewest_repetitions():
    assert repetitions.needed(undecided(1.3, 1, "1 run")) == repetitions.FEWEST == 3
    assert repetitions.needed(undecided(None, 0, "no run")) == 3


def test_a_difference_far_below_the_noise_is_out_of_reach():
    assert repetitions.needed(measured(1.005, 0.2)) is None


@given(st.floats(1.01, 2), st.floats(0.01, 0.3), st.integers(3, 8))
def test_needed_is_more_than_there_are_and_goes_by_the_ratio_either_way(ratio, error, runs):
    n, inverse = (repetitions.needed(measured(r, error, 4, runs)) for r in (ratio, 1 / ratio))
    assert n is None or runs < n <= repetitions.MOST
    assert (n is None) == (inverse is None) or repetitions.MOST in (n, inverse)
    assert n is None or inverse is None or abs(n - inverse) <= 1  # equal but for rounding


def test_minutes_are_those_of_all_strategies_from_the_manifest_to_the_last_record():
    began = "2026-01-05T08:58:00Z"  # records end at 09:00
    made = [
        run(end(), strategy=label, repetition=n, started_utc=began)
        for label in ("never", "a")
        for n in (1, 2)
    ]
    assert repetitions.minutes(run_groups(made)[0], 3) == 12.0
