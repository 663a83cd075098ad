import json

import pytest
from result_builder import build_results

from bench.results.folders import load_runs
from reports.data.group import run_groups
from reports.verdicts.judge import compare_strategies
from reports.verdicts.unmodelled import unmodelled

CONVERTING = {"is_converting": True, "is_sorted": False}


def group(folder, facts, mode="simulated", **changes):
    """A group in which the records of the compactions of `every-2min` have these `facts`."""
    build_results(folder, {"never": None, "every-2min": 2}, 1, 4, mode=mode, **changes)
    for path in folder.rglob("events.jsonl"):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        changed = [{**record, **(facts if record["kind"] == "compaction" else {})} for record in records]
        path.write_text("".join(f"{json.dumps(record)}\n" for record in changed))
    return run_groups(load_runs(folder))[0]


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (CONVERTING, "conversion is not modelled yet"),
        ({"is_converting": False, "is_sorted": True}, "sorting is not modelled yet"),
        ({"is_converting": True, "is_sorted": True}, "conversion and sorting are not modelled yet"),
        ({"is_converting": False, "is_sorted": False}, None),
        ({"is_converting": False, "is_sorted": None}, None),
    ],
)
def test_conversions_and_sorting_are_not_modelled(tmp_path, facts, reason):
    made = group(tmp_path, facts)
    assert unmodelled(made, "every-2min") == reason
    assert unmodelled(made, "never") is None


@pytest.mark.parametrize(
    "how", [{"mode": "real"}, {"options": {"coefficients": {"operations": {"convert": {"steps": 9}}}}}]
)
def test_real_runs_and_fitted_coefficients_get_verdicts(tmp_path, how):
    assert unmodelled(group(tmp_path, CONVERTING, **how), "every-2min") is None


def test_times_that_are_not_modelled_get_no_verdict_and_counts_do(tmp_path):
    made = group(tmp_path, CONVERTING)
    timing = compare_strategies(made, "query_mean_s", "every-2min", "never")
    assert (timing.verdict, timing.ratio, timing.reason) == (
        "undecided", None, "conversion is not modelled yet",
    )  # fmt: skip
    files = compare_strategies(made, "files_end", "every-2min", "never")
    assert (files.method, files.verdict) == ("modelled", "less")
