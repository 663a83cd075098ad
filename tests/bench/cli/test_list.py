import json

import pytest
from refused import printed_codes

from bench.cli.commands.list import TOPICS
from bench.cli.main import main
from bench.cli.output import OUT
from bench.results.metrics import METRICS
from bench.scenario.file import shipped
from strategies.registry import PLANNERS, TRIGGERS
from workloads.registry import ARRIVALS, WORKLOADS

TIME = "a duration such as 10min"


def listed(capsys, what):
    assert main(["list", what, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("what", "names"),
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
def test_list_names_everything_and_explains_it(capsys, what, names):
    entries = listed(capsys, what)
    assert {entry["name"] for entry in entries} >= set(names)
    assert all(entry["doc"] for entry in entries)


def test_list_gives_options_as_toml_writes_them(capsys):
    (every,) = (entry for entry in listed(capsys, "triggers") if entry["name"] == "every")
    assert every["options"] == [
        {"key": "interval", "type": TIME, "default": None},
        {"key": "offset", "type": TIME, "default": "none"},
    ]


def test_formats_list_whether_they_have_an_engine(capsys):
    assert {e["name"]: e["engine"] for e in listed(capsys, "formats")} == {
        "iceberg": True, "delta": True, "hudi": True,
    }  # fmt: skip


@pytest.mark.parametrize("width", [20, 60, 120])
@pytest.mark.parametrize("what", list(TOPICS))
def test_list_prints_whole_names_at_any_width(capsys, monkeypatch, what, width):
    monkeypatch.setattr(OUT, "width", width)
    names = [entry["name"] for entry in listed(capsys, what)]
    assert main(["list", what]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert set(names) <= set(captured.out.split())
    if width >= 60:  # the longest word and what it is about
        assert all(len(line) <= width for line in captured.out.splitlines())
        assert len(captured.out.splitlines()) < 12 * len(names)


def test_list_without_a_topic_lists_the_topics(capsys):
    assert main(["list"]) == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]} == set(TOPICS)


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize("what", list(TOPICS))
def test_list_explains_every_entry_in_full(capsys, monkeypatch, what, width):
    monkeypatch.setattr(OUT, "width", width)
    for entry in listed(capsys, what):
        assert main(["list", what, entry["name"]]) == 0
        printed = capsys.readouterr().out
        assert printed.startswith(f"{entry['name']}\n")
        assert set(entry["doc"].split()) <= set(printed.split())
        assert all(option["key"] in printed for option in entry.get("options", ()))
        assert main(["list", what, entry["name"], "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out) == entry


def test_an_entry_has_options_with_meaning_and_default(capsys):
    assert main(["list", "triggers", "file_count"]) == 0
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines() if line.startswith(("files  ", "small  "))]
    assert [(row[0], row[-1]) for row in rows] == [("files", "required"), ("small", "none")]


@pytest.mark.parametrize("what", ["strategies", "triggers", "workloads", "arrivals"])
def test_every_option_is_explained(capsys, what):
    for entry in listed(capsys, what):
        text = f"{entry['doc']} {entry['details']}"
        missing = [
            o["key"] for o in entry["options"] if f"`{o['key']}`" not in text and "options." not in o["key"]
        ]
        assert not missing, entry["name"]


def test_a_scenario_has_its_file_and_strategies(capsys):
    assert main(["list", "scenarios", "append-only"]) == 0
    printed = capsys.readouterr().out
    assert str(shipped()["append-only"]) in printed
    assert "every-10min" in printed
    assert printed.endswith("next: compactbench validate append-only\n")


def test_a_metric_has_its_basis(capsys):
    assert main(["list", "metrics", "files_end"]) == 0
    assert "repeat exactly" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["strategy"], '"strategies"'),
        (["strategies", "amro"], '"amoro"'),
        (["metrics", "query_men_s"], '"query_mean_s"'),
    ],
)
def test_a_misspelt_name_is_answered_with_the_near_one(capsys, words, nearest):
    assert main(["list", *words]) == 2
    error = capsys.readouterr().err
    assert printed_codes(error) == ["unknown-name"]
    assert error.startswith(f"error: list {' '.join(words)}: ")
    assert nearest in error


OWN = '''
from dataclasses import dataclass

@dataclass(frozen=True)
class Mine:
    """Merges what is small. Leaves the rest."""

    small_bytes: int = 1024

    def decide(self, state):
        return None
'''


def test_a_class_of_ones_own_is_explained_like_a_registered_one(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "listed_by_name.py").write_text(OWN)
    name = "listed_by_name:Mine"
    assert main(["list", "strategies", name]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[:4] == [name, "Merges what is small.", "", "Leaves the rest."]
    assert printed.splitlines()[-1].split() == ["small", "a", "size", "such", "as", "128MiB", '"1KiB"']
    for words, code, text in (
        (["triggers", name], "not-a-plugin", " due"),
        (["strategies", "listed_by_name:Other"], "not-importable", "AttributeError"),
        (["strategies", "nowhere_to_be_found:Mine"], "not-importable", "ModuleNotFoundError"),
        (["strategies", "mine"], "unknown-name", "module:Class"),
        (["metrics", "a:b:c"], "unknown-name", "list metrics a:b:c: "),  # and no emoji for ":b:"
    ):
        assert main(["list", *words]) == 2
        error = capsys.readouterr().err
        assert printed_codes(error) == [code]
        assert text in error


def test_long_names_of_amoro_do_not_break_the_table_of_other_options(capsys, monkeypatch):
    monkeypatch.setattr(OUT, "width", 80)
    assert main(["list", "strategies", "amoro"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert ["threads", "a", "whole", "number", "1"] in [line.split() for line in lines]
    assert "option   options.self-optimizing.full.rewrite-all-files" in lines
    assert "value" not in lines
