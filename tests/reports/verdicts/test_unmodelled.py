import pytest
from result_builder import build_results

from bench.results.folders import load_runs
from bench.results.records import CompactionRecord
from reports.data.group import run_groups
from reports.verdicts.judge import compare_strategies
from reports.verdicts.unmodelled import unmodelled
from strategies.plan import FileGroup, Native, Rewrite, describe_action

CONVERTING = describe_action(Rewrite((FileGroup((), "", ("a", "b")),), 1))
SORTING = describe_action(Rewrite((FileGroup(("a",), sort_columns=("order_id",)),), 1))
DROPPING = describe_action(Rewrite((), 1, ("d",)))
NATIVE_SORT = describe_action(Native("iceberg.rewrite_data_files", {"strategy": "sort"}))
NATIVE_ORDER = describe_action(Native("iceberg.rewrite_data_files", {"sort_order": "zorder(a, b)"}))
MERGING = describe_action(Native("iceberg.rewrite_data_files", {"strategy": "binpack"}))


def group(folder, actions, facts="", mode="simulated", **changes):
    """A group in which the compactions of `every-2min` did this, of which their records say the `facts`."""
    build_results(folder, {"never": None, "every-2min": 2}, 1, 4, mode=mode, **changes)
    for path in folder.rglob("events.jsonl"):
        text = path.read_text()
        for action in actions:
            text = text.replace('"actions": ["rewrite all"]', f'"actions": ["{action}"]')
        text = text.replace('"kind": "compaction"', f'"kind": "compaction"{facts and ", "}{facts}')
        path.write_text(text)
    return run_groups(load_runs(folder))[0]


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (CONVERTING, "conversion is not modelled yet"),
        (SORTING, "sorting is not modelled yet"),
        (NATIVE_SORT, "sorting is not modelled yet"),
        (NATIVE_ORDER, "sorting is not modelled yet"),
        (MERGING, None),
        (DROPPING, None),
    ],
)
def test_conversions_and_sorting_are_not_modelled(tmp_path, action, reason):
    found = group(tmp_path, [action])
    actions = {a for run in found.runs for c in run.of(CompactionRecord) for a in c.actions}
    assert actions == {action}
    assert unmodelled(found, "every-2min") == reason
    assert unmodelled(found, "never") is None


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ('"is_sorted": true, "is_converting": false', "sorting is not modelled yet"),
        ('"is_sorted": false, "is_converting": true', "conversion is not modelled yet"),
        ('"is_sorted": false, "is_converting": false', None),
        ('"is_converting": false', "sorting is not modelled yet"),  # whether it sorted is not known
    ],
)
def test_what_a_record_says_comes_before_the_words_of_its_actions(tmp_path, facts, reason):
    found = group(tmp_path, [SORTING], facts)
    assert unmodelled(found, "every-2min") == reason


@pytest.mark.parametrize("how", [{"mode": "real"}, {"options": {"coefficients": {"calibrated": True}}}])
def test_real_runs_and_fitted_coefficients_get_verdicts(tmp_path, how):
    assert unmodelled(group(tmp_path, [CONVERTING], **how), "every-2min") is None


def test_times_that_are_not_modelled_get_no_verdict_and_counts_do(tmp_path):
    found = group(tmp_path, [CONVERTING])
    timing = compare_strategies(found, "query_mean_s", "every-2min", "never")
    assert (timing.verdict, timing.ratio, timing.reason) == (
        "undecided", None, "conversion is not modelled yet",
    )  # fmt: skip
    files = compare_strategies(found, "files_end", "every-2min", "never")
    assert (files.method, files.verdict) == ("modelled", "less")
