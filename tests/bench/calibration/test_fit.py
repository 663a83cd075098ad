import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.calibration.calibration import Calibration, calibrated
from bench.calibration.coefficients_file import with_fitted
from bench.calibration.errors import left_out_errors
from bench.calibration.fit import fit_operations, identified, relative_fit
from bench.calibration.measured import MeasuredStep
from bench.calibration.stability import spans_without_a_stream
from bench.engines.iceberg.model.coefficients import IcebergCoefficients
from bench.engines.registry import FORMATS
from bench.engines.simulated.costs import OperationCost, shipped_file
from bench.engines.simulated.steps import COEFFICIENTS, QUERIES, Operation, Step
from bench.results.values import Cost

TRUE = OperationCost(
    tasks={"s": 0.02, "s_per_file": 0.004, "s_per_mib": 0.2}, driver={"s": 0.1, "s_per_file": 0.01},
    wall={"s": 0.15, "s_per_file": 0.012}, cold_wall_s=0.3, compiler=0.2, cold_compiler=0.6,
)  # fmt: skip
NAMES = FORMATS["iceberg"].engines.simulated.calibrating.explaining[Operation.COMMIT]


def measured(files, mib, *, stream="a", strategy="s", used_s=0.0, noise=1.0, partitions=1, cost=TRUE):
    """A commit as a machine with the costs of `cost` would measure it, times `noise`."""
    amounts = dict.fromkeys(COEFFICIENTS[Operation.COMMIT], 0.0)
    amounts |= {"s": 1.0, "s_per_file": files, "s_per_mib": mib, "s_per_partition": partitions}
    step = Step(Operation.COMMIT, amounts, files)
    priced = cost.cost(step, 2, used_s)
    parts = ("wall_s", "cpu_s", "executor_cpu_s", "jit_cpu_s")
    noisy = type(priced)(**{name: getattr(priced, name) * noise for name in parts})
    return MeasuredStep(
        "iceberg", stream, f"{stream}: {strategy}", f"{stream}-{strategy}", stream, step, noisy, used_s, 2
    )


def columns(steps):
    return np.array([[step.step.amounts[name] for name in NAMES] for step in steps])


def grid(noise=lambda: 1.0, **others):
    return [
        measured(files, mib, used_s=used_s, noise=noise(), **others)
        for files in (1, 8, 64)
        for mib in (0.1, 1.0, 30.0)
        for used_s in (0.0, 30.0, 300.0)
    ]


def test_a_fit_finds_the_costs_that_made_the_steps():
    fitted = fit_operations(grid(), "iceberg")[Operation.COMMIT]
    assert fitted.cost.steps == 27
    for part in ("tasks", "driver", "wall"):
        found = {name: seconds for name, seconds in getattr(fitted.cost, part).items() if seconds > 1e-9}
        assert found == pytest.approx(getattr(TRUE, part), rel=0.02)
    assert fitted.cost.cold_wall_s == pytest.approx(TRUE.cold_wall_s, rel=0.02)
    assert (fitted.cost.compiler, fitted.cost.cold_compiler) == pytest.approx((0.2, 0.6), rel=0.02)
    assert fitted.cost.ranges["s_per_file"] == (1, 64)
    assert fitted.dropped.keys() == {"s_per_partition"}  # all commits have one


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_noisy_fit_predicts_within_the_noise_and_without_bias(seed):
    random = np.random.default_rng(seed)
    steps = [step for _ in range(8) for step in grid(lambda: random.lognormal(0, 0.15))]
    cost = fit_operations(steps, "iceberg")[Operation.COMMIT].cost
    ratios = [cost.cost(true.step, 2, true.jvm_cpu_s).cpu_s / true.cost.cpu_s for true in grid()]
    assert 0.9 < np.mean(ratios) < 1.1
    assert max(abs(np.log(ratios))) < 0.25


def test_many_steps_of_one_run_do_not_outweigh_few_of_another():
    twice = OperationCost(tasks={"s": 2.0}, driver={"s": 2.0}, wall={"s": 1.0})
    once = OperationCost(tasks={"s": 1.0}, driver={"s": 1.0}, wall={"s": 1.0})
    steps = [measured(8, 1.0, stream="a", cost=twice)] * 500 + [measured(8, 1.0, stream="b", cost=once)] * 5
    cost = fit_operations(steps, "iceberg")[Operation.COMMIT].cost
    assert 1.3 < cost.tasks["s"] < 1.7


def test_amounts_that_always_come_together_are_named():
    together = [measured(files, files / 10) for files in (1, 2, 4, 8)]
    kept, dropped = identified(NAMES, columns(together))
    assert kept == ("s", "s_per_file")
    assert "explained by s, s_per_file" in dropped["s_per_mib"]
    nothing = [measured(files, 0.0, partitions=files**2) for files in (1, 2, 4, 8)]
    assert identified(NAMES, columns(nothing))[1] == {"s_per_mib": "no step has any"}


@given(
    amounts=st.lists(st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)), min_size=3, max_size=20),
    seconds=st.data(),
)
def test_coefficients_are_never_negative(amounts, seconds):
    drawn = seconds.draw(st.lists(st.floats(1e-3, 100), min_size=len(amounts), max_size=len(amounts)))
    made = relative_fit(np.array(amounts), np.array(drawn), np.ones(len(drawn)))
    assert (made >= 0).all()


def test_the_load_of_a_table_and_other_formats_tell_nothing():
    load = [
        MeasuredStep("iceberg", "a", "a: s", "r", "a", step.step, step.cost, 0.0, 2, is_initial=True)
        for step in grid()
    ]
    assert fit_operations(load, "iceberg") == {}
    assert fit_operations(grid(), "delta") == {}


def test_errors_are_those_of_streams_that_the_fit_has_not_seen():
    dear = TRUE.model_copy(update={"driver": {name: 2 * value for name, value in TRUE.driver.items()}})
    steps = [*grid(stream="a"), *grid(stream="b"), *grid(stream="c", cost=dear)]
    error = left_out_errors(steps, "iceberg")["commit_cpu_s"]
    assert (error.streams, error.strategies, error.unpredicted) == (3, 3, 0)
    assert error.mean_absolute > 0.05
    same = left_out_errors(steps[:54], "iceberg")["commit_cpu_s"]
    assert same.mean_absolute < 0.01


def test_noise_is_that_of_repeated_runs_of_one_sitting():
    """Two runs 10 % apart in each of two sittings, of which one machine takes twice as long."""
    steps = [
        step
        for sitting, speed in (("morning", 1.0), ("evening", 2.0))
        for run, factor in (("one", 1.0), ("two", 1.1))
        for step in in_sitting(grid(stream="a"), f"{sitting} {run}", sitting, speed * factor)
    ]
    error = left_out_errors([*steps, *grid(stream="b")], "iceberg")["commit_cpu_s"]
    assert error.repeat_log_sd == pytest.approx(math.log(1.1) / math.sqrt(2), abs=1e-3)
    # A run of which a step is not known has a smaller sum, which is no noise.
    cut = in_sitting(grid(stream="a")[1:], "morning three", "morning", 1.0)
    with_cut = left_out_errors([*steps, *cut, *grid(stream="b")], "iceberg")["commit_cpu_s"]
    assert with_cut.repeat_log_sd == error.repeat_log_sd
    once = left_out_errors([*grid(stream="a"), *grid(stream="b")], "iceberg")["commit_cpu_s"]
    assert once.repeat_log_sd is None


def test_steps_beside_are_fitted_to_and_not_judged():
    steps, beside = [*grid(stream="a"), *grid(stream="b")], grid(stream="c")
    made = calibrated(steps, "iceberg", 0.04, beside)
    assert made.fitted == fit_operations([*steps, *beside], "iceberg")
    assert made.fitted != fit_operations(steps, "iceberg")
    assert made.errors["commit_cpu_s"].streams == 2


def in_sitting(steps, run_id, sitting, factor):
    """The steps as a run of a machine that takes so many times as long."""
    return [
        replace(step, run_id=run_id, sitting=sitting, cost=step.cost.on_cores(1 / factor)) for step in steps
    ]


def test_a_coefficient_spans_the_fits_without_one_stream():
    dear = TRUE.model_copy(update={"driver": {name: 2 * value for name, value in TRUE.driver.items()}})
    steps = [*grid(stream="a"), *grid(stream="b", cost=dear)]
    spans = spans_without_a_stream(fit_operations(steps, "iceberg"), steps, "iceberg")
    for name, seconds in TRUE.driver.items():
        assert spans[Operation.COMMIT, "driver", name] == pytest.approx((seconds, 2 * seconds), rel=0.02)
    for name, seconds in TRUE.tasks.items():
        assert spans[Operation.COMMIT, "tasks", name] == pytest.approx((seconds, seconds), rel=0.02)


def test_what_a_single_stream_tells_has_no_span():
    queried = queries(Operation.QUERY, "b", 2.0)
    steps = [*grid(stream="a"), *queried, *grid(stream="c")]
    spans = spans_without_a_stream(fit_operations(steps, "iceberg"), steps, "iceberg")
    assert {operation for operation, _, _ in spans} == {Operation.COMMIT}


def test_a_coefficient_that_a_single_stream_tells_has_no_span():
    factors = {1: 1.0, 50: 3.0}  # by partitions
    varied = [
        replace(made, cost=made.cost.on_cores(1 / factors[partitions]))
        for partitions in factors
        for made in grid(stream="c", partitions=partitions)
    ]
    steps = [*grid(stream="a"), *grid(stream="b"), *varied]
    fitted = fit_operations(steps, "iceberg")
    assert "s_per_partition" in fitted[Operation.COMMIT].cost.driver
    spans = spans_without_a_stream(fitted, steps, "iceberg")
    assert (Operation.COMMIT, "driver", "s") in spans
    assert (Operation.COMMIT, "driver", "s_per_partition") not in spans


def test_compactions_that_find_nothing_to_do_leave_no_strategy_out():
    idle = [replace(step, step=replace(step.step, operation=Operation.NOOP)) for step in grid(stream="a")[:3]]
    steps = [*rewrites("a"), *idle, *rewrites("b")]
    error = left_out_errors(steps, "iceberg")["compaction_cpu_s"]
    assert (error.strategies, error.unpredicted) == (2, 0)
    assert error.mean_absolute < 0.01


def rewrites(stream):
    """Compactions of so many files, each of which takes a tenth of a second."""
    amounts = dict.fromkeys(COEFFICIENTS[Operation.REWRITE], 0.0)
    return [
        MeasuredStep(
            "iceberg", stream, f"{stream}: s", f"{stream}-s", stream,
            Step(Operation.REWRITE, {**amounts, "s": 1.0, "s_per_file": files}, 1),
            Cost(files / 10, files / 10, files / 20, 0.0), 100.0, 1,
        )
        for files in range(1, 11)
    ]  # fmt: skip


def test_strategies_that_no_other_stream_predicts_are_counted():
    steps = [*grid(stream="a"), *grid(stream="b"), *queries(Operation.QUERY, "c", 2.0)]
    error = left_out_errors(steps, "iceberg")["query_new_session_mean_s"]
    assert (error.mean_absolute, error.strategies, error.unpredicted) == (None, 0, 1)


def test_steps_that_are_never_judged_are_still_fitted_to():
    apart = [*grid(stream="b")]
    assert left_out_errors(grid(stream="a"), "iceberg") == {}
    error = left_out_errors(grid(stream="a"), "iceberg", beside=apart)["commit_cpu_s"]
    assert (error.streams, error.strategies) == (1, 1)


def queries(operation, stream, wall_s):
    """Settled queries of so many files, each of which takes `wall_s`."""
    amounts = dict.fromkeys(COEFFICIENTS[operation], 0.0)
    return [
        MeasuredStep(
            "iceberg", stream, f"{stream}: s", f"{stream}-s", stream,
            Step(operation, {**amounts, "s": 1.0, "s_per_file": files}, files),
            Cost(wall_s * files, wall_s * files, wall_s * files, 0.0), 100.0, 1,
            is_settled=True, planning_s=wall_s * files / 10,
        )
        for files in range(1, 11)
    ]  # fmt: skip


def test_each_kind_of_session_has_costs_and_errors_of_its_own():
    new, usual = partial(queries, Operation.QUERY), partial(queries, Operation.LONG_LIVED_QUERY)
    steps = [*new("a", 2.0), *new("b", 2.0), *usual("a", 0.5), *usual("b", 1.0)]
    fitted = fit_operations(steps, "iceberg")
    assert fitted[Operation.QUERY].cost.tasks == pytest.approx({"s_per_file": 2.0})
    assert fitted[Operation.PLANNING].cost.wall == pytest.approx({"s_per_file": 0.2})
    assert 0.5 < fitted[Operation.LONG_LIVED_QUERY].cost.tasks["s_per_file"] < 1.0
    assert 0.05 < fitted[Operation.LONG_LIVED_PLANNING].cost.wall["s_per_file"] < 0.1
    errors = left_out_errors(steps, "iceberg")
    assert errors["query_new_session_mean_s"].mean_absolute == pytest.approx(0, abs=1e-3)
    assert errors["query_mean_s"].mean_absolute == pytest.approx((1 + 0.5) / 2)


def test_without_long_lived_sessions_the_mean_query_is_by_new_ones():
    new, usual = partial(queries, Operation.QUERY), partial(queries, Operation.LONG_LIVED_QUERY)
    steps = [*new("a", 2.0), *new("b", 1.0)]
    errors = left_out_errors(steps, "iceberg")
    assert errors["query_mean_s"] == errors["query_new_session_mean_s"]
    # Simulations have long-lived sessions once they are fitted to any, if only to runs that are not judged.
    assert "query_mean_s" not in left_out_errors(steps, "iceberg", beside=usual("c", 0.5))


@pytest.mark.parametrize("name", FORMATS)
def test_every_operation_of_a_format_has_amounts_that_explain_it(name):
    simulated = FORMATS[name].engines.simulated
    explaining = simulated.calibrating.explaining
    needed = simulated.estimates(None).needed - {Operation.PLANNING}
    assert explaining.keys() - {Operation.SINGLE_NODE, Operation.LONG_LIVED_QUERY} == needed
    for operation, names in explaining.items():
        assert {*names} <= {*COEFFICIENTS[operation]}
        assert names[0] == "s"


def test_a_file_has_the_spans_behind_its_coefficients_and_none_of_an_earlier_fit(tmp_path):
    dear = TRUE.model_copy(update={"driver": {name: 2 * value for name, value in TRUE.driver.items()}})
    steps = [*grid(stream="a"), *grid(stream="b", cost=dear)]
    fitted = fit_operations(steps, "iceberg")
    spans = spans_without_a_stream(fitted, steps, "iceberg")
    file = tmp_path / "mine.toml"
    file.write_text(with_fitted(shipped_file("iceberg"), Calibration(fitted, 2, None, spans=spans)))
    driver = tomlkit.parse(file.read_text())["operations"]["commit"]["driver"]
    assert driver.item("s_per_file").trivia.comment == "# 0.01 to 0.02"
    made, shipped = IcebergCoefficients.read(file), IcebergCoefficients.read()
    kept = shipped.operations[Operation.QUERY]
    assert made.operations[Operation.QUERY] == kept.model_copy(update={"steps": 0})
    assert " to " not in tomlkit.parse(file.read_text())["operations"]["query"].as_string()


def test_where_only_queries_of_new_sessions_were_measured_no_others_are_simulated():
    commits = fit_operations([*grid(stream="a"), *grid(stream="b")], "iceberg")
    queries = {**commits, Operation.QUERY: commits[Operation.COMMIT]}
    sessions = {}
    for name, fitted in (("commits", commits), ("queries", queries)):
        text = with_fitted(shipped_file("iceberg"), Calibration(fitted, 2, None))
        operations = tomlkit.parse(text)["operations"]
        sessions[name] = {*QUERIES.values()} & {Operation(one) for one in operations}
    assert sessions == {"commits": {*QUERIES.values()}, "queries": {Operation.QUERY}}
