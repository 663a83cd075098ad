import pytest
from records import compaction, end, run

from reports.load import run_groups
from reports.pareto_front import points
from reports.unmodelled import unmodelled

CONVERTS = "rewrite(3 files in 1 groups, deletes of 12 files converted)"
ROUGH = {"coefficients": {"calibrated": False}}


def group(action, mode="simulated", options=ROUGH):
    made = run(compaction(actions=[action]), end(), strategy="a", mode=mode, options=options)
    return run_groups([made])[0]


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (CONVERTS, "conversion is not modelled"),
        ("rewrite(3 files in 1 groups, sorted by order_id)", "sorting is not modelled"),
        ("iceberg.rewrite_data_files(strategy=sort, sort_order=a)", "sorting is not modelled"),
        ("iceberg.rewrite_data_files(strategy=binpack)", None),
        ("rewrite(3 files in 1 groups, 2 delete files dropped)", None),
    ],
)
def test_what_a_strategy_did_says_whether_its_cost_is_modelled(action, why):
    assert unmodelled(group(action), "a") == why


def test_measured_runs_and_fitted_coefficients_are_modelled():
    assert unmodelled(group(CONVERTS, mode="real"), "a") is None
    assert unmodelled(group(CONVERTS, options={"coefficients": {"calibrated": True}}), "a") is None


def test_a_cost_that_is_not_modelled_has_no_place_on_the_front(tmp_path):
    assert points(group(CONVERTS)) == ()
