from bench.scenario.load import load_scenario
from tools.simulation_speed import SCENARIO, SHOWN_DAYS, STRATEGIES, days_text


def test_the_scenario_is_one_that_users_can_run(tmp_path):
    file = tmp_path / "long-append.toml"
    file.write_text(SCENARIO)
    scenario = load_scenario(str(file), [f"duration={SHOWN_DAYS}d"])
    assert [spec.label for spec in scenario.strategies] == list(STRATEGIES)
    assert (scenario.commits_count, scenario.probe_every_ms) == (SHOWN_DAYS * 1_440, 60_000)
    assert days_text(SHOWN_DAYS) == "30 days"
