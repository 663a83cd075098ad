from records import commit, compaction, end, observed, query, run, truth

from reports.data.group import run_groups
from reports.page.sections.details import as_forecast, forecasts, queries


def column_of(table, title, unit):
    place = [(str(column.title), column.unit) for column in table.columns].index((title, unit))
    return [str(row[place].text) for row in table.rows]


def test_each_query_says_what_share_of_the_live_bytes_it_opened():
    day = {"probe": "one-day", "primary": False, "version": "1"}
    table = (commit(version="1"), observed(version="1", live_bytes=8_000))
    asked = (query(version="1", opened_bytes=8_000), query(**day, opened_bytes=20))
    unknown = (query(version="1", opened_bytes=None), query(**day, opened_bytes=None))
    runs = (run(*table, *asked, truth(), end()), run(*table, *unknown, truth(), end(), strategy="every-2min"))
    (group,) = run_groups(runs)
    primary, selective = queries(group)
    assert column_of(primary, "Bytes opened", "of live") == ["100 %", "\N{EN DASH}"]
    assert column_of(selective, "Bytes opened", "of live") == ["0.25 %", "\N{EN DASH}"]


def test_a_forecast_of_what_was_not_carried_out_is_not_compared():
    planned = {"forecast": {"files_removed_count": 8.0}}
    done = compaction(files_removed_count=8, **planned)
    not_done = [compaction(status=s, **planned) for s in ("failed", "vetoed", "conflict", "unfinished")]
    (group,) = run_groups([run(commit(), done, *not_done, truth(), end())])
    assert str(as_forecast(group)) == "All counts came out as forecast."
    assert [str(cell.text) for cell in forecasts(group).rows[0][2:]] == ["1", "8", "8", "1.00"]
