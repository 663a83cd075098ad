"""The regression gate: what breaks a limit, what fails without one, and what is inconclusive."""

import json
import re

import pytest
from result_builder import build_results

HOLDS, FAILS, INCONCLUSIVE = 0, 1, 4
BOTH = {"never": None, "every-2min": 2}
FILES = ("--fail-if", "files_end>1x")

pytestmark = pytest.mark.usefixtures("wide")


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """Three repetitions of two strategies."""
    return build_results(tmp_path_factory.mktemp("old"), BOTH, 3, 10)


@pytest.fixture
def later(tmp_path):
    """Builds results that are newer than `old`, by default of the same strategies."""

    def build(strategies=BOTH, repetitions=3, **changes):
        stamps = {"suite_id": "later", "started_utc": "2026-01-06T09:00:00Z"}
        return build_results(tmp_path / "new", strategies, repetitions, 10, **stamps, **changes)

    return build


@pytest.fixture
def gate(compactbench):
    """Printed text of `compare`, and the conditions and failures of its JSON answer."""

    def run(*words, code):
        printed = compactbench("compare", *words, code=code).out
        groups = compactbench("compare", *words, "--format", "json", code=code).json["groups"]
        conditions = [condition for group in groups for condition in group["conditions"]]
        return printed, conditions, [failure for group in groups for failure in group["failures"]]

    return run


def outcomes_of(conditions):
    return [condition["outcome"] for condition in conditions]


def slower(folder, factor):
    """Multiply the wall seconds of all queries."""
    for path in folder.rglob("events.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            if line["kind"] == "query":
                line["cost"]["wall_s"] *= factor
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_equal_results_hold_a_limit_that_noise_cannot_reach(gate, old, later):
    limit = ("--fail-if", "query_mean_s>1.5x")
    printed, conditions, failures = gate(old, later(repetitions=4), *limit, code=HOLDS)
    assert (outcomes_of(conditions), failures) == (["holds", "holds"], [])
    assert "limits: all hold" in printed


def test_a_proven_regression_breaks_its_limit(gate, old, later):
    new = later()
    slower(new, 2.0)
    printed, conditions, _ = gate(old, new, "--fail-if", "query_mean_s>1.1x", code=FAILS)
    assert outcomes_of(conditions) == ["broken", "broken"]
    assert "limits: 2 broken" in printed


def test_a_strategy_that_loses_rows_fails_without_breaking_a_limit(gate, compactbench, old, later):
    new = later(fate={("every-2min", 2): "differs"})
    printed, conditions, failures = gate(old, new, *FILES, code=FAILS)
    assert failures == ["every-2min: 1 run lost rows or changed them"]
    assert outcomes_of(conditions) == ["holds", "holds"]
    assert "failed: every-2min: 1 run lost rows" in printed
    # Without a limit there is no gate, and in old results it is no regression.
    compactbench("compare", old, new)
    compactbench("compare", new, old, *FILES)


@pytest.mark.parametrize("failed", [1, 3])
def test_a_strategy_that_fails_fails_the_gate(gate, old, later, failed):
    new = later(fate={("every-2min", repetition): "failed" for repetition in range(1, failed + 1)})
    _, conditions, failures = gate(old, new, *FILES, code=FAILS)
    assert failures == [f"every-2min: {failed} run{'s' * (failed > 1)} failed"]
    assert {c["strategy"]: c["outcome"] for c in conditions} == {
        "never": "holds", "every-2min": "missing" if failed == 3 else "holds",
    }  # fmt: skip


def test_a_missing_strategy_fails_the_gate(gate, old, later):
    new = later({"never": None})
    assert gate(old, new, *FILES, code=FAILS)[2] == ["every-2min: the new results have no run of it"]
    gate(old, new, "--only", "never", *FILES, code=HOLDS)
    gate(new, old, *FILES, code=HOLDS)  # a new one is no regression


def test_no_common_strategy_fails_the_gate(gate, tmp_path, later):
    old = build_results(tmp_path / "old", {"never": None}, 3, 10)
    _, conditions, failures = gate(old, later({"every-2min": 2}), *FILES, code=FAILS)
    assert (conditions, failures) == ([], ["never: the new results have no run of it"])


def test_a_missing_scenario_fails_the_gate(gate, tmp_path, later):
    for scenario in ({}, {"scenario": "other", "scenario_hash": "o"}):
        old = build_results(tmp_path / "old", {"never": None}, 3, 10, **scenario)
    _, _, failures = gate(old, later({"never": None}), *FILES, code=FAILS)
    assert failures == ["other: append on iceberg, real: the new results have no run of it"]


def test_a_missing_figure_fails_the_gate(gate, old, later):
    new = later(fate={(label, r): "timings_invalid" for label in BOTH for r in (1, 2, 3)})
    printed, conditions, _ = gate(old, new, "--fail-if", "query_mean_s>1.1x", code=FAILS)
    assert set(outcomes_of(conditions)) == {"missing"}
    assert re.search(r"never +query_mean_s <= 1.1x +missing ", printed)
    _, conditions, _ = gate(old, new, "--fail-if", "health_mean<0.9x", code=FAILS)  # no run has it
    assert set(outcomes_of(conditions)) == {"missing"}


def test_a_figure_of_some_strategies_is_not_required_of_the_others(gate, tmp_path, later):
    strategies = {"never": None, "amoro": 2}
    old = build_results(tmp_path / "old", strategies, 3, 10, deletes=True)
    new = later(strategies, deletes=True)
    printed, conditions, _ = gate(old, new, "--fail-if", "health_mean<0.9x", code=HOLDS)
    assert [c["strategy"] for c in conditions] == ["amoro"]
    assert "note: health_mean does not apply to never" in printed


def test_equals_of_one_repetition_each_are_inconclusive(gate, tmp_path, later):
    # Two runs of one strategy: bytes differ by a per mille, timings by noise.
    old, new = build_results(tmp_path / "old", {"every-2min": 2}, 1, 10), later({"every-2min": 2}, 1)
    for path in new.rglob("events.jsonl"):
        path.write_text(path.read_text().replace('_bytes": 9000', '_bytes": 9009'))
    limits = ["--fail-if", "query_mean_s>1.1x", *FILES, "--fail-if"]
    printed, conditions, failures = gate(old, new, *limits, "metadata_bytes>1x", code=INCONCLUSIVE)
    assert (outcomes_of(conditions), failures) == (["inconclusive", "holds", "inconclusive"], [])
    assert re.search(r"metadata_bytes <= 1x +inconclusive .* 1\.00x ", printed)
    assert re.search(r"query_mean_s <= 1.1x +inconclusive .* 1 run;", printed)
    assert "limits: 2 inconclusive" in printed
    gate(old, new, *limits[2:], "metadata_bytes>1.1x", code=HOLDS)


def test_equals_of_two_sittings_are_inconclusive_once_the_effect_is_known(gate, old, later):
    new = later()
    slower(new, 1.1)  # another day
    arguments = [old, new, "--fail-if", "query_mean_s>1x"]
    printed = gate(*arguments, code=FAILS)[0]
    assert "sittings that differ by 2 % (1 sd): the default, from two pairs" in " ".join(printed.split())
    assert "are widened" not in gate(*arguments, "--sitting-sd", "0", code=FAILS)[0]
    printed, conditions, _ = gate(*arguments, "--sitting-sd", "0.1", code=INCONCLUSIVE)
    assert set(outcomes_of(conditions)) == {"inconclusive"}
    assert "only further sittings on both sides would" in " ".join(printed.split())


@pytest.mark.parametrize(
    ("fate", "failures", "outcome"),
    [
        ({("never", 1): "failed"}, ["never: 1 run failed"], "holds"),
        (
            {(label, r): "failed" for label in BOTH for r in (1, 2)},
            ["every-2min: 2 runs failed", "never: 2 runs failed"],
            "missing",
        ),
    ],
)
def test_failed_runs_of_the_baseline_or_a_strategy_fail_a_pooled_gate(
    gate, tmp_path, fate, failures, outcome
):
    _, conditions, reported = gate(build_results(tmp_path, BOTH, 2, 5, fate=fate), *FILES, code=FAILS)
    assert (reported, outcomes_of(conditions)) == (failures, [outcome])


@pytest.mark.parametrize(
    ("fate", "code", "text"),
    [
        ("unchecked", INCONCLUSIVE, "inconclusive: never: the content of 3 runs was not checked"),
        ("vetoed", FAILS, "failed: every-2min: 3 runs without one successful compaction"),
        ("disturbed", HOLDS, "note: never: other processes used up to 1.7 cores during 3 runs"),
    ],
)
def test_runs_are_judged_before_their_figures(gate, tmp_path, fate, code, text):
    fates = {(label, repetition): fate for label in BOTH for repetition in (1, 2, 3)}
    assert text in gate(build_results(tmp_path, BOTH, 3, 5, fate=fates), *FILES, code=code)[0]


def test_a_scenario_without_the_baseline_fails_the_gate(gate, tmp_path):
    build_results(tmp_path, BOTH, 3, 5)
    build_results(tmp_path, {"every-2min": 2}, 3, 5, scenario="other", scenario_hash="o")
    assert gate(tmp_path, *FILES, code=FAILS)[2] == ["never is missing: nothing to compare with"]


def test_each_condition_of_several_has_its_part_of_the_error(gate, old, later):
    of_never = [old, later(), "--only", "never", "--fail-if"]
    _, (alone,), _ = gate(*of_never, "query_mean_s>1x", code=INCONCLUSIVE)
    limit = f"query_mean_s>{alone['low'] / 1.000001:.7f}x"  # just proven, with p = 0.025
    gate(*of_never, limit, code=FAILS)
    others = ["--fail-if", "query_p95_s>5x", "--fail-if", "commit_mean_s>5x"]
    _, conditions, _ = gate(*of_never, limit, *others, code=INCONCLUSIVE)
    assert outcomes_of(conditions) == ["inconclusive", "holds", "holds"]
