import contextlib
import string
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refused
from scenario_builder import SOUND, load, write

from bench.errors import ScenarioError
from bench.scenario.file import find, override, read, shipped
from bench.scenario.values import path_text


def test_find_takes_shipped_names_and_paths(tmp_path):
    assert find("quickstart").name == "quickstart.toml"
    assert find(write(tmp_path)) == tmp_path / "demo.toml"


@pytest.mark.parametrize("name", ["quickstar", "", "../quickstart", "a" * 5000])
def test_find_lists_the_shipped_scenarios(name):
    with refused("unknown-name") as caught:
        find(name)
    assert "quickstart" in str(caught.value)
    assert len(str(caught.value)) < len(", ".join(shipped())) + 200


def test_find_tells_a_file_of_another_ending_from_an_unknown_name(tmp_path):
    Path(write(tmp_path)).rename(tmp_path / "demo.txt")
    with refused("bad-name", tmp_path / "demo.txt"):
        find(str(tmp_path / "demo.txt"))


def test_a_list_is_no_table_and_a_file_that_is_not_utf_8_has_lines(tmp_path):
    with refused("not-a-table") as caught:
        override({"strategies": [{"label": "a"}]}, "strategies.a.label=b")
    assert str(caught.value).endswith("strategies: is a list: choose an entry, as in strategies[a]")
    (tmp_path / "demo.toml").write_bytes(b"seed = 1\n# \xff")
    with refused("not-utf-8") as caught:
        read(tmp_path / "demo.toml")
    assert "line 2 is not UTF-8" in str(caught.value)


@pytest.mark.parametrize("stem", ["Big", "a b", "a_b", "a--b", "-a", "a.b", "x" * 61, "ä", "a\nb"])
def test_find_refuses_names_that_cannot_name_a_folder(tmp_path, stem):
    file = tmp_path / f"{stem}.toml"
    with refused("bad-name", file):
        find(str(file))


def test_find_refuses_folders_and_missing_files(tmp_path):
    (tmp_path / "folder.toml").mkdir()
    for file in (tmp_path / "folder.toml", tmp_path / "gone.toml"):
        with refused("file-missing", file):
            find(str(file))


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty"),
        (b"# nothing\n", "empty"),
        (b"seed = \xff", "not-utf-8"),
        (b"seed = 1\nduration =\n", "not-toml"),
        (b"seed = 1\nseed = 2\n", "not-toml"),
        (b"a = " + b"[" * 5000, "not-toml"),
        (b"a = " + b"9" * 5000, "not-toml"),
    ],
)
def test_read_names_a_damaged_file(tmp_path, content, code):
    file = tmp_path / "demo.toml"
    file.write_bytes(content)
    with refused(code, file):
        read(file)


def test_read_names_a_file_that_cannot_be_opened(tmp_path):
    with refused("unreadable", tmp_path):
        read(tmp_path)


def test_read_takes_a_byte_order_mark(tmp_path):
    file = tmp_path / "demo.toml"
    file.write_bytes(b"\xef\xbb\xbfseed = 1")
    assert read(file) == {"seed": 1}


def overridden(*settings, text=SOUND):
    document = tomllib.loads(text)
    for setting in settings:
        override(document, setting)
    return document


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("table.target_file_size=8MiB", "8MiB"),
        ("table.target_file_size=8", 8),
        ("table.target_file_size=true", True),
        ('table.target_file_size="8"', "8"),
        ("table.target_file_size={a = 1}", {"a": 1}),
        ("table.target_file_size=a=b", "a=b"),
        ("table.target_file_size=", ""),
        ("table.target_file_size=1\nseed = 2", "1\nseed = 2"),
    ],
)
def test_override_reads_toml_and_else_text(setting, value):
    assert overridden(setting)["table"]["target_file_size"] == value


def test_override_reaches_entries_by_label_and_position():
    document = overridden(
        "strategies[every-2min].writer.files_per_commit=4",
        "strategies[every-2min].rules[0].trigger.interval=5min",
        'strategies[1].rules[0].planner.options."min-input-files"=2',
        "strategies[0].label=baseline",
    )
    assert document["strategies"][0] == {"label": "baseline"}
    assert document["strategies"][1] == {
        "label": "every-2min",
        "rules": [
            {
                "trigger": {"type": "every", "interval": "5min"},
                "planner": {"type": "iceberg.rewrite_data_files", "options": {"min-input-files": 2}},
            }
        ],
        "writer": {"files_per_commit": 4},
    }


@pytest.mark.parametrize(
    ("setting", "code", "path"),
    [
        ("seed", "not-a-setting", "--set"),
        ("=1", "not-a-setting", "--set"),
        ("a..b=1", "not-a-setting", "--set"),
        ("strategies[]=1", "not-a-setting", "--set"),
        (r'"\q"=1', "not-a-key", "--set"),
        ("seed.x=1", "not-a-table", "seed"),
        ("table[0]=1", "not-a-list", "table"),
        ("probes[own].sql=1", "not-a-list", "probes"),
        ("strategies[every-3min].label=x", "unknown-name", "strategies"),
        ("strategies[2].label=x", "unknown-name", "strategies"),
        ("strategies.label=x", "not-a-table", "strategies"),
    ],
)
def test_override_refuses_keys_that_do_not_exist(setting, code, path):
    with refused(code, path):
        overridden(setting)


def test_a_key_below_a_secret_does_not_show_it(tmp_path):
    """The secrets of a file are not known before it has been read, overrides included."""
    file = tmp_path / "s.toml"
    file.write_text('[catalog.properties]\ntoken = "Zx9Kq2vW7pLm4RtY"\n')
    with refused("not-a-table", "catalog.properties.token") as caught:
        override(read(file), "catalog.properties.token.x=1")
    assert "Zx9" not in str(caught.value)


KEYS = st.lists(st.text(max_size=8), min_size=1, max_size=4)
NO_WORDS = ("true", "false", "inf", "nan")  # TOML's own
TEXTS = st.text(string.ascii_letters, min_size=1).filter(lambda text: text not in NO_WORDS)


@given(KEYS, st.integers() | st.booleans() | TEXTS)
def test_override_sets_any_key_at_the_path_it_prints(keys, value):
    document = {}
    text = str(value).lower() if isinstance(value, bool) else str(value)
    path = override(document, f"{path_text(tuple(keys))}={text}")
    assert path == tuple(keys)
    for key in keys:
        document = document[key]
    assert document == value
    assert type(document) is type(value)


@given(st.text())
def test_override_either_works_or_explains(setting):
    with contextlib.suppress(ScenarioError):
        override({"table": {}}, setting)


def test_shipped_scenarios_are_beside_the_workloads():
    assert set(shipped()) >= {"quickstart", "append-only", "append-traffic", "append-layered", "example"}
    assert all(Path(file).parent.name == "scenarios" for file in shipped().values())


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


def test_a_secret_of_a_variant_may_come_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("OTHER_TOKEN", TOKEN)
    scenario = load(tmp_path, SOUND + VARIANT)
    (other,) = scenario.variants
    assert other.spark.settings["spark.some.password"] == TOKEN
    # The process that drops the tables of a run in the variant has the secrets of the scenario.
    assert [s.secrets.scrub(TOKEN) for s in (scenario, other)] == ["(hidden)"] * 2
    monkeypatch.delenv("OTHER_TOKEN")
    with refused("variable-unset"):
        load(tmp_path, SOUND + VARIANT)


@pytest.mark.parametrize("secret", ["$ecret-4f1c", "$ECRET", "id:env:OTHER_TOKEN"])
def test_a_secret_that_looks_like_a_variable_is_replaced_once(tmp_path, monkeypatch, secret):
    monkeypatch.setenv("LAKE_TOKEN", secret)
    monkeypatch.setenv("OTHER_TOKEN", TOKEN)
    spark = '[spark]\n"spark.lake.token" = "env:LAKE_TOKEN"\n'
    scenario = load(tmp_path, SOUND + VARIANT + spark)
    for loaded in (scenario, *scenario.variants):
        assert loaded.spark.settings["spark.lake.token"] == secret


@pytest.mark.parametrize(
    "keys",
    [
        {"catalog": {"properties": {"type": "rest", "uri": "env:X"}}},
        {"spark": {"master": "env:X"}},
        {"spark": {"spark.some.key": "env:X"}},
    ],
)
def test_only_a_secret_may_be_a_variable(tmp_path, monkeypatch, keys):
    monkeypatch.setenv("X", TOKEN)
    with refused("not-a-secret") as caught:
        load(tmp_path, **keys)
    assert TOKEN not in str(caught.value)


def test_a_credential_may_have_its_id_before_the_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("LAKE_TOKEN", TOKEN)
    properties = {"type": "rest", "credential": "client-7:env:LAKE_TOKEN", "prefix": "a:env:b"}
    scenario = load(tmp_path, catalog={"properties": properties})
    assert scenario.catalog.properties["credential"] == f"client-7:{TOKEN}"
    assert scenario.catalog.properties["prefix"] == "a:env:b"
    assert scenario.secrets.scrub(f"{TOKEN} of client-7:{TOKEN}") == "(hidden) of (hidden)"


@pytest.mark.parametrize("value", ["${env:TOKEN}", "pa$$word", "$TOKEN", "env:MY-TOKEN", "${env.TOKEN}"])
def test_a_secret_that_only_resembles_a_variable_is_taken_literally(tmp_path, value):
    loaded = load(tmp_path, spark={"spark.ssl.keyPassword": value})
    assert loaded.spark.settings["spark.ssl.keyPassword"] == value


def test_other_tables_have_no_variables(tmp_path):
    assert load(tmp_path, description="env:LAKE_TOKEN").description == "env:LAKE_TOKEN"


@pytest.mark.parametrize("value", [None, "", "p\udce4ss"])
def test_a_variable_without_a_value_is_refused(tmp_path, monkeypatch, value):
    monkeypatch.delenv("LAKE_TOKEN", raising=False)
    if value is not None:
        monkeypatch.setenv("LAKE_TOKEN", value)
    with refused("variable-unset", "catalog.properties.token"):
        load(tmp_path, catalog={"properties": {"type": "rest", "token": "env:LAKE_TOKEN"}})
