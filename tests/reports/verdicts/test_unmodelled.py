import math

import pytest
from beyond_fit import ERRORS, fitted, results_beyond_fit
from records import commit, end, run

from bench.engines.simulated.steps import PLANNING_OF, Operation
from bench.results.folders import load_runs
from reports.data.group import run_groups
from reports.verdicts import unmodelled as unmodelled_module
from reports.verdicts.judge import compare_strategies
from reports.verdicts.unmodelled import figure_error, ratio_error, unmodelled, widening, without_verdict


def group(folder, beyond_fit, **how):
    """A group in which the runs of `every-2min` went beyond what the coefficients were fitted to."""
    return run_groups(load_runs(results_beyond_fit(folder, beyond_fit, **how)))[0]


@pytest.mark.parametrize(
    ("beyond_fit", "reason"),
    [
        ({"unfitted_operations": ["convert"]},
         "the cost of a conversion of deletes is not fitted to any run"),
        ({"unfitted_operations": ["merge", "sort"]},
         "the cost of a merge and of a sort is not fitted to any run"),
        ({"unmeasured": ["upsert s_with_metadata_table"]},
         "no measured run had metadata tables in an upsert"),
        ({"extrapolated": {"query s_per_file": 4.2}}, "4.2 times as many files in a query as were measured"),
        ({"extrapolated": {"commit s_per_partition": 9.0, "query s_per_mib": 12.0}},
         "12 times as many MiB in a query as were measured"),
        ({"extrapolated": {"query s_per_file": 2.9}}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_work_that_was_not_measured_is_a_reason(tmp_path, beyond_fit, reason):
    made = group(tmp_path, beyond_fit)
    assert unmodelled(made, "every-2min") == reason
    assert unmodelled(made, "never") is None


def test_only_operations_that_enter_a_metric_keep_it_from_a_verdict(tmp_path):
    made = group(tmp_path, {"extrapolated": {"commit s_per_mib": 9.0, "query s_per_file": 4.2}})
    assert unmodelled(made, "every-2min", "compaction_cpu_s") is None
    assert "files in a query" in unmodelled(made, "every-2min", "compaction_cpu_s", "query_mean_s")
    assert "MiB in a commit" in unmodelled(made, "every-2min", "commit_cpu_s")
    assert unmodelled(made, "every-2min", "total_cpu_s") is not None


def test_real_runs_have_no_such_reason(tmp_path):
    made = group(tmp_path, {"unfitted_operations": ["sort"]}, mode="real")
    assert unmodelled(made, "every-2min") is None
    assert without_verdict(made, "every-2min") == {}


def test_figures_without_a_verdict_are_seconds_that_the_strategy_has(tmp_path):
    made = group(tmp_path, {"extrapolated": {"query s_per_file": 4.2}})
    found = without_verdict(made, "every-2min")
    assert "query_mean_s" in found
    assert not {"compaction_cpu_s", "files_end", "commit_since_due_p95_s"} & found.keys()
    assert without_verdict(made, "never") == {}


def test_coefficients_of_earlier_versions_are_one(tmp_path):
    made = group(tmp_path, {}, options={"coefficients": {"calibrated": False}})
    assert "earlier version" in unmodelled(made, "never")


def test_times_that_are_not_modelled_get_no_verdict_and_counts_do(tmp_path):
    made = group(tmp_path, {"unfitted_operations": ["convert"]})
    timing = compare_strategies(made, "compaction_cpu_s", "every-2min", "never")
    assert (timing.verdict, timing.ratio) == ("undecided", None)
    assert timing.reason == "the cost of a conversion of deletes is not fitted to any run"
    files = compare_strategies(made, "files_end", "every-2min", "never")
    assert (files.method, files.verdict) == ("modelled", "less")


def simulated(strategy, query_s, options, **changes):
    return run(commit(), end(), strategy=strategy, mode="simulated", options=options, **changes)


@pytest.mark.parametrize(
    ("metric", "error"),
    [
        ("compaction_cpu_s", 0.1), ("query_p95_s", 0.05),
        ("commit_mean_s", math.sqrt(2) * 0.4),  # no ratio of two strategies is known
        ("total_cpu_s", math.sqrt(2) * 0.4),  # which may follow from all three
    ],
)  # fmt: skip
def test_the_error_of_a_ratio_is_that_of_the_figure_it_follows_from(metric, error):
    (made,) = run_groups([simulated(label, 1.0, fitted()) for label in ("a", "b")])
    assert ratio_error([made], ["a", "b"], metric) == pytest.approx(error)


def test_errors_of_few_streams_make_wider_intervals():
    assert widening(10**9) == pytest.approx(1)
    assert widening(4) == pytest.approx(3.182 / 1.960, abs=0.01)
    assert widening(1) == widening(2) == pytest.approx(12.706 / 1.960, abs=0.01)


def test_errors_of_two_formats_are_independent():
    other = {"format": "delta", "variant": {"label": "v", "set": {"table.format": "delta"}}}
    (made,) = run_groups([simulated("a", 1.0, fitted()), simulated("a @ v", 1.0, fitted(), **other)])
    assert ratio_error([made], ["a", "a @ v"], "query_mean_s") == pytest.approx(math.sqrt(2) * 0.2)


def test_an_error_is_known_only_if_the_coefficients_state_it():
    (made,) = run_groups([simulated(label, 1.0, fitted({})) for label in ("a", "b")])
    assert ratio_error([made], ["a", "b"], "query_mean_s") is None
    (one, _) = run_groups([simulated(label, 1.0, fitted()) for label in ("a", "b")])[0].usable_runs
    assert figure_error(one.manifest, "query_mean_s") == pytest.approx(0.2)
    assert figure_error(one.manifest, "files_end") is None


def test_queries_by_new_sessions_have_the_error_that_the_coefficients_state_for_them():
    new = {"query_new_session_mean_s": {"log_sd": 0.4, "streams": 10**9}}
    for errors, error in ((ERRORS, 0.2), ({**ERRORS, **new}, 0.4)):
        (made,) = run_groups([simulated("a", 1.0, fitted(errors))])
        found = figure_error(made.usable_runs[0].manifest, "query_new_session_mean_s")
        assert found == pytest.approx(error)


def test_a_ratio_within_the_error_of_the_model_is_undecided(tmp_path):
    def verdict(sd):
        errors = {name: {"log_sd": sd, "ratio_log_sd": sd, "streams": 10**9} for name in ERRORS}
        found = group(tmp_path / str(sd), {}, options=fitted(errors))
        return compare_strategies(found, "query_mean_s", "every-2min", "never")

    sure, unsure = verdict(0.001), verdict(5.0)
    assert sure.ratio == unsure.ratio != 1
    assert (sure.verdict in ("more", "less"), unsure.verdict) == (True, "undecided")
    assert "error of the model" in unsure.reason
    assert unsure.low < 1 < unsure.high
    assert unsure.high / unsure.ratio == pytest.approx(math.exp(1.959964 * 5.0))


def test_without_an_error_a_ratio_is_undecided(tmp_path):
    found = compare_strategies(group(tmp_path, {}, options=fitted({})), "query_mean_s", "every-2min", "never")
    assert (found.verdict, found.ratio) == ("undecided", None)
    assert found.reason == "the error of the model is not known"


def test_every_operation_that_is_noted_enters_a_figure_of_its_own():
    entering = frozenset[str]().union(*unmodelled_module._OPERATIONS.values())
    assert entering == {*Operation} - {Operation.NOOP, *PLANNING_OF.values()}


def test_maintenance_has_an_error_of_its_own():
    known = {"maintenance_cpu_s": {"log_sd": 0.8, "streams": 10**9}}
    for errors, error in ((ERRORS, None), ({**ERRORS, **known}, pytest.approx(0.8))):
        (made,) = run_groups([simulated("a", 1.0, fitted(errors))])
        assert figure_error(made.usable_runs[0].manifest, "maintenance_cpu_s") == error
        assert figure_error(made.usable_runs[0].manifest, "policy_cpu_s") == pytest.approx(0.4)


def test_ratios_are_from_streams_with_two_strategies():
    few = {"query_mean_s": {"log_sd": 0.2, "ratio_log_sd": 0.1, "streams": 10**9, "ratio_streams": 4}}
    (made,) = run_groups([simulated(label, 1.0, fitted({**ERRORS, **few})) for label in ("a", "b")])
    assert ratio_error([made], ["a", "b"], "query_mean_s") == pytest.approx(0.1 * widening(4))
