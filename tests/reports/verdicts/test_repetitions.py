import math

from hypothesis import given
from hypothesis import strategies as st
from records import end, run
from scipy import stats

from reports.data.group import run_groups
from reports.verdicts import repetitions
from reports.verdicts.compare import compare


def test_needed_is_the_first_number_with_enough_power():
    # Logs 0, 0.1 and 0.2: mean 0.1, standard deviation 0.1.
    n = repetitions.needed(compare([1.0, math.exp(0.1), math.exp(0.2)], [1.0, 1.0, 1.0]))

    def threshold(count):
        return (stats.t.ppf(0.975, count - 1) + 0.8416) * 0.1 / math.sqrt(count)

    assert threshold(n) < 0.1 < threshold(n - 1)


def test_noise_that_is_not_known_needs_the_fewest_repetitions():
    assert repetitions.needed(compare([1.3], [1.0])) == repetitions.FEWEST == 3
    assert repetitions.needed(compare([], [])) == 3


def test_a_difference_far_below_the_noise_is_out_of_reach():
    assert repetitions.needed(compare([0.7, 1.45, 1.0], [1.0, 1.0, 1.0])) is None


@given(st.lists(st.floats(0.5, 2), min_size=3, max_size=8, unique=True))
def test_needed_is_more_than_there_are_and_goes_by_the_ratio_either_way(ratios):
    ones = [1.0] * len(ratios)
    n, inverse = (repetitions.needed(compare(*sides)) for sides in ((ratios, ones), (ones, ratios)))
    assert n is None or len(ratios) < n <= repetitions.MOST
    assert (n is None) == (inverse is None) or repetitions.MOST in (n, inverse)
    assert n is None or inverse is None or abs(n - inverse) <= 1  # the same but for rounding


def test_minutes_are_those_of_all_strategies_from_the_manifest_to_the_last_record():
    began = "2026-01-05T08:58:00Z"  # records end at 09:00
    made = [
        run(end(), strategy=label, repetition=n, started_utc=began)
        for label in ("never", "a")
        for n in (1, 2)
    ]
    assert repetitions.minutes(run_groups(made)[0], 3) == 12.0
