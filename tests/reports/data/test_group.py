import math

import pytest
from result_builder import build_results

from bench.results.folders import load_runs
from bench.results.records import CommitRecord, DecisionRecord, Manifest
from reports.data.group import RUN_COLUMNS, band, column_types, cumulative, frame, run_groups


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


def test_latency_is_that_of_the_settled_primary_probe(group):
    assert len(group.latency) == 4 * 3 * 60
    assert group.latency["wall_s"].notna().all()


def test_band_spans_the_repetitions(group):
    found = band(group.latency, "wall_s")["never"]
    assert len(found) == 60
    assert (found["min"] <= found["median"]).all()
    assert (found["median"] <= found["max"]).all()


def test_runs_that_may_not_be_used_are_in_no_frame(tmp_path):
    fate = {
        ("never", 1): "failed",
        ("never", 2): "cut off",
        ("never", 3): "differs",
        ("every-1min", 1): "timings_invalid",
    }
    (found,) = run_groups(load_runs(build_results(tmp_path, ticks=4, fate=fate)))
    assert "never" not in found.first_runs
    assert set(found.observations["strategy"]) == {"every-1min", "every-10min", "every-60min"}
    assert set(found.latency[found.latency["strategy"] == "every-1min"]["repetition"]) == {2, 3}
    assert set(found.compactions[found.compactions["strategy"] == "every-1min"]["repetition"]) == {1, 2, 3}


def test_runs_are_paired_if_each_has_a_partner(group):
    a, b, are_paired = group.samples("query_mean_s", "never", "every-1min")
    assert are_paired
    assert (len(a.values), len(b.values)) == (3, 3)
    assert group.compare("query_mean_s", "never", "every-1min").method == "paired t on log ratios"


def test_every_run_counts_where_one_has_no_partner(tmp_path):
    fate = {("never", 2): "failed", ("every-1min", 3): "timings_invalid"}
    (found,) = run_groups(load_runs(build_results(tmp_path, repetitions=5, ticks=4, fate=fate)))
    a, b, are_paired = found.samples("query_mean_s", "never", "every-1min")
    assert (len(a.values), len(b.values), are_paired) == (4, 4, False)  # repetitions 1345 and 1245
    compared = found.compare("query_mean_s", "never", "every-1min")
    assert (compared.method, compared.n) == ("Welch's t on logs", 4)
    _, files, _ = found.samples("files_end", "never", "every-1min")
    assert len(files.values) == 5  # the counts of a run with invalid timings are used


def test_a_failed_probe_is_a_gap(tmp_path):
    build_results(tmp_path, {"never": None}, repetitions=1, ticks=3)
    path = next(tmp_path.rglob("events.jsonl"))
    path.write_text(
        path.read_text().replace(
            '"primary": true, "when": "settled"', '"status": "failed", "primary": true, "when": "settled"', 1
        )
    )
    (found,) = run_groups(load_runs(tmp_path))
    assert [math.isnan(v) for v in found.latency["wall_s"]] == [True, False, False]


def test_health_has_a_line_per_evaluation_that_reported_a_score(group, upsert_group):
    found = upsert_group.health
    # Three delete files a commit; it leaves one at every other round: 6, 1 + 6 and 6 are met at 2, 4 and 6.
    scores = list(zip(found["strategy"], found["at_ms"], found["health_score"], strict=True))
    assert scores == [("amoro", 120_000, 94.0), ("amoro", 240_000, 93.0), ("amoro", 360_000, 94.0)]
    assert group.health.empty


def test_deletes_occur_where_the_stream_changes_rows_or_a_delete_file_was_seen(group, tmp_path):
    assert not group.has_deletes
    changes = {"workload": "upsert", "options": {"upsert_mode": "copy-on-write"}}
    assert run_groups(load_runs(build_results(tmp_path, {"never": None}, 1, 2, **changes)))[0].has_deletes


def test_cumulative_ends_at_the_total(group):
    found = cumulative(group, "added_bytes", group.usable_runs)["every-10min"]
    assert found["median"].iloc[0] == 0
    assert found["median"].is_monotonic_increasing
    assert found["max"].iloc[-1] == max(group.row("every-10min").run_values["compaction_added_bytes"])


def test_cost_falls_back_to_wall_seconds_where_no_cpu_was_recorded(tmp_path):
    build_results(tmp_path, ticks=10)
    for path in tmp_path.rglob("events.jsonl"):
        path.write_text(
            path.read_text().replace('"cpu_s"', '"executor_cpu_s"').replace(', "executor_cpu_s": 0.1}', "}")
        )
    (found,) = run_groups(load_runs(tmp_path))
    assert found.cost_metric == "compaction_s"


def test_frame_has_its_columns_without_a_record():
    found = frame((), CommitRecord)
    assert found.empty
    assert {*RUN_COLUMNS, "rows", "wall_s"} <= set(found.columns)


def test_frame_keeps_the_label_of_the_run_beside_the_one_in_force(runs):
    assert {"strategy", "strategy_in_force"} <= set(frame(runs[:1], DecisionRecord).columns)


def test_column_types_are_plain():
    found = column_types(Manifest)
    assert [found[name] for name in ("seed", "duration_ms", "mode", "price_per_gb_hour", "options")] == [
        int, int, str, float, dict,
    ]  # fmt: skip


def test_row_of_an_unknown_strategy_is_an_error(group):
    with pytest.raises(KeyError):
        group.row("unheard-of")
