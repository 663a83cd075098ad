from records import commit, compaction, end, observed, query, run, truth

from bench.text import MISSING
from reports.data.group import run_groups
from reports.page.content import SECTIONS
from reports.page.sections.waits import waits


def table_of(*runs):
    (group,) = run_groups(runs)
    return waits(group)


def of(label, *records):
    return run(observed(), query(), *records, truth(), end(), strategy=label)


def test_a_row_says_how_long_a_commit_takes_and_when_its_call_returns():
    never = of("never", commit(wall_s=0.5))
    inline = of("inline", commit(wall_s=0.5, waited_s=4.0))
    delayed = of("async", commit(wall_s=1.0), compaction(scheduled_at_ms=0, at_ms=60_000))
    table = table_of(never, inline, delayed)
    assert [[str(cell.text) for cell in row] for row in table.rows] == [
        ["never", "0.50", "0.50", "0.50", MISSING],
        ["inline", "0.50", "0.50", "4.50", MISSING],
        ["async", "1.00", "1.00", "1.00", "60"],
    ]
    assert "Call returns" in table.note
    assert table.caption not in [section.title for section in SECTIONS]
    assert "Age of oldest" not in table.note


def test_where_nothing_waits_and_nothing_is_delayed_there_is_no_table():
    assert table_of(of("never", commit()), of("now", commit(), compaction())) is None
