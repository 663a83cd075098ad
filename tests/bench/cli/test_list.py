import json

import pytest

from bench.cli.commands.list import Topic
from bench.cli.main import main
from bench.results.rows import METRICS
from bench.scenario.file import shipped
from strategies.registry import PLANNERS, TRIGGERS
from workloads.registry import ARRIVALS, WORKLOADS


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
        {"key": "interval", "type": "a duration such as 10min", "default": None},
        {"key": "offset", "type": "a duration such as 10min", "default": "none"},
    ]


def test_list_says_which_formats_have_an_engine(capsys):
    assert {e["name"]: e["engine"] for e in listed(capsys, "formats")} == {
        "iceberg": True, "delta": False, "hudi": False,
    }  # fmt: skip


@pytest.mark.parametrize("what", list(Topic))
def test_list_prints_tables_with_whole_names(capsys, what):
    assert main(["list", what]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "…" not in captured.out


def test_list_prints_defaults_and_what_is_required(capsys):
    assert main(["list", "triggers"]) == 0
    printed = capsys.readouterr().out
    assert "required" in printed
    assert "default none" in printed
