from dataclasses import astuple, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_file_tables import small_file_tables

from strategies.round_costs import PRIOR_ROUNDS, SPARK, WITHOUT_SPARK, round_costs
from strategies.state import MIB, CompactionSeen, CostPriors, TableState

PRIOR = CostPriors(1.0, 0.01, 0.1, 0.001, 0.01, 0.002, 0.5, 0.003)


def seen(files, mib, cpu_s, **fields):
    values = {"executor": "spark", "kind": "merge", **fields}
    return CompactionSeen(0, "ok", "cost", files, 1, mib * MIB, mib * MIB, 1.0, cpu_s, **values)


def costs(*rounds, prior=PRIOR, executor="spark"):
    return round_costs(
        TableState(0, 1, compactions=rounds, executor=executor, cost_priors={"spark": prior, "arrow": prior})
    )


def test_without_history_the_prior_holds():
    assert costs().costs == PRIOR
    assert costs().has_prior


def test_without_a_prior_the_defaults_of_the_executor_hold():
    assert round_costs(TableState(0, 1)).costs == SPARK
    assert round_costs(TableState(0, 1, executor="arrow")).costs == WITHOUT_SPARK
    assert not round_costs(TableState(0, 1)).has_prior


def test_rounds_as_the_prior_says_change_nothing():
    found = costs(*(seen(files, 1, 1 + files * 0.01 + 0.2) for files in (10, 50, 200)))
    assert astuple(found.costs) == pytest.approx(astuple(PRIOR))
    assert found.rounds_count == 3


def test_varied_rounds_tell_the_costs_apart():
    true = replace(PRIOR, fixed_cpu_s=3.0, cpu_s_per_mib=0.3)
    rounds = [
        seen(files, mib, true.fixed_cpu_s + true.cpu_s_per_file * files + 2 * true.cpu_s_per_mib * mib)
        for files in (1, 50, 200) for mib in (0, 1, 5)
    ] * 3  # fmt: skip
    found = costs(*rounds).costs
    # More than half of the way from the prior to what is true.
    assert found.fixed_cpu_s == pytest.approx(3.0, abs=1.0)
    assert found.cpu_s_per_file == pytest.approx(0.01, abs=0.005)
    assert found.cpu_s_per_mib == pytest.approx(0.3, abs=0.1)


def test_equal_rounds_scale_all_costs_alike():
    # A round should cost 1 + 0.4 + 0.2 = 1.6 CPU s and costs twice that: 20 rounds against the prior's 4.
    found = costs(*[seen(40, 1, 3.2)] * 20).costs
    factors = [new / old for new, old in zip(astuple(found)[:3], astuple(PRIOR)[:3], strict=True)]
    assert factors == pytest.approx([1 + 20 / 24] * 3)


def test_the_prior_outweighs_a_single_round():
    found = costs(seen(40, 1, 100 * 1.6))
    assert found.round_cpu_s(40, MIB) < 0.5 * 160


def test_only_rounds_of_the_executor_count():
    rounds = [seen(40, 1, 50.0, executor="arrow")] * 9
    assert costs(*rounds).costs == PRIOR
    assert costs(*rounds, executor="arrow").costs != PRIOR
    assert costs(seen(40, 1, 50.0, executor=None)).rounds_count == 1


def test_kinds_of_another_nature_are_left_out():
    state = TableState(0, 1, compactions=(seen(40, 1, 50.0, kind="conversion"),))
    assert round_costs(state, frozenset({"conversion"})).rounds_count == 0
    assert round_costs(state).rounds_count == 1


def test_failed_and_empty_rounds_are_left_out():
    rounds = [replace(seen(40, 1, 50.0), status="failed"), replace(seen(0, 0, 50.0), status="ok")]
    assert costs(*rounds).costs == PRIOR


def test_latency_a_file_comes_from_queries_around_rounds():
    # 40 files replaced by 1 save 39 x 0.005 s. The prior has the weight of PRIOR_ROUNDS of these.
    rounds = [seen(40, 1, 1.6, query_before_s=1.0 + 39 * 0.005, query_after_s=1.0)] * 12
    found = costs(*rounds)
    expected = (PRIOR_ROUNDS * 0.001 + 12 * 0.005) / (PRIOR_ROUNDS + 12)
    assert found.costs.query_s_per_file == pytest.approx(expected)
    assert found.queries_count == 12


def test_one_disturbed_query_does_not_decide():
    rounds = [seen(40, 1, 1.6, query_before_s=1.039, query_after_s=1.0)] * 4
    disturbed = seen(40, 1, 1.6, query_before_s=500.0, query_after_s=1.0)
    assert costs(*rounds, disturbed).costs.query_s_per_file == pytest.approx(0.001)


@given(small_file_tables(max_files=0), st.sampled_from((PRIOR, SPARK, CostPriors(*[0] * 8))))
def test_no_history_makes_a_cost_negative(state, prior):
    for executor in ("spark", "arrow"):
        found = round_costs(replace(state, executor=executor, cost_priors={executor: prior})).costs
        for value, start in zip(astuple(found), astuple(prior), strict=True):
            assert value >= 0.05 * start
