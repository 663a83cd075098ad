import pytest
from result_builder import build_results

from bench.results.folders import load_runs
from reports.data.group import run_groups


def test_run_groups_are_one_per_comparable_group(tmp_path):
    build_results(tmp_path, {"never": None}, repetitions=1, ticks=3)
    build_results(
        tmp_path, {"never @ delta": None, "often @ delta": 2}, repetitions=1, ticks=3, format="delta",
        variant={"label": "delta", "set": {"table.format": "delta"}},
    )  # fmt: skip
    build_results(tmp_path, {"never": None}, repetitions=1, ticks=3, scenario="another")
    another, small = run_groups(load_runs(tmp_path))
    assert (another.manifest.scenario, small.manifest.scenario) == ("another", "append-small")
    assert another.parts == (another,)
    assert small.manifest.format == "iceberg"
    assert [(part.manifest.format, part.strategies) for part in small.parts] == [
        ("iceberg", ("never",)), ("delta", ("never @ delta", "often @ delta")),
    ]  # fmt: skip
    assert {run.manifest.format for run in small.parts[1].runs} == {"delta"}


def test_run_groups_keep_the_order_in_which_strategies_ran(group):
    assert group.strategies == ("never", "every-1min", "every-10min", "every-60min")


def test_deletes_occur_where_the_stream_changes_rows_or_a_delete_file_was_seen(group, tmp_path):
    assert not group.has_deletes
    changes = {"workload": "upsert", "options": {"upsert_mode": "copy-on-write"}}
    assert run_groups(load_runs(build_results(tmp_path, {"never": None}, 1, 2, **changes)))[0].has_deletes


def test_cost_falls_back_to_wall_seconds_where_no_cpu_was_recorded(tmp_path):
    build_results(tmp_path, ticks=10)
    for path in tmp_path.rglob("events.jsonl"):
        path.write_text(
            path.read_text().replace('"cpu_s"', '"executor_cpu_s"').replace(', "executor_cpu_s": 0.1}', "}")
        )
    (found,) = run_groups(load_runs(tmp_path))
    assert found.cost_metric == "compaction_s"


def test_row_of_an_unknown_strategy_is_an_error(group):
    with pytest.raises(KeyError):
        group.row("unheard-of")
