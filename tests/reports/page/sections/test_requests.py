from records import commit, compaction, end, observed, query, run, truth

from reports.data.group import run_groups
from reports.page.sections.requests import requests


def rows_of(*records):
    (group,) = run_groups([run(observed(), query(), *records, truth(), end())])
    table = requests(group)
    return None if table is None else [[str(cell.text) for cell in row] for row in table.rows]


def test_a_row_has_the_mean_of_each_kind_for_each_kind_of_step():
    rows = rows_of(
        commit(is_initial=True, requests={"PUT": 1000}),
        commit(requests={"PUT": 5, "GET": 2}),
        commit(requests={"PUT": 4, "HEAD": 1}),
        compaction(requests={"GET": 1200, "DELETE": 3}),
        compaction(status="vetoed", requests={}),
    )
    assert rows == [
        ["never", "commit", "2", "1.0", "0.5", "4.5", "0.0", "0.0", "0.0"],
        ["never", "compaction", "1", "1,200.0", "0.0", "0.0", "0.0", "0.0", "3.0"],
    ]


def test_steps_whose_requests_are_not_all_known_have_no_row():
    beside = compaction(requests={"GET": 7}, is_shared=True)
    assert rows_of(commit(requests={"PUT": 5}), commit(), beside) is None


def test_where_no_request_was_sent_there_is_no_table():
    assert rows_of(commit(requests={}), compaction(requests={})) is None
