import pytest
from scenario_builder import load

from bench.cli.commands.validate import summary


def shares(tmp_path, **changes):
    scenario = load(tmp_path, **{"clock": "real", **changes})
    return summary(scenario)["compaction_per_interval"]


def test_a_compaction_of_the_stream_takes_more_than_that_of_a_commit(tmp_path):
    of_one, of_all = shares(tmp_path)
    assert 0 < of_one < of_all


@pytest.mark.parametrize(
    "changes", [{"commit_interval": "30s"}, {"speed": 2.0}, {"resources": {"core_speed": 0.5}}]
)
def test_half_the_interval_or_cores_half_as_fast_double_the_ratio(tmp_path, changes):
    once, twice = shares(tmp_path), shares(tmp_path, **changes)
    assert twice[0] == pytest.approx(2 * once[0])


def test_more_cores_help_where_there_is_more_than_a_file_to_write(tmp_path):
    many = {"table": {"target_file_size": "16KiB"}}
    one, four = (shares(tmp_path, **many, resources={"compactor": {"cores": n}}) for n in (1, 4))
    assert four[1] < one[1]


def test_where_roles_take_turns_nothing_is_said(tmp_path):
    assert shares(tmp_path, clock="virtual") is None
