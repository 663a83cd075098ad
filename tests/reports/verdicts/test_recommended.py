import pytest

from reports.verdicts.recommended import Limit, recommend

COST, LATENCY = "compaction_cpu_s", "query_mean_s"


def values(group, metric):
    return {row.strategy: row.values[metric] for row in group.rows}


def test_without_limits_the_least_objective_is_best(group):
    answer = recommend(group, LATENCY, ())
    latencies = values(group, LATENCY)
    assert answer.best.strategy == min(latencies, key=latencies.get)
    assert answer.kept_count == len(latencies)
    assert answer.beyond is None


def test_the_best_is_the_cheapest_that_keeps_every_limit(group):
    costs, latencies = values(group, COST), values(group, LATENCY)
    for at_most in sorted(latencies.values()):
        answer = recommend(group, COST, [Limit(LATENCY, at_most)])
        keeping = [label for label in costs if latencies[label] <= at_most]
        assert answer.best.strategy == min(keeping, key=costs.get)
        assert answer.kept_count == len(keeping)
        if answer.beyond:
            row, limit = answer.beyond
            assert latencies[row.strategy] > limit.at_most
            assert costs[row.strategy] < costs[answer.best.strategy]


def test_nothing_is_recommended_if_no_strategy_keeps_the_limits(group):
    assert recommend(group, COST, [Limit(LATENCY, 0.0)]) is None


def test_of_real_runs_the_highest_one_tells_whether_a_limit_is_safe(group):
    label, latency = max(values(group, LATENCY).items(), key=lambda item: item[1])
    highest = max(group.row(label).run_values[LATENCY])
    (tight,) = recommend(group, COST, [Limit(LATENCY, latency)]).kept
    assert tight.factor == pytest.approx(highest / latency)
    assert not tight.is_sure
    (loose,) = recommend(group, COST, [Limit(LATENCY, highest * 1.01)]).kept
    assert loose.is_sure


def test_if_the_limit_is_tight_a_safe_strategy_is_named_as_well(group):
    latency = max(values(group, LATENCY).values())
    answer = recommend(group, COST, [Limit(LATENCY, latency)])
    (kept,) = answer.kept
    assert not kept.is_sure
    assert values(group, COST)[answer.safe.strategy] >= answer.best.values[COST]
    assert max(answer.safe.run_values[LATENCY]) <= latency
