"""The regression gate: what breaks a limit, what fails without one, and what is inconclusive."""

import json
import math
import re
from dataclasses import replace

import pytest
from result_builder import build_results

from bench.cli import output
from bench.cli.fail_if import noisy_tests, outcomes, parse_limit
from bench.cli.main import main
from bench.errors import ScenarioError
from reports.verdicts.compare import compare, compare_unpaired
from reports.verdicts.repeating import BytesNoise, compare_bytes, compare_counts

HOLDS, FAILS, INCONCLUSIVE = 0, 1, 4
NEW = {"suite_id": "later", "started_utc": "2026-01-06T09:00:00Z"}


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """A terminal in which every row of a table is one line."""
    monkeypatch.setattr(output.OUT, "_width", 250)


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """Three repetitions of two strategies."""
    return build_results(tmp_path_factory.mktemp("old"), {"never": None, "every-2min": 2}, 3, 10)


def gate(capsys, *arguments):
    """Exit code, printed text, and the conditions and failures of the JSON answer."""
    words = ["compare", *map(str, arguments)]
    code = main(words)
    out = capsys.readouterr().out
    assert main([*words, "--format", "json"]) == code
    groups = json.loads(capsys.readouterr().out)["groups"]
    return (
        code, out, [c for group in groups for c in group["conditions"]],
        [failure for group in groups for failure in group["failures"]],
    )  # fmt: skip


def slower(folder, factor, strategy=""):
    """Multiply the wall seconds of all queries of a strategy, by default of all, by a factor."""
    for path in folder.rglob("events.jsonl"):
        if strategy not in (path.parent / "manifest.json").read_text():
            continue
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            if line["kind"] == "query":
                line["cost"]["wall_s"] *= factor
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_equal_results_hold_a_limit_that_noise_cannot_reach(capsys, old, tmp_path):
    new = build_results(tmp_path, {"never": None, "every-2min": 2}, 4, 10, **NEW)
    code, out, conditions, failures = gate(capsys, old, new, "--fail-if", "query_mean_s>1.5x")
    assert (code, failures) == (HOLDS, [])
    assert [c["outcome"] for c in conditions] == ["holds", "holds"]
    assert "limits: all hold" in out


def test_a_proven_regression_breaks_its_limit(capsys, old, tmp_path):
    new = build_results(tmp_path, {"never": None, "every-2min": 2}, 3, 10, **NEW)
    slower(new, 2.0)
    code, out, conditions, _ = gate(capsys, old, new, "--fail-if", "query_mean_s>1.1x")
    assert (code, [c["outcome"] for c in conditions]) == (FAILS, ["broken", "broken"])
    assert "limits: 2 broken" in out


def test_a_strategy_that_loses_rows_fails_without_breaking_a_limit(capsys, old, tmp_path):
    new = build_results(
        tmp_path, {"never": None, "every-2min": 2}, 3, 10, fate={("every-2min", 2): "differs"}, **NEW
    )
    code, out, conditions, failures = gate(capsys, old, new, "--fail-if", "files_end>1x")
    assert (code, failures) == (FAILS, ["every-2min: 1 run lost rows or changed them (content check)"])
    assert [c["outcome"] for c in conditions] == ["holds", "holds"]
    assert "failed: every-2min: 1 run lost rows" in out
    # Without a limit there is no gate, and in old results it is no regression.
    assert main(["compare", str(old), str(new)]) == 0
    assert main(["compare", str(new), str(old), "--fail-if", "files_end>1x"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("failed", [1, 3])
def test_a_strategy_that_fails_fails_the_gate(capsys, old, tmp_path, failed):
    fate = {("every-2min", repetition): "failed" for repetition in range(1, failed + 1)}
    new = build_results(tmp_path, {"never": None, "every-2min": 2}, 3, 10, fate=fate, **NEW)
    code, _, conditions, failures = gate(capsys, old, new, "--fail-if", "files_end>1x")
    assert (code, failures) == (FAILS, [f"every-2min: {failed} run{'s' * (failed > 1)} failed"])
    assert {c["strategy"]: c["outcome"] for c in conditions} == {
        "never": "holds", "every-2min": "missing" if failed == 3 else "holds",
    }  # fmt: skip


def test_a_missing_strategy_fails_the_gate(capsys, old, tmp_path):
    new = build_results(tmp_path, {"never": None}, 3, 10, **NEW)
    code, _, _, failures = gate(capsys, old, new, "--fail-if", "files_end>1x")
    assert (code, failures) == (FAILS, ["every-2min: the new results have no run of it"])
    assert gate(capsys, old, new, "--only", "never", "--fail-if", "files_end>1x")[0] == HOLDS
    assert gate(capsys, new, old, "--fail-if", "files_end>1x")[0] == HOLDS  # a new one is no regression


def test_no_common_strategy_fails_the_gate(capsys, tmp_path):
    old = build_results(tmp_path / "a", {"never": None}, 3, 2)
    new = build_results(tmp_path / "b", {"every-2min": 2}, 3, 2, **NEW)
    code, _, conditions, failures = gate(capsys, old, new, "--fail-if", "files_end>1x")
    assert (code, conditions, failures) == (FAILS, [], ["never: the new results have no run of it"])


def test_a_missing_scenario_fails_the_gate(capsys, tmp_path):
    for side, changes in (("old", {}), ("new", NEW)):
        build_results(tmp_path / side, {"never": None}, 3, 5, **changes)
    build_results(tmp_path / "old", {"never": None}, 3, 5, scenario="other", scenario_hash="o")
    code, _, _, failures = gate(capsys, tmp_path / "old", tmp_path / "new", "--fail-if", "files_end>1x")
    assert code == FAILS
    assert failures == ["other: append on iceberg, real: the new results have no run of it"]


def test_a_missing_figure_fails_the_gate(capsys, old, tmp_path):
    fate = {(label, r): "timings_invalid" for label in ("never", "every-2min") for r in (1, 2, 3)}
    new = build_results(tmp_path, {"never": None, "every-2min": 2}, 3, 10, fate=fate, **NEW)
    code, out, conditions, _ = gate(capsys, old, new, "--fail-if", "query_mean_s>1.1x")
    assert (code, {c["outcome"] for c in conditions}) == (FAILS, {"missing"})
    assert re.search(r"never +query_mean_s <= 1.1x +missing ", out)


def test_a_figure_that_no_run_has_fails_the_gate(capsys, old, tmp_path):
    new = build_results(tmp_path, {"never": None, "every-2min": 2}, 3, 10, **NEW)
    code, _, conditions, _ = gate(capsys, old, new, "--fail-if", "health_mean<0.9x")
    assert (code, {c["outcome"] for c in conditions}) == (FAILS, {"missing"})


def test_a_figure_of_some_strategies_is_not_required_of_the_others(capsys, tmp_path):
    strategies = {"never": None, "amoro": 2}
    old = build_results(tmp_path / "old", strategies, 3, 10, deletes=True)
    new = build_results(tmp_path / "new", strategies, 3, 10, deletes=True, **NEW)
    code, out, conditions, _ = gate(capsys, old, new, "--fail-if", "health_mean<0.9x")
    assert (code, [c["strategy"] for c in conditions]) == (HOLDS, ["amoro"])
    assert "note: health_mean does not apply to never" in out


def test_equals_of_one_repetition_each_are_inconclusive(capsys, tmp_path):
    # Two runs of one strategy: bytes differ by a per mille, timings by noise.
    old = build_results(tmp_path / "old", {"every-2min": 2}, 1, 10)
    new = build_results(tmp_path / "new", {"every-2min": 2}, 1, 10, **NEW)
    for path in new.rglob("events.jsonl"):
        path.write_text(path.read_text().replace('_bytes": 9000', '_bytes": 9009'))
    limits = ["--fail-if", "query_mean_s>1.1x", "--fail-if", "files_end>1x", "--fail-if"]
    code, out, conditions, failures = gate(capsys, old, new, *limits, "metadata_bytes>1x")
    assert (code, failures) == (INCONCLUSIVE, [])
    assert [c["outcome"] for c in conditions] == ["inconclusive", "holds", "inconclusive"]
    assert re.search(r"metadata_bytes <= 1x +inconclusive .* 1\.00x ", out)
    assert re.search(r"query_mean_s <= 1.1x +inconclusive .* 1 run;", out)
    assert "limits: 2 inconclusive" in out
    assert gate(capsys, old, new, *limits[2:], "metadata_bytes>1.1x")[0] == HOLDS


def test_equals_of_two_sittings_are_inconclusive_once_the_effect_is_known(capsys, old, tmp_path):
    new = build_results(tmp_path, {"never": None, "every-2min": 2}, 3, 10, **NEW)
    slower(new, 1.1)  # another day
    arguments = [old, new, "--fail-if", "query_mean_s>1x"]
    code, out, _, _ = gate(capsys, *arguments)
    assert code == FAILS
    assert "sittings do not differ" in out
    code, out, conditions, _ = gate(capsys, *arguments, "--sitting-sd", "0.1")
    assert (code, {c["outcome"] for c in conditions}) == (INCONCLUSIVE, {"inconclusive"})
    assert re.search(r" 3 runs against 3; .* proves 1\.\d+x or more", out)


def test_a_failed_run_of_the_baseline_or_a_strategy_fails_a_pooled_gate(capsys, tmp_path):
    folder = build_results(tmp_path, {"never": None, "b": 2}, 3, 5, fate={("never", 1): "failed"})
    code, _, _, failures = gate(capsys, folder, "--fail-if", "files_end>1x")
    assert (code, failures) == (FAILS, ["never: 1 run failed"])


def test_results_without_a_usable_run_fail_the_gate(capsys, tmp_path):
    fate = {("never", 1): "failed", ("b", 1): "failed"}
    folder = build_results(tmp_path, {"never": None, "b": 2}, 1, 2, fate=fate)
    code, _, conditions, failures = gate(capsys, folder, "--fail-if", "files_end>1x")
    assert (code, [c["outcome"] for c in conditions]) == (FAILS, ["missing"])
    assert failures == ["b: 1 run failed", "never: 1 run failed"]


def test_a_scenario_without_the_baseline_fails_the_gate(capsys, tmp_path):
    build_results(tmp_path, {"never": None, "b": 2}, 3, 5)
    build_results(tmp_path, {"b": 2}, 3, 5, scenario="other", scenario_hash="o")
    code, _, _, failures = gate(capsys, tmp_path, "--fail-if", "files_end>1x")
    assert (code, failures) == (FAILS, ["never is missing: nothing to compare with"])


def test_each_condition_of_several_has_its_part_of_the_error(capsys, old, tmp_path):
    new = build_results(tmp_path, {"never": None, "every-2min": 2}, 3, 10, **NEW)
    _, _, (alone,), _ = gate(capsys, old, new, "--only", "never", "--fail-if", "query_mean_s>1x")
    limit = f"query_mean_s>{alone['low'] / 1.000001:.7f}x"  # just proven, with p = 0.025
    assert gate(capsys, old, new, "--only", "never", "--fail-if", limit)[0] == FAILS
    others = ["--fail-if", "query_p95_s>5x", "--fail-if", "commit_mean_s>5x"]
    code, _, conditions, _ = gate(capsys, old, new, "--only", "never", "--fail-if", limit, *others)
    assert (code, [c["outcome"] for c in conditions]) == (INCONCLUSIVE, ["inconclusive", "holds", "holds"])


# Limits by themselves


@pytest.mark.parametrize(
    ("sign", "expected"),  # of intervals below, ending at, around, beginning at and above 1.1
    [
        (">", ["holds", "holds", "inconclusive", "inconclusive", "broken"]),
        (">=", ["holds", "inconclusive", "inconclusive", "broken", "broken"]),
        ("<", ["broken", "inconclusive", "inconclusive", "holds", "holds"]),
        ("<=", ["broken", "broken", "inconclusive", "inconclusive", "holds"]),
    ],
)
def test_a_limit_is_broken_where_the_whole_interval_lies_beyond(sign, expected):
    template = compare([1.1, 1.2, 1.15], [1.0, 1.0, 1.0])
    intervals = [(1.0, 1.05), (1.0, 1.1), (1.05, 1.15), (1.1, 1.2), (1.15, 1.2)]
    limit = parse_limit(f"files_end {sign} 1.1x")
    assert [limit.alone(replace(template, low=low, high=high)) for low, high in intervals] == expected


@pytest.mark.parametrize(
    ("sign", "expected"), [(">", "holds"), (">=", "broken"), ("<", "holds"), ("<=", "broken")]
)
def test_an_exact_ratio_at_the_limit_is_decided(sign, expected):
    assert outcomes([(parse_limit(f"files_end{sign}2x"), compare_counts([4], [2]))]) == [expected]


def test_bytes_within_their_tolerance_of_a_limit_are_inconclusive():
    limit = parse_limit("write_amplification>1.1x")
    for ratio, outcome in ((1.005, "holds"), (1.09, "inconclusive"), (1.13, "broken")):
        assert limit.alone(compare_bytes([ratio], [1.0], BytesNoise())) == outcome


def test_what_could_have_been_proven_is_the_limit_and_the_margin():
    # Logs 0, 0.1 and 0.2 on one side: standard error 0.1 / sqrt 3, 2 degrees of freedom, t(0.975) = 4.30265.
    comparison = compare_unpaired([1.0, math.exp(0.1), math.exp(0.2)], [1.0] * 3)
    margin = math.exp(4.30265 * 0.1 / math.sqrt(3))
    assert f"{1.1 * margin:.1f}x or more" == parse_limit("query_mean_s>1.1x").provable(comparison, 1)
    assert f"{0.9 / margin:.2f}x or less" == parse_limit("query_mean_s<0.9x").provable(comparison, 1)
    # Of two tests the first has half of the error: t(0.9875, 2 d.f.) = 6.2053.
    margin = math.exp(6.2053 * 0.1 / math.sqrt(3))
    assert f"{1.1 * margin:.1f}x or more" == parse_limit("query_mean_s>1.1x").provable(comparison, 2)
    assert parse_limit("files_end>1x").provable(compare_counts([1], [1]), 1) is None


def test_only_noisy_tests_share_the_error():
    noisy = compare_unpaired([1.0, 1.1, 1.2], [1.0, 1.05, 1.1])
    limit = parse_limit("files_end>1x")
    assert noisy_tests([(limit, noisy), (limit, compare_counts([1], [1])), (limit, noisy)]) == 2


def test_a_limit_is_printed_as_what_must_be_so():
    limit = parse_limit(" files_end >=1.10 x ")
    assert (limit.condition, limit.kept) == ("files_end>=1.1x", "files_end < 1.1x")
    with pytest.raises(ScenarioError):
        parse_limit("files_end>1e3x")
