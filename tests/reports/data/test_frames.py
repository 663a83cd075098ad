import math

from records import compaction, end, run
from result_builder import build_results

from bench.results.folders import load_runs
from bench.results.records import CommitRecord, DecisionRecord, Manifest
from reports.data.frames import (
    RUN_COLUMNS,
    band,
    column_types,
    compactions,
    cumulative,
    frame,
    health,
    latency,
    observations,
)
from reports.data.group import run_groups


def test_latency_is_that_of_the_settled_primary_probe(group):
    assert len(latency(group)) == 4 * 3 * 60
    assert latency(group)["wall_s"].notna().all()


def test_band_spans_the_repetitions(group):
    found = band(latency(group), "wall_s")["never"]
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
    assert set(observations(found)["strategy"]) == {"every-1min", "every-10min", "every-60min"}
    assert set(latency(found)[latency(found)["strategy"] == "every-1min"]["repetition"]) == {2, 3}
    assert set(compactions(found)[compactions(found)["strategy"] == "every-1min"]["repetition"]) == {1, 2, 3}


def test_a_failed_probe_is_a_gap(tmp_path):
    build_results(tmp_path, {"never": None}, repetitions=1, ticks=3)
    path = next(tmp_path.rglob("events.jsonl"))
    path.write_text(
        path.read_text().replace(
            '"primary": true, "when": "settled"', '"status": "failed", "primary": true, "when": "settled"', 1
        )
    )
    (found,) = run_groups(load_runs(tmp_path))
    assert [math.isnan(v) for v in latency(found)["wall_s"]] == [True, False, False]


def test_health_has_a_line_per_evaluation_that_reported_a_score(group, upsert_group):
    found = health(upsert_group)
    # Three delete files a commit; it leaves one at every other round: 6, 1 + 6 and 6 are met at 2, 4 and 6.
    scores = list(zip(found["strategy"], found["at_ms"], found["health_score"], strict=True))
    assert scores == [("amoro", 120_000, 94.0), ("amoro", 240_000, 93.0), ("amoro", 360_000, 94.0)]
    assert health(group).empty


def test_cumulative_ends_at_the_total(group):
    found = cumulative(group, "added_bytes", group.usable_runs)["every-10min"]
    assert found["median"].iloc[0] == 0
    assert found["median"].is_monotonic_increasing
    assert found["max"].iloc[-1] == max(group.row("every-10min").run_values["compaction_added_bytes"])


def test_what_the_load_compacted_itself_is_not_in_the_running_total():
    in_load = compaction(tick=0, at_ms=0, added_bytes=7)
    (group,) = run_groups([run(in_load, compaction(added_bytes=5), end(), strategy="a")])
    total = cumulative(group, "added_bytes", group.usable_runs)["a"]["max"].iloc[-1]
    assert total == group.row("a").values["compaction_added_bytes"] == 5


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
