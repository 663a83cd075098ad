import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import commit, compaction, end, query, run

from reports.data.group import run_groups
from reports.verdicts.model_errors import METRICS, figure_summaries, model_errors, ratio_summaries

NOISE = (0.99, 1.0, 1.01)  # of the repetitions
LABELS = ("never", "often", "seldom")
QUERY = {"session": "new", "cpu_s": 0.5}


def one_run(label, compaction_s, query_s, **manifest):
    policy = [compaction(cpu_s=compaction_s, added_bytes=7, files_added_count=1)] if compaction_s else []
    return run(
        commit(cpu_s=1.0, files_added_count=1),
        *policy,
        query(query_s, **QUERY),
        end(),
        strategy=label,
        **manifest,
    )


def real_runs(costs, **manifest):
    """Repetitions of strategies, with compaction CPU and a query each."""
    return [
        one_run(label, factor * compaction_s, factor * query_s, repetition=repetition, **manifest)
        for label, (compaction_s, query_s) in costs.items()
        for repetition, factor in enumerate(NOISE, 1)
    ]


def simulated(costs):
    return {
        label: one_run(label, compaction_s, query_s, mode="simulated")
        for label, (compaction_s, query_s) in costs.items()
    }


def errors_of(real, modelled):
    return model_errors((group, simulated(modelled)) for group in run_groups(real))


COSTS = st.fixed_dictionaries({label: st.tuples(st.floats(0.1, 9), st.floats(0.1, 9)) for label in LABELS})


@given(COSTS, st.floats(0.1, 10))
def test_a_model_that_is_off_by_one_factor_everywhere_has_this_error_and_ranks_all_alike(costs, factor):
    scaled = {label: (factor * cpu_s, factor * query_s) for label, (cpu_s, query_s) in costs.items()}
    errors = errors_of(real_runs(costs), scaled)
    by_metric = {(one.strategy, one.metric): one.error for one in errors.figures}
    for label in LABELS:
        for metric in ("compaction_cpu_s", "query_new_session_mean_s"):
            assert by_metric[label, metric] == pytest.approx(factor - 1, abs=1e-9)
        assert by_metric[label, "commit_cpu_s"] == 0
    assert all(one.factor == pytest.approx(1) for one in errors.ratios)
    assert all(one.tau in (None, 1) for one in ratio_summaries(errors.ratios))


@given(COSTS, COSTS)
def test_no_choice_costs_less_than_the_cheapest_one(costs, modelled):
    errors = errors_of(real_runs(costs), modelled)
    assert len(errors.regrets) == 4
    assert all(one.regret >= 0 and (one.chosen != one.best or one.regret == 0) for one in errors.regrets)


@pytest.mark.parametrize(
    ("of_real", "of_modelled", "is_compared"), [(1, 1, True), (1, 0, False), (0, 1, False)]
)
def test_mean_queries_are_compared_if_both_are_by_long_lived_sessions(of_real, of_modelled, is_compared):
    def made(factor, has_both, **manifest):
        usual = [query(factor * 0.5, session="long-lived")] * has_both
        first = [commit(cpu_s=1.0, files_added_count=1), query(factor * 1.0, **QUERY)]
        return run(*first, *usual, end(), strategy="never", **manifest)

    (group,) = run_groups([made(1, of_real)])
    errors = model_errors([(group, {"never": made(3, of_modelled, mode="simulated")})])
    compared = {one.metric: one.error for one in errors.figures if one.metric.startswith("query")}
    assert compared == {"query_new_session_mean_s": 2, **({"query_mean_s": 2} if is_compared else {})}


def test_a_repetition_is_off_from_the_mean_of_the_others():
    real = [one_run("never", cpu_s, 1.0, repetition=n) for n, cpu_s in enumerate((1.0, 2.0, 3.0), 1)]
    errors = errors_of(real, {"never": (2.2, 1.0)})
    (error,) = (one for one in errors.figures if one.metric == "compaction_cpu_s")
    assert (error.repetitions, error.real, error.error) == (3, 2.0, pytest.approx(0.1))
    assert error.repeat == pytest.approx((1.5 / 2.5 + 0 + 1.5 / 1.5) / 3)
    alone = errors_of(real[:1], {"never": (2.2, 1.0)}).figures
    assert all(one.repeat is None for one in alone)


def test_pairs_that_real_runs_tell_apart_count_in_tau():
    costs = {"never": (1.0, 1.0), "often": (2.0, 1.0), "seldom": (9.0, 1.0)}
    turned = {"never": (1.0, 1.0), "often": (2.0, 1.0), "seldom": (0.5, 1.0)}
    errors = errors_of(real_runs(costs), turned)
    (by_cpu,) = (one for one in ratio_summaries(errors.ratios) if one.metric == "compaction_cpu_s")
    assert (by_cpu.pairs_count, by_cpu.decided_count, by_cpu.alike_count) == (3, 3, 1)
    assert by_cpu.tau == pytest.approx(-1 / 3)
    (by_query,) = (one for one in ratio_summaries(errors.ratios) if one.metric == "query_new_session_mean_s")
    assert (by_query.decided_count, by_query.tau) == (0, None)


def test_the_regret_is_what_the_choice_costs_in_real_runs():
    costs = {"never": (1.0, 1.0), "often": (4.0, 1.0)}
    errors = errors_of(real_runs(costs), {"never": (4.0, 1.0), "often": (1.0, 1.0)})
    first = errors.regrets[0]
    assert (first.queries_per_h, first.chosen, first.best) == (1, "often", "never")
    assert (first.strategies_count, first.repetitions) == (2, 3)
    assert first.regret == pytest.approx((1 + 4 + 0.5) / (1 + 1 + 0.5) - 1)
    assert first.at_random == pytest.approx(first.regret / 2)


def test_a_tie_of_the_simulation_counts_as_the_dearer_choice_and_ranks_nothing():
    errors = errors_of(
        real_runs({"never": (1.0, 1.0), "often": (4.0, 1.0)}), dict.fromkeys(("never", "often"), (2.0, 1.0))
    )
    assert errors.regrets[0].chosen == "often"
    (by_cpu,) = (one for one in ratio_summaries(errors.ratios) if one.metric == "compaction_cpu_s")
    assert (by_cpu.decided_count, by_cpu.alike_count, by_cpu.tau) == (1, 0, 0)


def test_strategies_of_two_variants_are_no_choice_and_ones_that_were_not_simulated_are_left_out():
    real = [
        *real_runs({"never": (1.0, 1.0), "often": (2.0, 1.0)}),
        *real_runs({"never @ cold": (1.0, 3.0)}, variant={"label": "cold"}),
    ]
    modelled = {"never": (1.0, 1.0), "never @ cold": (1.0, 1.0)}
    errors = errors_of(real, modelled)
    assert {one.strategy for one in errors.figures} == set(modelled)
    assert (errors.ratios, errors.regrets) == ((), ())


def test_errors_are_summed_up_by_format_and_figure():
    costs = {"never": (1.0, 1.0), "often": (2.0, 1.0)}
    errors = errors_of(real_runs(costs), {"never": (1.5, 1.0), "often": (1.0, 1.0)})
    by_metric = {one.metric: one for one in figure_summaries(errors.figures)}
    assert set(by_metric) <= set(METRICS)
    cpu = by_metric["compaction_cpu_s"]
    assert (cpu.format, cpu.strategies_count) == ("iceberg", 2)
    assert (cpu.mean_absolute, cpu.mean_signed) == pytest.approx((0.5, 0))
    assert cpu.repeat == pytest.approx((1 - 0.99 / 1.005 + 1.01 / 0.995 - 1) / 3)


def test_a_figure_of_zero_has_no_error():
    real = real_runs({"never": (0, 1.0)})
    assert "compaction_cpu_s" not in {one.metric for one in errors_of(real, {"never": (0, 1.0)}).figures}
