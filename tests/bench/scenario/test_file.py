import contextlib
import string
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenario_builder import SOUND, write

from bench.errors import ScenarioError
from bench.scenario.file import find, override, read, shipped
from bench.scenario.values import path_text


def refusal(call, *arguments):
    with pytest.raises(ScenarioError) as caught:
        call(*arguments)
    return str(caught.value)


def test_find_takes_shipped_names_and_paths(tmp_path):
    assert find("quickstart").name == "quickstart.toml"
    assert find(write(tmp_path)) == tmp_path / "demo.toml"


@pytest.mark.parametrize("name", ["quickstar", "", "../quickstart", "a" * 5000])
def test_find_lists_the_shipped_scenarios(name):
    refused = refusal(find, name)
    assert "quickstart" in refused
    assert ".toml" in refused
    assert len(refused) < 500


def test_find_names_the_nearest():
    assert 'did you mean "quickstart"?' in refusal(find, "quickstar")


@pytest.mark.parametrize("stem", ["Big", "a b", "a_b", "a--b", "-a", "a.b", "x" * 61, "ä", "a\nb"])
def test_find_refuses_names_that_cannot_name_a_folder(tmp_path, stem):
    refused = refusal(find, str(tmp_path / f"{stem}.toml"))
    assert "use a-z, 0-9 and single hyphens" in refused
    assert "at most 60 characters" in refused


def test_find_tells_a_folder_from_a_missing_file(tmp_path):
    (tmp_path / "folder.toml").mkdir()
    assert "folder.toml: is a folder" in refusal(find, str(tmp_path / "folder.toml"))
    assert "gone.toml: no such file; shipped scenarios: append-" in refusal(find, str(tmp_path / "gone.toml"))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "is empty"),
        (b"# nothing\n", "is empty"),
        (b"seed = \xff", "byte 7 is not UTF-8"),
        (b"seed = 1\nduration =\n", "at line 2, column 11"),
        (b"seed = 1\nseed = 2\n", "is not TOML: Cannot overwrite a value"),
        (b"a = " + b"[" * 5000, "is not TOML"),
        (b"a = " + b"9" * 5000, "is not TOML"),
    ],
)
def test_read_says_where_a_file_is_damaged(tmp_path, content, text):
    file = tmp_path / "demo.toml"
    file.write_bytes(content)
    refused = refusal(read, file)
    assert refused.startswith(str(file))
    assert text in refused


def test_read_says_why_a_file_cannot_be_opened(tmp_path):
    assert "cannot be read: Is a directory" in refusal(read, tmp_path)


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
    ("setting", "texts"),
    [
        ("seed", ["write key=value", "--set table.target_file_size=8MiB"]),
        ("=1", ["write key=value"]),
        ("a..b=1", ["write key=value"]),
        ("strategies[]=1", ["write key=value"]),
        (r'"\q"=1', ["is not a quoted key"]),
        ("seed.x=1", ['--set seed.x=1: seed is not a table: it has no key "x"']),
        ("table[0]=1", ['table is not a list: it has no entry "0"']),
        ("probes[own].sql=1", ['probes is not a list: it has no entry "own"']),
        (
            "strategies[every-3min].label=x",
            ['did you mean "every-2min"? known: every-2min, never', "from 0 to 1"],
        ),
        ("strategies[2].label=x", ['strategies has no entry "2"']),
        ("strategies.label=x", ["strategies is not a table"]),
    ],
)
def test_override_says_where_a_key_leads_nowhere(setting, texts):
    refused = refusal(overridden, setting)
    for text in texts:
        assert text in refused


def test_a_key_below_a_secret_does_not_show_it(tmp_path):
    """The secrets of a file are not known before it has been read, overrides included."""
    file = tmp_path / "s.toml"
    file.write_text('[catalog.properties]\ntoken = "Zx9Kq2vW7pLm4RtY"\n')
    with pytest.raises(ScenarioError, match="token is not a table") as refused:
        override(read(file), "catalog.properties.token.x=1")
    assert "Zx9" not in str(refused.value)


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
