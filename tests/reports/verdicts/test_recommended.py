from records import commit, compaction, end, query, run
from result_builder import build_results

from bench.cli.recommendation_words import sentences
from bench.results.folders import load_runs
from reports.data.group import run_groups
from reports.verdicts.limit import Limit
from reports.verdicts.recommended import recommend

COST, LATENCY = "compaction_cpu_s", "query_mean_s"


def values(group, metric):
    return {row.strategy: row.values[metric] for row in group.rows}


def test_without_limits_the_least_objective_is_best(group):
    answer = recommend(group, LATENCY, ())
    latencies = values(group, LATENCY)
    assert answer.best.strategy == min(latencies, key=latencies.get)
    assert len(answer.keeping) == len(latencies)
    assert answer.beyond is None


def test_the_best_is_the_cheapest_that_keeps_every_limit(group):
    costs, latencies = values(group, COST), values(group, LATENCY)
    for at_most in sorted(latencies.values()):
        answer = recommend(group, COST, [Limit(LATENCY, "<=", at_most)])
        keeping = [label for label in costs if latencies[label] <= at_most]
        assert answer.best.strategy == min(keeping, key=costs.get)
        assert len(answer.keeping) == len(keeping)
        if answer.beyond:
            row, limit = answer.beyond
            assert latencies[row.strategy] > limit.value
            assert costs[row.strategy] < costs[answer.best.strategy]


def test_nothing_is_recommended_if_no_strategy_keeps_the_limits(group):
    latencies = values(group, LATENCY)
    fastest = min(latencies, key=latencies.get)
    limits = [Limit(LATENCY, "<=", latencies[fastest] * 0.9), Limit("files_end", "<=", 10**9)]
    answer = recommend(group, COST, limits)
    assert answer.best is None
    row, limit = answer.nearest
    assert (row.strategy, limit) == (fastest, limits[0])
    assert recommend(group, COST, [Limit("money_per_day", "<=", 1.0)]).nearest is None


def test_a_strategy_that_cannot_keep_up_with_the_stream_is_left_out():
    def one(label, wall_s, latency_s):
        return run(
            commit(is_initial=True), commit(), query(latency_s), compaction(wall_s=wall_s), end(),
            strategy=label,
        )  # fmt: skip

    (made,) = run_groups([one("fast", 2 * 3600, 0.1), one("slow", 60, 0.5)])
    answer = recommend(made, LATENCY, ())
    assert (answer.best.strategy, answer.behind) == ("slow", ("fast",))
    said = list(sentences(made, answer, ()))
    assert said[0].startswith("fast cannot keep up with the stream")
    limits = [Limit(LATENCY, "<=", 0.2)]
    nothing = recommend(made, LATENCY, limits)
    assert nothing.best is None
    assert "Of the strategies that keep up, none keeps query_mean_s <= 200 ms." in " ".join(
        sentences(made, nothing, limits)
    )


def test_the_objective_is_in_words_with_its_currency():
    figures = {"never": (0, 0.5), "rare": (10, 0.4), "often": (90, 0.1)}
    (made,) = run_groups([
        run(commit(cpu_s=1), *([compaction(cpu_s=cpu_s)] if cpu_s else []), query(query_s, cpu_s=query_s),
            end(), strategy=label, price_per_core_hour=3.6, queries_per_h=1.0, currency="EUR")
        for label, (cpu_s, query_s) in figures.items()
    ])  # fmt: skip
    limits = [Limit(LATENCY, "<=", 0.2)]
    said = list(sentences(made, recommend(made, "money_per_day", limits), limits))
    assert any(line.startswith("Its cost per day is EUR ") for line in said)
    assert any(line.startswith("Cheaper, but beyond a limit: rare, EUR ") for line in said)
    assert any(line.startswith("Its compaction CPU is 1 min 30 s") for line in _by_cost(made, limits))
    limits = [Limit(LATENCY, "<=", 0.05)]
    assert "No strategy keeps query_mean_s <= 50 ms. The nearest is often with query_mean_s = 100 ms." in (
        _by_cost(made, limits)
    )


def _by_cost(made, limits):
    return list(sentences(made, recommend(made, COST, limits), limits))


def test_of_real_runs_their_spread_tells_whether_a_limit_is_safe(group):
    latency = max(values(group, LATENCY).values())
    (tight,) = recommend(group, COST, [Limit(LATENCY, "<=", latency)]).kept
    assert tight.factor > 1
    assert not tight.is_sure
    (loose,) = recommend(group, COST, [Limit(LATENCY, "<=", latency * 10)]).kept
    assert loose.is_sure


def test_one_run_does_not_tell_how_far_another_would_be_off(tmp_path):
    one = run_groups(load_runs(build_results(tmp_path, {"never": None, "every-1min": 1}, 1, 6)))[0]
    (kept,) = recommend(one, COST, [Limit(LATENCY, "<=", 3600)]).kept
    assert kept.factor is None
    assert not kept.is_sure


def test_a_limit_that_the_last_queries_break_is_not_kept_for_sure(group):
    """Without compaction queries become slower and slower."""
    answer = recommend(group, COST, [Limit(LATENCY, "<=", values(group, LATENCY)["never"] * 1.05)])
    (kept,) = answer.kept
    assert answer.best.strategy == "never"
    assert kept.at_end > kept.limit.value
    assert not kept.is_sure


def test_more_is_better_for_some_figures(upsert_group):
    answer = recommend(upsert_group, "health_end", ())
    assert answer.best.values["health_end"] == max(filter(None, values(upsert_group, "health_end").values()))
    assert recommend(upsert_group, "health_end", [Limit("health_end", ">=", 101)]).best is None


def test_if_the_limit_is_tight_a_safe_strategy_is_named_as_well(group):
    latency = max(values(group, LATENCY).values())
    answer = recommend(group, COST, [Limit(LATENCY, "<=", latency)])
    (kept,) = answer.kept
    assert not kept.is_sure
    assert values(group, COST)[answer.safe.strategy] >= answer.best.values[COST]
    assert answer.safe.values[LATENCY] < latency


def test_compactions_that_committed_are_few_or_many():
    refused = [compaction(status="vetoed") for _ in range(5)]
    (one,) = run_groups([run(compaction(), *refused, end(), strategy="mine")])
    assert recommend(one, "compactions", ()).few == 1
    (many,) = run_groups([run(*(compaction() for _ in range(3)), end(), strategy="mine")])
    assert recommend(many, "compactions", ()).few is None
