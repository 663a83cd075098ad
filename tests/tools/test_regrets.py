import json
import sys

import pytest
from scenario_builder import SOUND, write

from tools import regrets

PLANNER = 'planner = { type = "iceberg.rewrite_data_files" }'
STRATEGIES = SOUND + "".join(
    f'[[strategies]]\nlabel = "{label}"\nrules = [{{ trigger = {{ {trigger} }}, {PLANNER} }}]\n'
    for label, trigger in (
        ("often-1000", 'type = "every", interval = "1min"'),
        ("often-1", 'type = "every", interval = "10min"'),
        ("count", 'type = "file_count", files = 40'),
    )
)
BURSTS = 'files_per_commit = 8\narrival = { type = "bursts", every = "5min", length = "1min", factor = 4.0 }'


@pytest.fixture
def made(tmp_path, monkeypatch):
    """The document of two kinds of traffic."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(regrets, "FOLDER", tmp_path)
    strategies = write(tmp_path, STRATEGIES, "strategies.toml")
    scenarios = [
        write(tmp_path, SOUND, "steady.toml"),
        write(tmp_path, SOUND.replace("files_per_commit = 8", BURSTS), "bursts.toml"),
    ]
    words = [
        "tried", *scenarios, "--strategies", strategies, "--strategy", "never", "--strategy", "often-{rate}",
        "--interval", "strategies.every-2min.every=1min,2min,5min",
        "--threshold", "strategies.count.rules[0].trigger.files=8,20,50",
        "--seeds", "2", "--rates", "1", "1000", "--quiet",
    ]  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["regrets", *words])
    regrets.main()
    return json.loads((tmp_path / "tried.json").read_text())


def test_each_kind_of_traffic_has_the_best_fixed_settings_in_hindsight_beside_the_strategies(made):
    assert [traffic["scenario"] for traffic in made["traffic"]] == ["steady", "bursts"]
    for traffic in made["traffic"]:
        assert traffic["seeds"] == [12, 13]  # after the five that are for tuning
        assert traffic["seeds_differ_by"] == 0  # nothing in these streams is random
        for rate in traffic["rates"]:
            by_label = {one["strategy"]: one for one in rate["strategies"]}
            assert [*by_label] == ["never", "often-{rate}", regrets.INTERVAL, regrets.THRESHOLD]
            for one in by_label.values():
                assert one["over_best_worst"] == pytest.approx(max(one["over_best"]))
                assert min(one["over_best"]) >= 1 - 1e-4
    busy = made["traffic"][0]["rates"][1]["strategies"]
    assert busy[2]["settings"] == ["every-2min every=1min"] * 2
    assert busy[1]["over_best"] == busy[2]["over_best"]  # often-1000 is the strategy for this rate


def test_the_worst_of_all_is_over_kinds_rates_and_seeds(made):
    never = made["over_all"][0]
    rates = [rate for traffic in made["traffic"] for rate in traffic["rates"]]
    assert never["n"] == 8
    assert never["over_best_worst"] == max(rate["strategies"][0]["over_best_worst"] for rate in rates)
