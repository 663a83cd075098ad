import pytest

from bench.cli.commands.list import TOPICS
from bench.cli.output import OUT
from bench.results.metrics import METRICS
from bench.scenario.file import shipped
from strategies.registry import PLANNERS, TRIGGERS
from workloads.registry import ARRIVALS, WORKLOADS


@pytest.fixture
def listed(compactbench):
    """What `compactbench list WORDS` prints."""
    return lambda *words, code=0: compactbench("list", *words, code=code)


@pytest.mark.parametrize(
    ("topic", "names"),
    [
        ("strategies", PLANNERS),
        ("triggers", TRIGGERS),
        ("workloads", WORKLOADS),
        ("arrivals", ARRIVALS),
        ("scenarios", shipped()),
        ("formats", ["delta", "hudi", "iceberg"]),
        ("metrics", [metric.name for metric in METRICS]),
    ],
)
def test_every_name_is_listed_and_explained_in_full(listed, monkeypatch, topic, names):
    monkeypatch.setattr(OUT, "width", 60)
    entries = listed(topic, "--format", "json").json
    assert {entry["name"] for entry in entries} >= set(names)
    table = listed(topic)
    assert table.err == ""
    assert {entry["name"] for entry in entries} <= set(table.out.split())
    assert all(len(line) <= 60 for line in table.out.splitlines())
    assert len(table.out.splitlines()) < 12 * len(entries)
    for entry in entries:
        printed = listed(topic, entry["name"]).out
        assert printed.startswith(f"{entry['name']}\n")
        assert entry["doc"]
        assert set(entry["doc"].split()) <= set(printed.split())
        assert all(option["key"] in printed for option in entry.get("options", ()))
    assert listed(topic, entries[0]["name"], "--format", "json").json == entries[0]


def test_options_are_as_toml_writes_them(listed):
    duration = "a duration such as 10min"
    assert listed("triggers", "every", "--format", "json").json["options"] == [
        {"key": "interval", "type": duration, "default": None},
        {"key": "offset", "type": duration, "default": "none"},
    ]


def test_formats_list_whether_they_have_an_engine(listed):
    assert {e["name"]: e["engine"] for e in listed("formats", "--format", "json").json} == {
        "iceberg": True, "delta": True, "hudi": True,
    }  # fmt: skip


def test_list_without_a_topic_lists_the_topics(listed):
    assert {line.split()[0] for line in listed().out.splitlines()[1:]} == set(TOPICS)


def test_an_entry_has_options_with_meaning_and_default(listed):
    lines = listed("triggers", "file_count").out.splitlines()
    rows = [line.split() for line in lines if line.startswith(("files  ", "small  "))]
    assert [(row[0], row[-1]) for row in rows] == [("files", "required"), ("small", "none")]


@pytest.mark.parametrize("topic", ["strategies", "triggers", "workloads", "arrivals"])
def test_every_option_is_explained(listed, topic):
    for entry in listed(topic, "--format", "json").json:
        text = f"{entry['doc']} {entry['details']}"
        keys = (option["key"] for option in entry["options"])
        assert [k for k in keys if f"`{k}`" not in text and "options." not in k] == [], entry["name"]


def test_a_scenario_has_its_file_and_strategies(listed):
    printed = listed("scenarios", "append-only").out
    assert str(shipped()["append-only"]) in printed
    assert "every-10min" in printed
    assert printed.endswith("next: compactbench validate append-only\n")


def test_a_metric_has_its_basis(listed):
    assert "repeat exactly" in listed("metrics", "files_end").out


OWN = '''
from dataclasses import dataclass

@dataclass(frozen=True)
class Mine:
    """Merges what is small. Leaves the rest."""

    small_bytes: int = 1024

    def decide(self, state):
        return None
'''


@pytest.fixture
def own_class(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "listed_by_name.py").write_text(OWN)
    return "listed_by_name:Mine"


def test_a_class_of_ones_own_is_explained_like_a_registered_one(listed, own_class):
    lines = listed("strategies", own_class).out.splitlines()
    assert lines[:4] == [own_class, "Merges what is small.", "", "Leaves the rest."]
    assert lines[-1].split() == ["small", "a", "size", "such", "as", "128MiB", '"1KiB"']


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["strategy"], "unknown-name", '"strategies"'),
        (["strategies", "amro"], "unknown-name", '"amoro"'),
        (["metrics", "query_men_s"], "unknown-name", '"query_mean_s"'),
        (["triggers", "listed_by_name:Mine"], "not-a-plugin", " due"),
        (["strategies", "listed_by_name:Other"], "not-importable", "AttributeError"),
        (["strategies", "nowhere_to_be_found:Mine"], "not-importable", "ModuleNotFoundError"),
        (["strategies", "mine"], "unknown-name", "module:Class"),
        (["metrics", "a:b:c"], "unknown-name", "list metrics a:b:c: "),  # and no emoji for ":b:"
    ],
)
def test_an_unknown_name_is_one_clear_error(listed, own_class, words, code, text):
    printed = listed(*words, code=2)
    assert printed.codes == [code]
    assert text in printed.err
    assert code != "unknown-name" or printed.err.startswith(f"error: list {' '.join(words)}: ")


def test_long_names_of_amoro_do_not_break_the_table_of_other_options(listed, monkeypatch):
    monkeypatch.setattr(OUT, "width", 80)
    lines = listed("strategies", "amoro").out.splitlines()
    assert ["threads", "a", "whole", "number", "1"] in [line.split() for line in lines]
    assert "option   options.self-optimizing.full.rewrite-all-files" in lines
    assert "value" not in lines
