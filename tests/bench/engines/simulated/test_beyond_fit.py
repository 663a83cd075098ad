import pytest

from bench.engines.simulated.beyond_fit import BeyondFitNotes, is_far_beyond
from bench.engines.simulated.costs import OperationCost
from bench.engines.simulated.steps import Operation, Step
from bench.results.values import BeyondFit

RANGES = {"s_per_file": (1.0, 10.0), "s_with_metadata_table": (0.0, 0.0)}
COST = OperationCost(steps=9, driver={"s": 0.1}, ranges=RANGES)


def noted(*steps, cost=COST):
    notes = BeyondFitNotes()
    for step in steps:
        notes.note(cost, step)
    return notes.found


def commit(files, metadata_tables=0.0, operation=Operation.COMMIT):
    return Step(operation, {"s": 1.0, "s_per_file": files, "s_with_metadata_table": metadata_tables}, 1)


def test_the_most_of_an_amount_is_noted():
    assert noted(commit(10)) == BeyondFit(unmeasured=())
    assert noted(commit(12), commit(42), commit(3)) == BeyondFit((), {"commit s_per_file": 4.2}, ())


def test_work_that_no_measured_step_had_is_no_multiple_of_anything():
    assert noted(commit(1, metadata_tables=1.0)) == BeyondFit(unmeasured=("commit s_with_metadata_table",))


def test_an_operation_without_measured_steps_is_noted_unless_it_is_cheap():
    unfitted = OperationCost(driver={"s": 0.1})
    steps = (commit(1), commit(1, operation=Operation.NOOP), commit(1, operation=Operation.PLANNING))
    assert noted(*steps, cost=unfitted) == BeyondFit(("commit",), {}, ())


@pytest.mark.parametrize(
    ("step", "is_far"),
    [(commit(10), False), (commit(30), False), (commit(31), True), (commit(1, metadata_tables=1.0), True)],
)
def test_far_beyond_is_three_times_the_greatest_or_anything_where_that_is_nothing(step, is_far):
    assert is_far_beyond(COST, step) is is_far
