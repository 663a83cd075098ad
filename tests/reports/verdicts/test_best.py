"""What is named the best trade-off, and when the noise decides it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from records import commit, compaction, end, query, run
from verdicts import verdicts_of

from reports.data.group import RunGroup, run_groups
from reports.page.sections.answer import best, budgets, headline
from reports.page.sections.steps import off_the_front
from reports.page.sections.summary import _names, summary
from reports.verdicts.apart import clusters, not_told_apart
from reports.verdicts.best import likely_best, on_front
from reports.verdicts.pareto_front import alike, knee, pareto_front, points

# Cost (s) and latency (s): `often` is the most expensive and the fastest, `rare` the cheapest.
NEVER, RARE, OFTEN = (0.0, 40.0), (1.0, 9.0), (16.0, 1.0)


def group(noise, repetitions=5, mode="real", **strategies):
    """Runs of each strategy, whose latency grows by `noise` (a share) from run to run, or falls if even."""
    figures = {"never": NEVER, "rare": RARE, **strategies, "often": OFTEN}
    runs = [
        run(
            commit(), *([compaction(cpu_s=cost_s, wall_s=cost_s)] if cost_s else []),
            query(query_s * (1 + noise * number * (-1) ** (number + place))), end(),
            strategy=label, repetition=number, mode=mode,
        )
        for place, (label, (cost_s, query_s)) in enumerate(figures.items())
        for number in range(1, repetitions + 1)
    ]  # fmt: skip
    (made,) = run_groups(runs)
    return made


def test_a_clear_knee_is_named_alone():
    made = group(0.01, middle=(4.0, 1.5), dear=(8.0, 1.4))
    assert likely_best(made) == ("middle",)
    assert best(made) == "middle"
    assert "middle is the best trade-off" in str(headline(made)[0])


def test_a_knee_that_noise_decides_is_none():
    made = group(0.04, one=(4.0, 2.0), other=(4.5, 1.85))
    assert set(likely_best(made)) == {"one", "other"}
    assert best(made) is None
    said = str(headline(made)[0])
    assert "noise decides which is the best trade-off: " in said
    assert "; or " in said


def test_what_noise_may_put_in_the_place_of_the_best_is_named():
    made = group(0.04, one=(4.0, 2.0), other=(4.05, 2.02))
    assert likely_best(made) == ("one", "other")
    assert best(made) == "one"
    said = str(headline(made)[0])
    assert "one is the best trade-off: " in said
    assert said.endswith(" Within the noise it may be other instead.")


def test_a_knee_of_fewer_than_nine_of_ten_draws_does_not_stand_out():
    made = group(0.04, middle=(4.0, 2.95))  # the chord passes 4 s at sqrt(9 x 1) = 3 s
    assert knee(pareto_front(points(made))).strategy == "middle"
    assert likely_best(made) == ()
    assert "no strategy stands out: rare is the cheapest" in str(headline(made)[0])


@pytest.mark.parametrize("repetitions", [2, 1])
def test_where_no_noise_is_known_the_means_decide(repetitions):
    made = group(0.04, repetitions, one=(4.0, 2.0), other=(4.5, 1.85))
    assert len(likely_best(made)) == 1


def test_a_simulation_cannot_tell_apart_what_lies_within_two_percent():
    made = group(0.0, 1, "simulated", one=(4.0, 1.5), other=(4.05, 1.52), dear=(8.0, 1.4))
    assert likely_best(made) == ("one", "other")
    said = str(headline(made)[0])
    assert said.startswith(
        "As modelled, with a tolerance of 2 % for each figure, each of these may be the best trade-off: one, "
    )
    assert "; or other, with " in said
    (apart,) = likely_best(group(0.0, 1, "simulated", one=(4.0, 1.5), other=(4.3, 1.6), dear=(8.0, 1.4)))
    assert apart == "one"


def test_a_simulated_strategy_that_equals_another_is_not_called_dominated():
    made = group(0.0, 1, "simulated", one=(4.0, 1.5), other=(4.05, 1.52), worse=(5.0, 1.6))
    assert alike(made) == {"other": "one"}
    verdicts = verdicts_of(made)
    assert list(map(str, off_the_front(made, verdicts))) == [
        "Dominated on the means, by a strategy that costs no more and is no slower within 2 %: "
        "worse (by one)."
    ]
    notes = {str(cell.text): cell.note for cell in _names(made, verdicts)}
    assert notes["other"] == "equal to one within 2 %"
    assert notes["worse"] == "dominated by one"


def test_a_measured_strategy_is_dominated_if_a_difference_is_proven():
    made = group(0.01, 3, one=(4.0, 1.5), other=(4.0, 1.505), worse=(5.0, 1.9))
    assert not_told_apart(made) == {"other": "one"}
    assert list(map(str, off_the_front(made, verdicts_of(made)))) == [
        "Dominated, by a strategy that is proven to be cheaper or faster and not proven to be worse: worse "
        "(by one).",
        "Not told apart from a strategy that is better on the means: other (from one).",
    ]
    names = {str(cell.text): cell.note for cell in _names(made, verdicts_of(made))}
    assert (names["other"], names["worse"]) == ("not told apart from one", "dominated by one")
    rows = [row[1] for row in budgets(made).rows]
    assert [(str(cell.text), cell.note) for cell in rows][1] == ("one", "or other")
    assert clusters(made) == (("one", "other"),)
    single = group(0.01, 1, one=(4.0, 1.5), other=(4.0, 1.505))
    assert not_told_apart(single) == {}


def test_the_correction_of_a_page_makes_no_strategies_alike():
    """A difference that its own interval shows may be one of so many that the page cannot prove it."""
    many = {f"near-{n}": (17.0 + n, 30.0 + n) for n in range(12)}
    made = group(0.025, 3, one=(4.0, 1.5), other=(4.0, 1.65), **many)
    verdicts = verdicts_of(made)
    latency = verdicts.of("query_mean_s", "other", "one")
    assert (latency.verdict, latency.is_retracted) == ("undecided", True)
    assert not_told_apart(made) == {}
    assert clusters(made) == ()
    assert verdicts.unproven(made) == {"other": "one"}
    said = [str(line) for line in off_the_front(made, verdicts)]
    assert "Dominated on the means, unproven after correction for all comparisons: other (by one)." in said
    names = {str(cell.text): cell.note for cell in _names(made, verdicts)}
    assert (names["other"], names["near-1"]) == ("dominated by one, unproven", "dominated by rare")
    (row,) = (row[1] for row in budgets(made).rows if str(row[1].text) == "one")
    assert row.note == ""


def test_the_only_choice_of_a_simulation_is_named_with_what_equals_it():
    made = group(0.0, 1, "simulated", rare=(16.2, 1.01))
    assert " is both the cheapest and the fastest strategy" in str(headline(made)[0])
    assert str(headline(made)[0]).endswith(" rare equals it within 2 %.")


def test_a_simulated_strategy_as_cheap_as_a_slower_one_is_named_alone():
    made = group(0.0, 1, "simulated", rare=(15.8, 1.4))
    assert "rare" not in [point.strategy for point in pareto_front(points(made))]
    told = "often is both the cheapest and the fastest strategy that compacts, within 2 %: "
    assert told in str(headline(made)[0])
    measured = group(0.0, 3, rare=(15.8, 1.4))
    assert "rare" in [point.strategy for point in pareto_front(points(measured))]


def test_where_no_compaction_beats_the_cheaper_ones_the_fastest_is_not_called_the_cheapest():
    made = group(0.0, 3, rare=(1.0, 41.0))  # slower than never
    said = str(headline(made)[0])
    assert (
        "often is the fastest strategy that compacts, and no cheaper one is faster than no compaction" in said
    )


def test_without_a_knee_there_is_none():
    assert likely_best(group(0.01)) == ()  # two that compact


def test_a_front_that_changes_with_all_that_a_policy_causes_is_said():
    made = group(0.01, middle=(4.0, 1.5), dear=(8.0, 1.4))
    assert not [line for line in map(str, headline(made)) if "maintenance and evaluations" in line]
    # Expiring what it leaves behind makes the middle one dearer than the fastest.
    rows = [
        replace(row, values={**row.values, "policy_cpu_s": 20.0}) if row.strategy == "middle" else row
        for row in made.rows
    ]
    said = [str(line) for line in headline(RunGroup(tuple(rows), made.runs))]
    assert said[2].endswith("rare, dear and often.")
    # A front of fewer strategies differs for that alone.
    rows = [
        replace(row, values={**row.values, "policy_cpu_s": None}) if row.strategy == "middle" else row
        for row in made.rows
    ]
    said = [str(line) for line in headline(RunGroup(tuple(rows), made.runs))]
    assert not [line for line in said if "maintenance and evaluations" in line]


def test_the_share_of_draws_on_the_front_is_that_of_student_t():
    # Costs are certain, so `other` is on the front if it is faster than the cheaper `one`. Runs of both are
    # 1 + 0.04 x (-1, 2, -3, 4, -5) and the opposite, in logs; two runs of the common variance are added.
    made = group(0.04, one=(4.0, 2.0), other=(4.5, 1.95))
    shares = on_front(made)
    assert set(shares) == {"never", "rare", "one", "other", "often"}
    assert shares["never"] == shares["rare"] == shares["one"] == shares["often"] == 1
    logs = {row.strategy: np.log(row.run_values["query_mean_s"]) for row in made.rows}
    squares = {label: float(np.sum((own - own.mean()) ** 2)) for label, own in logs.items()}
    common = sum(squares.values()) / 20  # five strategies, four degrees of freedom each
    rng = np.random.default_rng(7)
    drawn = {
        label: logs[label].mean()
        + math.sqrt((2 * common + squares[label]) / 6 / 5) * rng.standard_t(6, 100_000)
        for label in ("one", "other")
    }
    assert shares["other"] == pytest.approx(np.mean(drawn["other"] < drawn["one"]), abs=0.07)
    assert 0.2 < shares["other"] < 0.9


def test_a_dominated_strategy_is_on_the_front_in_no_draw():
    made = group(0.01, middle=(4.0, 1.5), worse=(8.0, 3.0))
    assert (on_front(made)["middle"], on_front(made)["worse"]) == (1, 0)
    summary_of = {
        str(row[0].text): [str(cell.text) for cell in row] for row in summary(made, verdicts_of(made)).rows
    }
    assert [summary_of[label][-2] for label in ("never", "middle", "worse")] == ["100 %", "100 %", "0 %"]


@pytest.mark.parametrize("how", [{"repetitions": 2}, {"mode": "simulated"}])
def test_nothing_is_drawn_where_no_noise_is_known(how):
    made = group(0.01, **{"middle": (4.0, 1.5), **how})
    assert on_front(made) == {}
    assert "On the front" not in [str(column.title) for column in summary(made, verdicts_of(made)).columns]


def noisy(label, repetition, cost_s, query_s):
    """A run whose figures are up to 10 % off, in another direction for each repetition and strategy."""
    off = 1 + 0.1 * ((repetition + len(label)) % 3 - 1)
    records = [compaction(cpu_s=cost_s * off, wall_s=1.0)] if cost_s else []
    return run(commit(), *records, query(query_s / off), end(), strategy=label, repetition=repetition)


def test_what_the_runs_do_not_tell_from_the_only_choice_is_named():
    figures = {"never": (0.0, 9.0), "best": (10.0, 1.0), "similar1": (10.2, 1.02), "worse": (30.0, 3.0)}
    runs = [noisy(label, number, *of) for label, of in figures.items() for number in range(1, 7)]
    (made,) = run_groups(runs)
    assert str(headline(made)[0]).endswith(" Statistically indistinguishable from similar1.")


def test_one_repetition_says_that_its_noise_is_unknown():
    assert str(headline(group(0.0, 1))[0]).startswith("In one repetition, whose noise is unknown, ")


def test_a_strategy_of_unknown_cost_is_not_ranked():
    beside = run(
        commit(), compaction(cpu_s=1.0, wall_s=1.0, is_shared=True), query(0.5), end(), strategy="thread"
    )
    (made,) = run_groups([*group(0.0, 1).runs, beside])
    assert "Not ranked, since their cost is unknown: thread." in [str(told) for told in headline(made)]
