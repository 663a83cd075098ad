import pytest
from scenario_builder import SOUND, load

from bench.errors import ScenarioError

TOKEN = "planted-4f1c9a77"
VARIANT = """
[[variants]]
label = "other"
set = { "spark.\\"spark.some.password\\"" = "env:OTHER_TOKEN" }
"""


def test_a_secret_may_come_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("LAKE_TOKEN", TOKEN)
    properties = {"type": "rest", "token": "env:LAKE_TOKEN", "x": "env:not a name"}
    scenario = load(
        tmp_path, catalog={"properties": properties}, spark={"spark.ssl.password": "env:LAKE_TOKEN"}
    )
    assert dict(scenario.catalog.properties) == {"type": "rest", "token": TOKEN, "x": "env:not a name"}
    assert scenario.spark.settings["spark.ssl.password"] == TOKEN
    assert scenario.secrets.scrub(f"header: {TOKEN}") == "header: (hidden)"


def test_a_variant_may_have_another(tmp_path, monkeypatch):
    monkeypatch.setenv("OTHER_TOKEN", TOKEN)
    scenario = load(tmp_path, SOUND + VARIANT)
    (other,) = scenario.variants
    assert other.spark.settings["spark.some.password"] == TOKEN
    # What drops the tables of a run in the variant is told the secrets of the scenario.
    assert {one.secrets.scrub(TOKEN) for one in (scenario, other)} == {"(hidden)"}
    monkeypatch.delenv("OTHER_TOKEN")
    with pytest.raises(ScenarioError, match="the environment variable OTHER_TOKEN is not set"):
        load(tmp_path, SOUND + VARIANT)


@pytest.mark.parametrize("secret", ["$ecret-4f1c", "$ECRET", "id:env:OTHER_TOKEN"])
def test_a_secret_that_looks_like_a_variable_is_replaced_once(tmp_path, monkeypatch, secret):
    monkeypatch.setenv("LAKE_TOKEN", secret)
    monkeypatch.setenv("OTHER_TOKEN", TOKEN)
    spark = '[spark]\n"spark.lake.token" = "env:LAKE_TOKEN"\n'
    scenario = load(tmp_path, SOUND + VARIANT + spark)
    for one in (scenario, *scenario.variants):
        assert one.spark.settings["spark.lake.token"] == secret


@pytest.mark.parametrize(
    "keys",
    [
        {"catalog": {"properties": {"type": "rest", "uri": "env:X"}}},
        {"spark": {"master": "env:X"}},
        {"spark": {"spark.some.key": "env:X"}},
    ],
)
def test_only_a_secret_may(tmp_path, monkeypatch, keys):
    monkeypatch.setenv("X", TOKEN)
    with pytest.raises(
        ScenarioError, match="only a secret, such as a token or a password, may be a variable"
    ) as told:
        load(tmp_path, **keys)
    assert TOKEN not in str(told.value)


def test_a_credential_may_have_its_id_before_the_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("LAKE_TOKEN", TOKEN)
    properties = {"type": "rest", "credential": "client-7:env:LAKE_TOKEN", "prefix": "a:env:b"}
    scenario = load(tmp_path, catalog={"properties": properties})
    assert scenario.catalog.properties["credential"] == f"client-7:{TOKEN}"
    assert scenario.catalog.properties["prefix"] == "a:env:b"
    assert scenario.secrets.scrub(f"{TOKEN} of client-7:{TOKEN}") == "(hidden) of (hidden)"


@pytest.mark.parametrize("value", ["$LAKE_TOKEN", "${LAKE_TOKEN}", "x${LAKE_TOKEN}x", "%LAKE_TOKEN%"])
def test_a_variable_of_a_shell_is_no_secret(tmp_path, value):
    with pytest.raises(ScenarioError, match='is not replaced by a variable: write "env:LAKE_TOKEN"'):
        load(tmp_path, catalog={"properties": {"type": "rest", "token": value}})


@pytest.mark.parametrize(
    "value", ["env:MY-TOKEN", " env:TOKEN", "env:TOKEN ", "ENV:TOKEN", "env:", "id:env:MY-TOKEN", "id: env:X"]
)
def test_what_is_almost_a_variable_is_no_secret(tmp_path, value):
    for table in (
        {"catalog": {"properties": {"type": "rest", "token": value}}},
        {"spark": {"spark.a.token": value}},
    ):
        with pytest.raises(ScenarioError, match=r'token.* is not replaced by a variable: write "env:NAME"'):
            load(tmp_path, **table)


@pytest.mark.parametrize("value", ["${env:TOKEN}", "pa$$word", "5%", "environment", "${env.TOKEN}"])
def test_what_only_resembles_a_variable_is_a_secret_like_any_other(tmp_path, value):
    """Spark and Hadoop themselves replace some of them."""
    loaded = load(tmp_path, spark={"spark.ssl.keyPassword": value})
    assert loaded.spark.settings["spark.ssl.keyPassword"] == value


def test_elsewhere_it_is_a_text_like_any_other(tmp_path):
    assert load(tmp_path, description="env:LAKE_TOKEN").description == "env:LAKE_TOKEN"


@pytest.mark.parametrize(
    ("value", "told"), [(None, "is not set"), ("", "is empty"), ("p\udce4ss", "is not UTF-8")]
)
def test_a_variable_without_a_value_is_named(tmp_path, monkeypatch, value, told):
    monkeypatch.delenv("LAKE_TOKEN", raising=False)
    if value is not None:
        monkeypatch.setenv("LAKE_TOKEN", value)
    with pytest.raises(ScenarioError, match=f"environment variable LAKE_TOKEN {told}") as caught:
        load(tmp_path, catalog={"properties": {"type": "rest", "token": "env:LAKE_TOKEN"}})
    assert "catalog.properties.token" in str(caught.value)
