"""The answer where the scenario has prices, and what starting jobs adds."""

import pytest
from records import commit, compaction, end, observed, query, run
from result_builder import build_results
from verdicts import verdicts_of

from bench.results.folders import load_runs
from bench.text import human_ratio
from reports.data.group import run_groups
from reports.page.content import page_content
from reports.page.sections.answer import budgets
from reports.page.sections.costs import costs
from reports.page.sections.job_starts import job_starts
from reports.page.sections.money import cheapest_in_money

HOUR_MS = 3_600_000
PRICES = {"price_per_core_hour": 3.6, "queries_per_h": 60.0, "currency": "EUR"}  # 0.001 for a CPU second
# CPU seconds of compactions and of one query: a day is 24 x 0.001 x (1 + the first + 60 x the second).
POLICIES = {"never": (0.0, 2.0), "often": (20.0, 0.5), "same": (20.1, 0.5), "rare": (10.0, 1.2)}


def group(policies=POLICIES, repetitions=3, **changes):
    """Runs an hour long, of which each is off by -1 %, 0 or 1 % in all its steps."""
    runs = [
        run(
            commit(cpu_s=factor), *([compaction(cpu_s=cpu_s * factor)] if cpu_s else []),
            query(query_s * factor, cpu_s=query_s * factor), observed(), end(), strategy=label,
            repetition=number + 1, duration_ms=HOUR_MS, **{**PRICES, **changes},
        )
        for label, (cpu_s, query_s) in policies.items()
        for number, factor in enumerate((0.99, 1.0, 1.01)[:repetitions])
    ]  # fmt: skip
    (made,) = run_groups(runs)
    return made


def said(made):
    return [str(line) for line in cheapest_in_money(made, verdicts_of(made))]


def test_the_cheapest_is_named_with_its_interval_and_what_is_not_told_apart():
    # 24 x 0.001 x (1 + 20 + 30) x 30 = 36.72 a month; the standard error of its log is 1 % / sqrt(3), with
    # the 8 degrees of freedom of four strategies for moderated ones of 4: t(97.5 %, 4) = 2.776, so 1.6 %.
    # `never` takes 1 + 120 = 121, which is 2.37 times 51.
    (line,) = said(group())
    assert line.startswith(
        "At 60 queries an hour often is the cheapest in compute and queries: EUR 36.7 a month (36.1 to "
        "37.3), with a mean query of 500 ms. Not told apart: same. never costs 2.4x ("
    )


def test_the_money_leads_the_page_then_the_trade_off_and_that_all_keep_up():
    (content,) = page_content([group()]).contents
    lines = [
        str(block.text) for block in content.sections[0].blocks if getattr(block, "style", "") == "headline"
    ]
    assert lines[0].startswith("At 60 queries an hour often is the cheapest")
    assert lines[1].startswith("On the means of 3 repetitions, ")
    assert lines[-1].startswith("All strategies keep up ")


def test_never_may_be_the_cheapest():
    (line,) = said(group({"never": (0.0, 0.6), "often": (20.0, 0.5), "rare": (10.0, 0.55)}))
    assert "never is the cheapest" in line
    assert " rare costs 1.2x (" in line  # (1 + 10 + 33) / (1 + 36)


def test_all_parts_that_have_a_price_are_named():
    (line,) = said(group(price_per_storage_gb_month=0.02, price_per_1000_puts=5.0, price_per_1000_gets=0.4))
    assert "is the cheapest in compute, queries, storage and requests: " in line


@pytest.mark.parametrize(
    "changes", [{"queries_per_h": None}, {"price_per_core_hour": None}, {"policies": {"never": (0.0, 2.0)}}]
)
def test_money_that_is_not_whole_or_has_nothing_to_compare_decides_nothing(changes):
    assert said(group(**changes)) == []


def test_below_three_runs_nothing_is_said_of_noise():
    (line,) = said(group(repetitions=2))
    assert "EUR 36.5 a month, with" in line
    assert "Not told apart" not in line


def test_a_model_has_a_tolerance_and_no_interval():
    (line,) = said(group(repetitions=1, mode="simulated"))
    assert line.startswith("As modelled, at 60 queries an hour often is the cheapest")
    assert "EUR 36.4 a month, with" in line
    assert line.endswith(" Within 2 % of it: same. never costs 2.4x.")


def cells(table, title):
    (place,) = [n for n, column in enumerate(table.columns) if column.title == title]
    return {str(row[1 if table.columns[0].unit else 0].text): row[place] for row in table.rows}


def test_tables_have_money_and_break_even_with_intervals():
    made = group()
    for table in (budgets(made), costs(made)):
        money = cells(table, "Cost per month")["often"]
        assert (money.text, money.note) == ("36.7", "36.1 to 37.3")
        rates = cells(table, "Break-even")
        # 20 s for 2 - 0.5 = 1.5 s a query.
        assert rates["often"].text == "13.3"
        low, high = map(float, rates["often"].note.split("\N{EN DASH}"))
        assert low < 13.3 < high
        assert rates["never"].text == "\N{EN DASH}"


def test_a_break_even_without_a_proven_saving_is_open():
    made = group({"never": (0.0, 0.6), "often": (20.0, 0.597), "rare": (10.0, 0.3)})
    cell = cells(costs(made), "Break-even")["often"]
    assert cell.text == "not proven"
    assert 0 < float(cell.note.removeprefix("above ").replace(",", "")) < 20 / 0.003


def test_a_dash_in_place_of_a_break_even_is_explained():
    made = group({"never": (0.0, 0.6), "often": (20.0, 0.597), "rare": (10.0, 0.3)}, 1, mode="simulated")
    assert cells(costs(made), "Break-even")["often"].text == "\N{EN DASH}"
    explained = "A dash: it does not compact before the last tick, or it is not certain that its queries "
    assert explained in costs(made).note
    assert explained not in costs(group()).note


def jobs(**fields):
    """The published runs in small: CPU and compactions of each strategy."""
    counts = {"never": (0.0, 0), "every-1min": (14.4, 60), "every-10min": (3.6, 6), "amoro": (5.1, 12)}
    (made,) = run_groups(
        run(
            commit(), *(compaction(cpu_s=cpu_s / count, **fields) for _ in range(count)),
            query(1 + 1 / (1 + count), at_ms=60_000), end(), strategy=label,
        )
        for label, (cpu_s, count) in counts.items()
    )  # fmt: skip
    return made


def test_starting_a_job_on_two_cores_makes_cost_the_number_of_compactions():
    table = job_starts(jobs())
    assert [str(row[0].text) for row in table.rows] == ["never", "every-10min", "amoro", "every-1min"]
    assert [column.title for column in table.columns[1:]] == [
        "Start of 0 s",
        "Start of 10 s",
        "Start of 30 s",
    ]
    # 14.4 + 60 x 2 x 30 = 3,614.4 and 3.6 + 6 x 2 x 30 = 363.6 s; 3,614.4 / 363.6 = 9.94.
    assert [(str(cell.text), cell.note) for cell in table.rows[3][1:]] == [
        ("14.4", "4.0x"), ("1,214", "9.8x"), ("3,614", "9.9x"),
    ]  # fmt: skip
    assert [[cell.is_best for cell in row[1:]] for row in table.rows[:3]] == [
        [False] * 3, [True] * 3, [False] * 3,
    ]  # fmt: skip


def test_a_writer_that_leaves_little_to_compact_may_be_the_cheapest_with_and_without_jobs(tmp_path):
    text = {"strategies": [{"label": "never"}, {"label": "wide", "writer": {"commit_every": "3min"}}]}
    (made,) = run_groups(load_runs(build_results(
        tmp_path, {"never": None, "wide": None, "every-2min": 2, "every-3min": 3}, 1, 12,
        commit_ticks={"wide": 3}, scenario_text=text,
    )))  # fmt: skip
    table = job_starts(made)
    best = {str(row[0].text): [cell.is_best for cell in row[1:]] for row in table.rows}
    assert best.keys() == set(made.strategies)
    assert [label for label, marks in best.items() if any(marks)] == ["wide"]
    cheapest = made.row("wide").values[made.cost_metric]
    ratio = human_ratio(made.row("every-3min").values[made.cost_metric] / cheapest)
    assert ratio in [row[1].note for row in table.rows if str(row[0].text) == "every-3min"]


def test_the_scenario_s_own_start_has_a_column_and_is_not_in_the_cost():
    made = jobs()
    (priced,) = run_groups(
        run(*records.records, strategy=records.manifest.strategy, job_start_s=5.0) for records in made.runs
    )
    titles = [column.title for column in job_starts(priced).columns[1:]]
    assert titles == ["Start of 0 s", "Start of 5 s", "Start of 10 s", "Start of 30 s"]
    assert priced.row("amoro").values["compaction_cpu_s"] == pytest.approx(5.1)


def test_commits_that_compact_start_no_job():
    assert job_starts(jobs(is_inline=True)) is None  # all start as many: none
