import pytest
from result_builder import build_results
from verdicts import verdicts_of

from bench.results.folders import load_runs
from reports.data.group import run_groups
from reports.page.sections.steps import off_the_front, steps
from reports.page.sections.summary import summary
from reports.page.sections.undecided import undecided
from reports.verdicts.judge import compare_strategies


def _group(folder, **how):
    return run_groups(load_runs(build_results(folder, **how)))[0]


def _column(table, title):
    place = [str(column.title) for column in table.columns].index(title)
    return [row[place] for row in table.rows]


def test_steps_lead_from_the_cheapest_to_the_fastest_with_intervals(group):
    table = steps(group, verdicts_of(group))
    assert [str(row[0].text) for row in table.rows] == ["never", "every-10min", "every-1min"]
    costs = _column(table, "Cost vs cheaper")
    assert [cell.text for cell in costs[:2]] == ["\N{EN DASH}"] * 2  # nothing costs nothing
    found = compare_strategies(group, group.cost_metric, "every-1min", "every-10min")
    assert costs[2].value == found.ratio
    assert costs[2].note == f"{found.low:.2g}\N{EN DASH}{found.high:.2g}"


def test_dominated_strategies_are_named_once(tmp_path):
    found = _group(tmp_path, strategies={"never": None, "every-7min": 7, "every-10min": 10}, ticks=20)
    (said,) = map(str, off_the_front(found, verdicts_of(found)))
    assert said.endswith("not proven to be worse: every-10min (by every-7min).")


def test_what_is_undecided_is_said_once_with_what_would_decide_it(tmp_path):
    strategies = {"never": None, "every-4min": 4, "every-3min": 3}
    single = _group(tmp_path / "one", strategies=strategies, repetitions=1, ticks=12)
    (said,) = map(str, undecided(single, verdicts_of(single)))
    assert said.startswith("Undecided after one repetition: how ")
    assert "every-4min compares with every-3min in cost and latency" in said
    assert "At least 3 repetitions are needed (--repetitions 3)." in said
    many = _group(tmp_path / "many", strategies={"never": None, "every-1min": 1, "every-10min": 10})
    assert undecided(many, verdicts_of(many)) == ()


def test_minutes_are_those_that_the_runs_took(tmp_path):
    strategies = {"never": None, "every-3min": 3}
    found = _group(
        tmp_path, strategies=strategies, repetitions=1, ticks=6, started_utc="2026-01-05T08:58:00Z"
    )
    (said,) = map(str, undecided(found, verdicts_of(found)))
    assert (
        "At least 3 repetitions are needed, about 8 min more (--repetitions 3)." in said
    )  # two more of two runs of 2 min


def test_modelled_figures_are_never_undecided(tmp_path):
    found = _group(tmp_path, ticks=30, repetitions=1, mode="simulated")
    assert undecided(found, verdicts_of(found)) == ()
    notes = {cell.note for cell in _column(steps(found, verdicts_of(found)), "Latency vs cheaper")[1:]}
    assert notes == {"modelled"}


def test_a_conversion_that_is_not_modelled_is_not_compared(tmp_path):
    options = {"coefficients": {"operations": {"query": {"steps": 1}}}}
    build_results(tmp_path, {"never": None, "a": 2, "b": 3}, 1, 12, mode="simulated", options=options)
    for path in tmp_path.rglob("events.jsonl"):
        if '"label": "a"' in path.read_text() or '"strategy": "a"' in path.read_text():
            beyond = '"kind": "run", "beyond_fit": {"unfitted_operations": ["convert"]}'
            path.write_text(path.read_text().replace('"kind": "run"', beyond))
    found = run_groups(load_runs(tmp_path))[0]
    assert [str(line) for line in undecided(found, verdicts_of(found))] == [
        "a: not comparable: the cost of a conversion of deletes is not fitted to any run."
    ]
    assert "a" not in [str(row[0].text) for row in steps(found, verdicts_of(found)).rows]
    notes = {str(cell.text): cell.note for cell in _column(summary(found, verdicts_of(found)), "Strategy")}
    assert notes["a"] == "the cost of a conversion of deletes is not fitted to any run"


@pytest.mark.parametrize("repetitions", [1, 3])
def test_latencies_of_the_summary_share_a_unit(tmp_path, repetitions):
    found = _group(tmp_path, repetitions=repetitions, ticks=6)
    table = summary(found, verdicts_of(found))
    units = {column.unit for column in table.columns if str(column.title) in ("Query mean", "Query p95")}
    assert units == {"ms"}
