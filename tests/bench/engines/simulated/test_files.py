from hypothesis import given
from hypothesis import strategies as st

from bench.engines.simulated.files import rows_of_outputs
from strategies.preview import RewriteGroup, ScanTaskGroup


def group(*task_rows):
    tasks = tuple(ScanTaskGroup(1, rows) for rows in task_rows)
    return RewriteGroup("", (), 1, 0, 0, 1, 1, len(tasks), tasks)


def test_live_rows_go_to_the_tasks_in_proportion_to_what_they_read():
    assert rows_of_outputs(group(100, 300), 200) == (50, 150)
    assert rows_of_outputs(group(10, 10, 10), 20) == (6, 7, 7)
    assert rows_of_outputs(group(0), 0) == (0,)


@given(rows=st.lists(st.integers(0, 50), min_size=1, max_size=6), share=st.floats(0, 1))
def test_no_row_is_lost_and_no_task_writes_more_than_it_reads(rows, share):
    live_rows = int(sum(rows) * share)
    made = rows_of_outputs(group(*rows), live_rows)
    assert sum(made) == live_rows
    assert all(0 <= own <= read for own, read in zip(made, rows, strict=True))
