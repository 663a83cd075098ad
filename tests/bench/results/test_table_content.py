"""What a table holds of a stream, and that nobody is credited with queries of an empty table."""

import pytest
from records import commit, end, observed, queries, query, run, truth

from bench.results.rows import rows, run_figures
from bench.results.table_content import commits_of, content_share, of_content

MINUTE_MS = 60_000


def test_content_grows_with_the_commits_and_stays_in_between():
    stream = run(commit(tick=0, rows=50, is_initial=True), commit(tick=2, rows=50), commit(tick=4, rows=100))
    assert [content_share(stream)(tick) for tick in range(6)] == [0.25, 0.25, 0.5, 0.5, 1.0, 1.0]
    assert content_share(run(commit(rows=0)))(1) == content_share(run())(1) == 0.0


def test_queries_that_failed_or_met_an_empty_table_are_left_out():
    made = [query(tick=tick, status=status) for tick in (1, 2, 3) for status in ("ok", "failed")]
    assert list(of_content(run(commit(tick=2)), queries(*made))) == [made[2], made[4]]


@pytest.mark.parametrize("empty_version", [None, "0"])  # a table never written to may have no version
def test_a_writer_that_keeps_rows_back_has_the_figures_of_its_table_with_rows(empty_version):
    """Empty at minute 1, then the rows of two minutes; the empty table answers in no time."""
    seen, asked = {"tick": 1, "version": empty_version}, {"tick": 2, "at_ms": 2 * MINUTE_MS, "version": "1"}
    late = run(
        observed(**seen, live_bytes=0, data_files_count=0),
        query(0.1, **seen), query(0.1, **seen, when="after_commit"),
        query(0.1, **seen, primary=False, probe="other"),
        commit(**asked, rows=2),
        observed(**asked, live_bytes=100),
        query(4.0, **asked, opened_bytes=50, files_count=8),
        query(3.0, **asked, when="after_commit"),
        query(5.0, **asked, primary=False, probe="other"),
        truth(), end(), duration_ms=2 * MINUTE_MS,
    )  # fmt: skip
    (row,) = rows([late])
    assert (row.values["query_mean_s"], row.values["query_after_commit_s"]) == (4.0, 3.0)
    primary, other = row.probes["first-order"], row.probes["other"]
    assert (primary["query_mean_s"], primary["query_after_commit_s"], primary["files_mean"]) == (
        4.0,
        3.0,
        8.0,
    )
    assert (primary["opened_share"], primary["read_amplification"]) == (0.5, 0.5)
    assert other["query_mean_s"] == 5.0


def test_commits_without_rows_that_older_results_hold_are_none():
    made = [commit(tick=tick, at_ms=tick * MINUTE_MS, rows=4, wall_s=2.0, added_bytes=90) for tick in (2, 4)]
    seen = [observed(tick=tick, live_bytes=90) for tick in range(1, 5)]
    asked = [query(tick=tick, at_ms=tick * MINUTE_MS, opened_bytes=10) for tick in range(1, 5)]
    older = [commit(tick=tick, at_ms=tick * MINUTE_MS, rows=0) for tick in (1, 3)]
    new, old = run(*made, *seen, *asked, end()), run(*made, *older, *seen, *asked, end())
    assert run_figures(old) == run_figures(new)
    assert list(commits_of(old)) == made
