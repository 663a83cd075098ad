import pytest

from bench.cli.commands.list_what import TOPICS
from bench.cli.output import OUT
from bench.results.metrics import METRICS
from bench.scenario.durations import RunDuration, run_durations
from bench.scenario.file import shipped
from bench.scenario.load import load_scenario
from bench.scenario.price_presets import shipped_presets
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
        ("prices", shipped_presets()),
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


@pytest.fixture
def measured(monkeypatch):
    """Published runs of quickstart alone, of 100 s each."""
    durations = {"quickstart": RunDuration(run_s=100, runs=7)}
    monkeypatch.setattr("bench.cli.shipped_scenarios.run_durations", lambda: durations)


def test_scenarios_have_their_runs_and_how_long_a_suite_was_measured_to_take(listed, measured):
    entries = {entry["name"]: entry for entry in listed("scenarios", "--format", "json").json}
    quickstart = load_scenario("quickstart")
    runs = len(quickstart.strategies) * quickstart.repetitions
    known = {key: entries["quickstart"][key] for key in ("runs", "run_s", "measured_runs", "suite_s")}
    assert known == {"runs": runs, "run_s": 100, "measured_runs": 7, "suite_s": 100 * runs}
    assert (entries["trust"]["run_s"], entries["trust"]["suite_s"]) == (None, None)
    assert entries["formats-append"]["formats"] == ["iceberg", "delta", "hudi"]
    assert (entries["formats-append"]["stream"], entries["upsert"]["stream"]) == ("append", "CDC")
    row = next(line for line in listed("scenarios").out.splitlines() if line.startswith("quickstart "))
    assert row.split()[:6] == [
        "quickstart",
        "iceberg",
        "append",
        str(runs),
        str(round(100 * runs / 60)),
        "min",
    ]
    assert "on two cores, 1 min 40 s a run by 7 published runs" in listed("scenarios", "quickstart").words
    assert "no published runs" in listed("scenarios", "trust").words


def test_scenarios_are_in_the_order_of_their_purposes(listed):
    names = [entry["name"] for entry in listed("scenarios", "--format", "json").json]
    assert names[:2] == ["quickstart", "example"]
    assert names[-3:] == ["append-cold", "append-warm", "trust"]
    marks = ["append-only", "upsert", "delta-frequent", "hudi-strategies", "formats-append", "trust"]
    assert sorted(marks, key=names.index) == marks


def test_the_table_of_scenarios_fits_a_terminal_of_80_columns(listed, monkeypatch):
    monkeypatch.setattr(OUT, "width", 80)
    table = listed("scenarios")
    head, *lines = table.out.splitlines()
    assert head.split()[:5] == ["name", "format", "stream", "runs", "takes"]
    assert max(map(len, lines)) <= 80
    assert table.err == ""


def test_only_shipped_scenarios_have_a_measured_duration():
    assert run_durations().keys() <= shipped().keys()


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
