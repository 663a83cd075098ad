import pytest
from refused import refused
from scenario_builder import load

from bench.scenario.price_presets import preset_prices, preset_words, shipped_presets


@pytest.mark.parametrize("name", shipped_presets())
def test_a_shipped_preset_has_prices_and_says_what_of(tmp_path, name):
    file = shipped_presets()[name]
    written = preset_prices(file)
    prices = load(tmp_path, prices={"preset": name}).prices
    assert {key: getattr(prices, key) for key in written} == written
    assert {"core_hour", "currency"} <= written.keys()
    assert all(preset_words(file))


def test_the_scenario_s_own_prices_win(tmp_path):
    prices = load(tmp_path, prices={"preset": "aws-us-east-1", "core_hour": 0.5, "job_start": "30s"}).prices
    assert (prices.core_hour, prices.job_start_ms) == (0.5, 30_000)
    assert prices.storage_gb_month == preset_prices(shipped_presets()["aws-us-east-1"])["storage_gb_month"]


@pytest.fixture
def own(tmp_path):
    """A preset of these lines, beside the scenario; returns its name."""

    def write(text):
        (tmp_path / "mine.toml").write_text(text)
        return "mine.toml"

    return write


def test_a_preset_of_ones_own_is_found_from_the_scenario(tmp_path, own, monkeypatch):
    monkeypatch.chdir("/")
    preset = own('core_hour = 0.2\ncurrency = "EUR"\n')
    scenario = load(tmp_path, prices={"preset": preset, "put_per_1000": 1.0})
    spelled = load(tmp_path, prices={"core_hour": 0.2, "currency": "EUR", "put_per_1000": 1.0})
    assert scenario.prices == spelled.prices
    assert scenario.hash == spelled.hash
    assert "preset" not in scenario.resolved["prices"]


@pytest.mark.parametrize(("preset", "code"), [("aws", "unknown-name"), ("gone.toml", "file-missing")])
def test_a_preset_that_is_not_there_is_refused(tmp_path, preset, code):
    with refused(code, "prices.preset") as caught:
        load(tmp_path, prices={"preset": preset})
    assert "aws-us-east-1" in str(caught.value)


def test_a_preset_is_a_name(tmp_path):
    with refused("wrong-type", "prices.preset"):
        load(tmp_path, prices={"preset": 5})


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("core_hours = 0.2\n", "unknown-name", 'did you mean "core_hour"?'),
        ("core_hour = -1\n", "out-of-range", "core_hour = -1"),
        ('preset = "mine.toml"\n', "unsupported", "preset"),
        ("core_hour =\n", "not-toml", "line 1"),
        ("[prices]\ncore_hour = 0.2\n", "unknown-name", "remove the heading"),
        ("# core_hour = 0.2\n", "empty", "core_hour"),
    ],
)
def test_a_wrong_preset_is_named(tmp_path, own, text, code, part):
    preset = own(text)
    with refused(code, "prices.preset") as caught:
        load(tmp_path, prices={"preset": preset})
    assert str(tmp_path / "mine.toml") in str(caught.value)
    assert part in str(caught.value)


def test_a_preset_that_is_a_folder_is_called_one(tmp_path):
    (tmp_path / "mine.toml").mkdir()
    with refused("file-missing", "prices.preset") as caught:
        load(tmp_path, prices={"preset": "mine.toml"})
    assert "is a folder" in str(caught.value)


def test_a_preset_is_not_told_of_a_key_that_it_cannot_have(tmp_path, own):
    with refused("unknown-name") as caught:
        load(tmp_path, prices={"preset": own("presets = 1\n")})
    assert "preset," not in str(caught.value)


def test_a_wrong_preset_hides_no_other_problem(tmp_path, own):
    preset = own("core_hour = -1\ngb_hours = 2\n")
    both = [("unknown-name", "prices.preset"), ("out-of-range", "prices.preset")]
    with refused("several") as caught:
        load(tmp_path, prices={"preset": preset, "gb_hour": -1.0}, seed="x")
    told = [(error.code, error.path) for error in caught.value.each]
    assert told == [*both, ("wrong-type", "seed"), ("out-of-range", "prices.gb_hour")]
    with refused("several") as caught:
        load(tmp_path, prices={"preset": preset}, probe_every="90s")
    told = [(error.code, error.path) for error in caught.value.each]
    assert told == [*both, ("not-a-multiple", "probe_every")]
