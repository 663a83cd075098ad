import pytest
from scenario_builder import load

from bench.errors import ScenarioError

TOKEN = "planted-4f1c9a77"


def test_a_value_may_come_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("LAKE_TOKEN", TOKEN)
    monkeypatch.setenv("LAKE_ADDRESS", "http://catalog.example")
    properties = {"type": "rest", "token": "env:LAKE_TOKEN", "uri": "env:LAKE_ADDRESS", "x": "env:not a name"}
    scenario = load(tmp_path, catalog={"properties": properties}, spark={"spark.some.key": "env:LAKE_TOKEN"})
    assert dict(scenario.catalog.properties) == {
        "type": "rest", "token": TOKEN, "uri": "http://catalog.example", "x": "env:not a name",
    }  # fmt: skip
    assert scenario.spark.settings["spark.some.key"] == TOKEN
    assert scenario.secrets.scrub(f"{TOKEN} at http://catalog.example") == "(hidden) at (hidden)"


@pytest.mark.parametrize("value", ["$LAKE_TOKEN", "${LAKE_TOKEN}"])
def test_a_variable_of_a_shell_is_no_secret(tmp_path, value):
    with pytest.raises(ScenarioError, match='is not replaced by a variable: write "env:LAKE_TOKEN"'):
        load(tmp_path, catalog={"properties": {"type": "rest", "token": value}})


def test_elsewhere_it_is_a_text_like_any_other(tmp_path):
    assert load(tmp_path, description="env:LAKE_TOKEN").description == "env:LAKE_TOKEN"


def test_a_variable_that_is_not_set_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("LAKE_TOKEN", raising=False)
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path, catalog={"properties": {"type": "rest", "token": "env:LAKE_TOKEN"}})
    assert "catalog.properties.token" in str(caught.value)
    assert "the environment variable LAKE_TOKEN is not set" in str(caught.value)
