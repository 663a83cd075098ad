import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from scenario_builder import SOUND, write

from bench.engines.registry import FORMATS
from bench.engines.simulated.steps import query_step
from bench.results.values import ScanWork
from bench.runs.suite.suite import Options
from bench.scenario.load import load_scenario
from tools import regret_figures, regrets

ROOT = Path(__file__).parents[2]
OWN = ROOT / "tools" / "published" / "regrets"
PLANNER = 'planner = { type = "iceberg.rewrite_data_files" }'
STRATEGIES = SOUND + "".join(
    f'[[strategies]]\nlabel = "{label}"\nrules = [{{ trigger = {{ {trigger} }}, {PLANNER} }}]\n'
    for label, trigger in (
        ("often-1000", 'type = "every", interval = "1min"'),
        ("often-1", 'type = "every", interval = "10min"'),
        ("count", 'type = "file_count", files = 40'),
        ("count-again", 'type = "file_count", files = 40'),
    )
)
TRACE = 'files_per_commit = 8\nrows_per_file = 10\narrival = { type = "trace", path = "one.csv" }'


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Two kinds of traffic as stored, the second of which is a trace on two days."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(regret_figures, "FILE", tmp_path / "regrets.json")
    for name, rows in (("one.csv", 80), ("two.csv", 20)):
        Path(name).write_text("time,rows\n" + "".join(f"{60 * n},{rows}\n" for n in range(10)))
    words = [
        write(tmp_path, SOUND, "steady.toml"),
        f"{write(tmp_path, SOUND.replace('files_per_commit = 8', TRACE), 'days.toml')}"
        ":workload.arrival.path=one.csv,two.csv",
        "--strategies", write(tmp_path, STRATEGIES, "strategies.toml"),
        "--strategy", "never", "--strategy", "often-{rate}",
        "--interval", "strategies.every-2min.every=1min,2min,5min",
        "--threshold", "strategies.count.rules[0].trigger.files=8,20",
        "--threshold", "strategies.count-again.rules[0].trigger.files=50",
        "--seeds", "2", "--rates", "1", "1000", "--quiet",
    ]  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["regrets", *words])
    regrets.main()
    return regret_figures.stored_traffic()


def test_each_kind_of_traffic_has_the_best_fixed_settings_in_hindsight_beside_the_strategies(made):
    days, steady = made
    assert (days.scenario, days.streams) == ("days", ("one.csv", "two.csv"))
    assert (steady.scenario, steady.streams) == ("steady", ("12", "13"))  # after the five that are for tuning
    assert steady.differ_by == "0 %"  # nothing in this stream is random
    for traffic in made:
        for rate in traffic.rates:
            assert [*rate.strategies] == ["never", "often-{rate}", regrets.INTERVAL, regrets.THRESHOLD]
            for one in rate.strategies.values():
                assert min(one.ratios) >= 1 - 1e-4
    busy = steady.rates[1].strategies
    assert busy[regrets.INTERVAL].settings == ("every-2min every=1min",) * 2
    assert busy["often-{rate}"].ratios == busy[regrets.INTERVAL].ratios  # often-1000 is the one for this rate
    assert steady.rates[1].rounds[0] > steady.rates[0].rounds[0]
    first, second = days.rates[1].best_extra_cpu_s
    assert second < first  # of the day with a quarter of the rows


def test_traffic_that_is_made_again_replaces_what_was_stored_of_it(made, monkeypatch):
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--rates", "1"])
    regrets.main()
    again = regret_figures.stored_traffic()
    assert [one.scenario for one in again] == ["days", "steady"]
    assert [one.rates[0] for one in again] == [one.rates[0] for one in made]
    assert [len(one.rates) for one in again] == [1, 1]


def test_the_stored_regrets_are_what_is_simulated_today(tmp_path, monkeypatch):
    """If this fails on purpose, run `make regrets docs`."""
    monkeypatch.chdir(ROOT)
    (stored,) = (one for one in regret_figures.stored_traffic() if one.scenario == "append-random")
    places, asked, _ = regrets.asked_in(shlex.split(stored.command)[4:])
    (place,) = (place for place in places if "append-random" in place)
    chosen = {name: _chosen_first(name, axes, stored) for name, axes in asked.over.items()}
    first = replace(asked, seeds_count=1, over=chosen)
    made = regrets.traffic_of(place, first, Options(tmp_path), quiet=True)
    for rate, again in zip(stored.rates, made.rates, strict=True):
        assert again.best_extra_cpu_s[0] == pytest.approx(rate.best_extra_cpu_s[0], rel=1e-3)
        assert again.rounds[0] == rate.rounds[0]
        for label, one in rate.strategies.items():
            assert again.strategies[label].ratios[0] == pytest.approx(one.ratios[0], rel=1e-3)


def _chosen_first(name, axes, stored):
    """The axes with the values that were chosen for the first stream."""
    (axis,) = axes
    values = dict.fromkeys(rate.strategies[name].settings[0].rpartition("=")[2] for rate in stored.rates)
    return (f"{axis.partition('=')[0]}={','.join(values)}",)


def test_break_even_is_told_the_price_by_which_regret_is_measured():
    """What a second of a query is worth: the CPU over the time that a file more takes a query."""
    estimates = FORMATS["iceberg"].engines.estimates(regrets.COEFFICIENTS)
    ten, twenty = (
        estimates.price(
            query_step(ScanWork(files, 0, 0, read_rows=0, delete_bytes=0), estimates.sessions[-1]), cores=2
        )
        for files in (10, 20)
    )
    cpu_s_per_s = (twenty.cpu_s - ten.cpu_s) / (twenty.wall_s - ten.wall_s)
    scenario = load_scenario(str(OWN / "strategies.toml"), [])
    told = {
        spec.label: spec.strategy.rules[0].planner
        for spec in scenario.strategies
        if spec.label.partition("-")[0] in ("break", "half", "twice")
    }
    assert len(told) == 9
    for factor, name in ((1.0, "break-even"), (0.5, "half-price"), (2.0, "twice-price")):
        for rate in regrets.RATES:
            planner = told[f"{name}-{rate:.0f}"]
            assert planner.queries_per_minute == pytest.approx(rate / 60, rel=1e-5)
            assert planner.cpu_s_per_query_second == pytest.approx(factor * cpu_s_per_s, rel=0.01)
