import math

import pytest
from records import commit, compaction, end, query, run, speed
from result_builder import build_group
from verdicts import verdicts_of

from bench.text import human_ratio
from reports.charts.pareto import finding
from reports.data.group import run_groups
from reports.page.one_line import one_line
from reports.page.sections.answer import best, budgets, headline, primary_query
from reports.page.sections.matrix import matrix
from reports.page.sections.summary import summary
from reports.verdicts.pareto_front import pareto_front, points

FOUR = {"never": None, "every-1min": 1, "every-5min": 5, "every-20min": 20}


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    return build_group(tmp_path_factory.mktemp("four"), strategies=FOUR)


def texts(table):
    return [[str(cell.text) for cell in row] for row in table.rows]


def test_the_headline_names_the_knee_and_what_it_saves_and_gives_up(four):
    first, second = map(str, headline(four))
    assert best(four) == "every-5min"
    assert first.startswith("On the means of 3 repetitions, every-5min is the best trade-off: ")
    by_label = {point.strategy: point for point in points(four)}
    chosen, fastest = by_label["every-5min"], by_label["every-1min"]
    assert f"it takes {human_ratio(chosen.cost_s / fastest.cost_s)} the CPU (saves " in first
    assert f"({chosen.query_s / fastest.query_s:.1f}x the latency)" in first
    assert "Against the fastest on the front, every-1min," in first
    assert second.startswith("Without compaction (never) the mean query takes ")
    assert second.endswith("the latency of every-5min.")


def test_two_to_choose_from_are_both_named(tmp_path):
    two = build_group(tmp_path, strategies={"never": None, "every-10min": 10, "every-1min": 1})
    first = str(headline(two)[0])
    assert best(two) is None
    assert first.startswith(
        "On the means of 3 repetitions, there are two to choose from: every-10min is the cheapest that "
        "compacts, with "
    )
    assert "; every-1min is the fastest, with " in first


def test_ratios_in_prose_are_those_of_tables_at_equal_speed():
    """A machine that was slower for `often` made its figures 1.5 times what they would have been."""
    figures = {"never": (0.0, 8.0, 1.0), "rare": (2.0, 4.0, 1.0), "often": (8.0, 2.0, 1.5)}
    (made,) = run_groups([
        run(
            commit(), *([compaction(cpu_s=cpu_s * slow * off)] if cpu_s else []), query(query_s * slow * off),
            speed(slow * off), end(), strategy=label, repetition=number,
        )
        for label, (cpu_s, query_s, slow) in figures.items()
        for number, off in enumerate((0.9, 1.0, 1.1), 1)
    ])  # fmt: skip
    assert made.row("often").values["compaction_cpu_s"] == pytest.approx(12)
    first, second, *_ = map(str, headline(made))
    assert "rare takes 0.25x the CPU (saves 10 s) and gives up 1 s a query (2.0x the latency)" in first
    assert second == "Without compaction (never) the mean query takes 8 s: 4.0x the latency of often."


def two_with_noise(rare_cpu_s):
    """`often` halves the query of `rare` at 8 s of CPU; the runs of each differ by some percent."""
    figures = {"never": (0.0, 8.0), "rare": (rare_cpu_s, 4.0), "often": (8.0, 2.0)}
    (made,) = run_groups([
        run(commit(), *([compaction(cpu_s=cpu_s * off)] if cpu_s else []), query(query_s * (2 - off)), end(),
            strategy=label, repetition=number)
        for label, (cpu_s, query_s) in figures.items()
        for number, off in enumerate((0.95, 1.0, 1.05), 1)
    ])  # fmt: skip
    return made


def test_the_fastest_is_the_answer_if_none_is_proven_to_be_cheaper():
    made = two_with_noise(rare_cpu_s=7.9)
    assert best(made) == "often"
    said = str(headline(made)[0])
    assert "often is proven to be faster than the others on the front, and none of these is proven " in said
    assert " to be cheaper: 8 s of " in said
    assert said.endswith(" with rare.")


def test_the_fastest_is_not_the_answer_if_another_is_cheaper():
    made = two_with_noise(rare_cpu_s=4.0)
    assert best(made) is None
    assert "there are two to choose from" in str(headline(made)[0])


@pytest.mark.parametrize(
    ("never_cpu_s", "said"), [(1.0, "wide is the cheapest besides never, "), (3.0, "wide is the cheapest, ")]
)
def test_a_writer_that_compacts_nothing_is_not_called_the_cheapest_that_compacts(never_cpu_s, said):
    text = {"strategies": [{"label": "never"}, {"label": "wide", "writer": {"files": 1}}, {"label": "often"}]}
    figures = {"never": (never_cpu_s, 0.0, 9.0), "wide": (2.0, 0.0, 3.0), "often": (1.0, 9.0, 1.0)}
    (made,) = run_groups([
        run(commit(cpu_s=commit_s), *([compaction(cpu_s=cpu_s)] if cpu_s else []), query(query_s), end(),
            strategy=label, scenario_text=text)
        for label, (commit_s, cpu_s, query_s) in figures.items()
    ])  # fmt: skip
    assert f"there are two to choose from: {said}" in str(headline(made)[0])


def test_strategies_that_did_exactly_the_same_are_the_choice_together():
    figures = {"never": (0.0, 0.5), "one": (4.0, 0.1051), "other": (4.0, 0.1051)}
    (made,) = run_groups([
        run(commit(), *([compaction(cpu_s=cpu_s)] if cpu_s else []), query(query_s), end(), strategy=label,
            mode="simulated")
        for label, (cpu_s, query_s) in figures.items()
    ])  # fmt: skip
    assert made.twins("one") == ("other",)
    assert [str(line) for line in one_line(made)][-1].endswith(" other did exactly the same.")
    assert str(headline(made)[0]) == (
        "As modelled, one and other did exactly the same, and no other strategy that compacts is on the "
        "Pareto front: 4 s of compaction CPU and a mean query of 105 ms."
    )
    fastest = budgets(made).rows[0][1]
    assert (str(fastest.text), fastest.note) == ("one", "or other")
    assert "never 500 ms at 0 s and one 105 ms at 4 s (other the same)." in str(finding(made))


def test_one_that_is_cheapest_and_fastest_is_named_alone(tmp_path):
    group = build_group(tmp_path, strategies={"never": None, "a": 2}, ticks=8)
    assert "a is the only strategy that compacts: " in str(headline(group)[0])


def test_without_a_run_of_never_the_benefit_is_open(tmp_path):
    said = [str(line) for line in headline(build_group(tmp_path, strategies={"only": 2}, ticks=8))]
    assert said[1] == "Without a usable run of never, the benefit of compaction cannot be quantified."


def test_a_strategy_that_never_came_to_compact_is_no_choice(tmp_path):
    group = build_group(tmp_path, strategies={"never": None, "every-5min": 5, "every-90min": 90}, ticks=10)
    said = [str(line) for line in headline(group)]
    assert "every-5min is the only strategy that compacts" in said[0]
    assert said[-1].startswith("every-90min did not compact during the stream")
    assert "every-90min" not in str(texts(budgets(group)))


def test_no_usable_run_is_a_text(tmp_path):
    group = build_group(tmp_path, strategies={"never": None}, repetitions=1, fate={("never", 1): "failed"})
    assert [str(line) for line in headline(group)] == [
        "No strategy has a compaction cost and a query latency that can be compared."
    ]
    assert budgets(group) is None


def test_no_compaction_is_a_text(tmp_path):
    group = build_group(tmp_path, strategies={"never": None}, ticks=3)
    assert [str(line) for line in headline(group)] == ["No strategy compacted during the stream."]


@pytest.mark.parametrize("mode", ["real", "simulated"])
@pytest.mark.parametrize("fate", [{}, {("never", 1): "failed"}])
def test_a_scenario_without_a_strategy_to_choose_has_a_place_in_the_matrix(tmp_path, four, mode, fate):
    lone = build_group(tmp_path, {"never": None}, 1, 3, fate=fate, mode=mode, scenario="second")
    assert best(lone) is None
    assert not any(row[2].is_best for row in matrix([four, lone]).rows)


def test_budgets_have_a_row_for_each_point_of_the_front_the_fastest_first(four):
    table = budgets(four)
    assert [row[1] for row in texts(table)] == [p.strategy for p in pareto_front(points(four))][::-1]
    limits = [row[0].value for row in table.rows]
    assert limits == sorted(limits)
    assert (table.columns[0].unit, texts(table)[0][0]) == ("ms", f"{math.ceil(limits[0] * 1000)}")


def test_of_budgets_that_are_printed_alike_the_cheapest_stays():
    figures = {"never": (0.0, 0.5), "rare": (1.0, 0.1054), "often": (4.0, 0.1051), "most": (9.0, 0.09)}
    (made,) = run_groups([
        run(commit(), *([compaction(cpu_s=cpu_s)] if cpu_s else []), query(query_s), end(), strategy=label)
        for label, (cpu_s, query_s) in figures.items()
    ])  # fmt: skip
    assert {point.strategy for point in pareto_front(points(made))} == {*figures}
    assert [row[:2] for row in texts(budgets(made))] == [["90", "most"], ["106", "rare"], ["500", "never"]]


def test_the_query_is_shown_with_its_text_where_the_scenario_has_it(tmp_path):
    query = {"name": "first-order", "sql": "SELECT 1"}
    with_sql = build_group(tmp_path / "a", ticks=2, scenario_text={"probes": [query]})
    assert (
        str(primary_query(with_sql)) == "The latencies are those of the primary query, first-order: SELECT 1."
    )
    without = build_group(tmp_path / "b", ticks=2)
    assert str(primary_query(without)) == "The latencies are those of the primary query, first-order."


def test_several_scenarios_are_one_matrix(tmp_path, four):
    other = build_group(tmp_path, strategies={"never": None, "other": 2}, ticks=6, scenario="second")
    table = matrix([four, other])
    cells = {row[0]: row[1:] for row in texts(table)}
    assert list(cells) == [*FOUR, "other"]
    assert cells["other"][0] == cells["every-1min"][1] == "\N{EN DASH}"
    assert [str(row[0].text) for row in table.rows if row[1].is_best] == ["every-5min"]
    assert matrix([four]) is None


def test_where_strategies_commit_differently_cost_is_that_of_commits_and_policy(tmp_path):
    writers = {"never": "2min", "idle": "2min", "late": "4min"}
    strategies = [{"label": label, "writer": {"commit_every": every}} for label, every in writers.items()]
    group = build_group(
        tmp_path, {"never": None, "idle": None, "late": None, "every-4min": 4}, 1, 8,
        commit_ticks={"never": 2, "idle": 2, "late": 4},
        scenario_text={"strategies": [*strategies, {"label": "every-4min"}]},
    )  # fmt: skip
    assert [group.writes_otherwise(label) for label in group.strategies] == [False, False, True, True]
    said = [str(line) for line in headline(group)]
    assert " CPU of commits and policy and a mean query of " in said[0]
    assert said[-2].startswith("idle did not compact during the stream: its latency differs")
    assert said[-1].startswith("Costs are the CPU of commits and policy together, ")
    by_label = {point.strategy: point for point in points(group)}
    assert [label for label, point in by_label.items() if point.is_idle] == ["idle"]
    assert by_label["late"].cost_s == group.row("late").values["commit_cpu_s"]
    assert by_label["late"] in pareto_front(points(group))
    titles = [str(column.title) for column in summary(group, verdicts_of(group)).columns]
    assert titles[1:3] == ["Total CPU", "Compaction CPU"]


def test_where_rows_differ_in_age_none_beats_another_that_is_fresher(tmp_path):
    writers = {"never": "1min", "late": "4min"}
    strategies = [{"label": label, "writer": {"commit_every": every}} for label, every in writers.items()]
    group = build_group(
        tmp_path, {"never": None, "late": None, "often": 2}, 1, 8, commit_ticks={"late": 4},
        scenario_text={"strategies": [*strategies, {"label": "often", "writer": {"commit_every": "1min"}}]},
    )  # fmt: skip
    front = pareto_front(points(group))
    assert {point.strategy for point in front} == {"never", "late", "often"}
    assert [point.staleness_s for point in points(group)] == [30.0, 120.0, 30.0]
    said = str(headline(group)[0])
    assert (
        "what to choose depends on how old the rows may be that queries see. Mean age: often 30 s, " in said
    )
    assert "; late 2 min, with " in said
    assert (best(group), budgets(group)) == (None, None)


def test_a_simulated_strategy_that_is_cheaper_and_as_fast_is_the_answer(tmp_path):
    group = build_group(tmp_path, {"never": None, "a": 1, "b": 1}, 1, 8, mode="simulated")
    said, chosen = str(headline(group)[0]), best(group)
    assert chosen in {"a", "b"}
    assert said.startswith(f"As modelled, {chosen} is ")
    assert "no strategy stands out" not in said
    assert "there are two to choose from" not in said
