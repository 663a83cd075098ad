from live_runs import LIVE, live, live_runs
from records import commit, compaction, end, observed, query, run, truth

from bench.text import MISSING
from reports.charts import at_once as chart
from reports.charts.theme import LIGHT
from reports.data.group import run_groups
from reports.page.sections.at_once import at_once
from reports.page.sections.keeping_up import keeping_up
from reports.page.sections.method import facts, method


def group_of(*runs):
    (group,) = run_groups(runs)
    return group


def texts(table):
    return [[str(cell.text) for cell in row] for row in table.rows]


def test_a_row_says_what_was_late_what_was_lost_and_what_that_cost(live_group):
    commits, queries = at_once(live_group)
    assert texts(commits) == [
        ["never", "1.0", "1.0", "1.0", "1.0", "0", "0", "0", "0", "0.0", "0.0"],
        ["eager", "1.0", "1.0", "1.0", "1.0", "1", "1", "2", "1", "8.0", "6.0"],
    ]
    assert texts(queries) == [
        ["never", "750", "750", MISSING, MISSING],
        ["eager", "750", "750", MISSING, MISSING],
    ]
    assert "A minute of the scenario passes in 5 s" in commits.note


def test_a_commit_that_waits_for_the_one_before_is_not_said_to_wait_for_a_compaction():
    group = group_of(live("never"), live("eager", late_s=3.0))
    assert not any(row.commits_wait for row in group.rows)


def test_what_compactions_do_to_queries_is_told_at_equal_tables():
    records = []
    for at_s in range(0, 80, 10):
        records.append(compaction(started_s=at_s + 4.0, ended_s=at_s + 6.0))
        for began_s in (1, 3, 5, 7, 9):
            walls_s = 0.3 if began_s == 5 else 0.2
            span = {"started_s": float(at_s + began_s), "ended_s": at_s + began_s + walls_s}
            records.append(query(walls_s, when="due", **span))
    said, _, queries = at_once(group_of(live("never"), live("eager", *records)))
    assert str(said.text) == (
        "At equal files and delete files, a query that began while a compaction ran took 1.5x (1.50 to 1.50) "
        "as long as others under eager."
    )
    assert [row[3].text for row in queries.rows] == [MISSING, "1.5x"]


def test_the_top_of_the_report_says_how_fast_scenario_time_passed(live_group):
    def said(group):
        return str(facts(group))

    assert "By a real clock scenario time = 12 x real time, so the stream of a run took 20 s. " in said(
        live_group
    )
    assert "By a real clock scenario time is real time, so" in said(group_of(live("never", speed=1.0)))
    in_turns = run(observed(), commit(), query(), truth(), end(), strategy="never")
    assert "real time" not in said(group_of(in_turns))


def test_the_method_describes_roles_and_not_turns(live_group):
    said = {title: str(text) for title, text in method(live_group)}
    assert "due at random moments" in said["Queries"]
    assert said["Runs"].startswith("Each role of a run")


def test_where_roles_take_turns_there_is_neither_table_nor_chart():
    group = group_of(run(observed(), commit(), query(), truth(), end(), strategy="never"))
    assert (at_once(group), chart.applies(group)) == ((), False)


def test_the_chart_names_what_committed_and_what_lost(live_group):
    assert str(chart.finding(live_group)).endswith("never 0 / 0, 0 and eager 1 / 2, 1.")
    (axes,) = chart.draw(live_group, LIGHT).axes
    assert [len(bars.get_paths()) for bars in axes.collections] == [4, 0, 4, 3]  # commits and compactions


def test_only_compactions_that_committed_are_filled():
    statuses = ("ok", "noop", "failed", "conflict", "unfinished")
    made = [compaction(status=status, started_s=6.0, ended_s=7.0) for status in statuses]
    (axes,) = chart.draw(group_of(live("never"), live("eager", *made)), LIGHT).axes
    faces = axes.collections[-1].get_facecolor()
    assert [opacity > 0 for *_, opacity in faces] == [True, False, False, False, False]


def test_without_a_usable_run_there_is_nothing_to_draw():
    group = group_of(run(commit(), end("failed"), strategy="never", **LIVE))
    (axes,) = chart.draw(group, LIGHT).axes
    assert [text.get_text() for text in axes.texts] == ["no usable run"]
    assert str(chart.finding(group)) == ""


def test_real_commits_that_get_late_are_told_without_a_model():
    (line,) = keeping_up(group_of(live("never"), live("slow", late_s=60.0)))
    assert str(line).startswith("slow cannot keep up with the stream: the last commits are late, by 1 min")
    (line,) = keeping_up(group_of(*live_runs()))
    assert str(line) == "All strategies keep up with the stream."
