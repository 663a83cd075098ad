from dataclasses import replace

import pytest
from histories import commit, data, history

from bench.importing.own_speed import own_speed
from bench.scenario.load import scenario_of
from workloads.history_file import write_history


def scenario(folder, recorded, **resources):
    path = folder / "t.history.parquet"
    write_history(recorded, path)
    document = {
        "seed": 1, "duration": "12min", "commit_interval": "1min", "jvm": "warm",
        "table": {"format": "delta", "target_file_size": "128MiB"},
        "workload": {"type": "history", "path": str(path), "undo_compactions": False},
        "strategies": [{"label": "never"}], "resources": resources,
    }  # fmt: skip
    return scenario_of(folder / "t.toml", document)


def with_walls(count, wall_s, compaction=None):
    commits = [replace(commit(minute, [data(minute)]), wall_s=wall_s) for minute in range(1, count + 1)]
    return history(
        commit(0, [data(0)]), *commits, *([] if compaction is None else [compaction]), table_format="delta"
    )


@pytest.mark.parametrize("wall_s", [0.1, 1.0])
def test_the_speed_makes_modelled_commits_as_long_as_recorded_ones(tmp_path, wall_s):
    recorded = with_walls(8, wall_s)
    found = own_speed(recorded, scenario(tmp_path, recorded))
    assert (found.commits_count, found.recorded_s) == (8, wall_s)
    assert found.factor == pytest.approx(found.modelled_s / wall_s, rel=0.05)
    again = own_speed(recorded, scenario(tmp_path, recorded, core_speed=round(found.factor, 4)))
    assert again.factor == pytest.approx(1, rel=1e-3)


def test_compactions_and_commits_without_a_duration_do_not_count(tmp_path):
    merging = replace(commit(9, [data(20, rows=200)], [data(1), data(2)], is_compaction=True), wall_s=100.0)
    recorded = with_walls(8, 1.0, merging)
    assert own_speed(recorded, scenario(tmp_path, recorded)).recorded_s == 1.0


def test_a_few_commits_tell_no_speed(tmp_path):
    recorded = with_walls(4, 1.0)
    assert own_speed(recorded, scenario(tmp_path, recorded)) is None


@pytest.mark.parametrize("wall_s", [0.001, 60.0])
def test_what_is_nothing_like_the_model_tells_no_speed(tmp_path, wall_s):
    recorded = with_walls(8, wall_s)
    assert own_speed(recorded, scenario(tmp_path, recorded)) is None
