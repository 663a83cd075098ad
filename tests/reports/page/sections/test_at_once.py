from live_runs import live, live_runs
from records import commit, end, observed, query, run, truth

from reports.charts import at_once as chart
from reports.charts.theme import LIGHT
from reports.data.group import run_groups
from reports.page.sections.at_once import at_once
from reports.page.sections.keeping_up import keeping_up
from reports.page.sections.method import facts, method


def group_of(*runs):
    (group,) = run_groups(runs)
    return group


def test_a_row_says_what_was_late_what_was_lost_and_what_that_cost(live_group):
    table = at_once(live_group)
    assert [[str(cell.text) for cell in row] for row in table.rows] == [
        ["never", "1.0", "1.0", "0", "0", "0", "0.0", "0.0", "750", "750"],
        ["eager", "1.0", "1.0", "1", "1", "2", "8.0", "6.0", "750", "750"],
    ]
    assert "A minute of the scenario passes in 5 s" in table.note


def test_the_top_of_the_report_says_how_fast_scenario_time_passed(live_group):
    assert "of scenario time. Speed 12: scenario time = 12 x real time, so a run took 20 s. " in str(
        facts(live_group)
    )
    assert "of scenario time. Scenario time is real time. " in str(facts(group_of(live("never", speed=1.0))))
    (turns,) = run_groups([run(observed(), commit(), query(), truth(), end(), strategy="never")])
    assert "real time" not in str(facts(turns))


def test_the_method_describes_roles_and_not_turns(live_group):
    said = {title: str(text) for title, text in method(live_group)}
    assert "due at random moments" in said["Queries"]
    assert said["Runs"].startswith("Each role of a run")


def test_where_roles_take_turns_there_is_neither_table_nor_chart():
    group = group_of(run(observed(), commit(), query(), truth(), end(), strategy="never"))
    assert (at_once(group), chart.applies(group)) == (None, False)


def test_the_chart_names_what_committed_and_what_lost(live_group):
    assert str(chart.finding(live_group)).endswith("never 0 / 0, 0 and eager 1 / 2, 1.")
    (axes,) = chart.draw(live_group, LIGHT).axes
    assert len(axes.collections) == 2 + 3  # a row of commits each, and three compactions


def test_real_commits_that_get_late_are_told_without_a_model():
    (line,) = keeping_up(group_of(live("never"), live("slow", late_s=60.0)))
    assert str(line).startswith("slow cannot keep up with the stream: the last commits are late, by 1 min")
    (line,) = keeping_up(group_of(*live_runs()))
    assert str(line) == "All strategies keep up with the stream."
