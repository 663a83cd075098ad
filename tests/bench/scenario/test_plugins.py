from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from refused import refused

from bench.scenario import plugins
from bench.scenario.plugins import (
    ARRIVAL,
    PLANNER,
    TRIGGER,
    WORKLOAD,
    build,
    describe,
    describe_all,
    in_words,
    to_table,
)
from strategies.iceberg.procedures import RewriteDataFiles
from strategies.never import Never
from strategies.triggers import AfterCommits, Every, FileCount
from workloads.append import Append
from workloads.arrival import Bursts, Constant, Daily


def make(kind, folder=Path(), **table):
    return build(kind, table, folder)


@dataclass(frozen=True)
class AnyOf:
    """Fires when one of `triggers` does."""

    triggers: tuple[plugins.Trigger, ...]
    every_ms: int = 60_000

    def due(self, state, memory):
        return any(trigger.due(state, memory) for trigger in self.triggers)


OWN_PLANNER = '''
from __future__ import annotations
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from strategies.plan import Capability, Plan
from strategies.planner import Planner, PlannerTraits
if TYPE_CHECKING:
    from strategies.state import TableState

@dataclass(frozen=True, slots=True)
class Mine(Planner):
    """Merges what is below `small_bytes`. And more."""

    small_bytes: int
    wait_s: float = 90.0
    weights: tuple[float, ...] = (1.0, 2.0)

    def traits(self) -> PlannerTraits:
        return PlannerTraits(needs=frozenset({Capability.COMPACT}))

    def decide(self, state: TableState) -> Plan | None:
        return None

@dataclass
class Thawed:
    def decide(self, state): ...

@dataclass(frozen=True)
class Unreadable:
    state: TableState
    def decide(self, state): ...

@dataclass(frozen=True)
class Odd:
    thing: Plain = None
    def decide(self, state): ...

class Plain:
    def decide(self, state): ...

@dataclass(frozen=True)
class Failing:
    def __post_init__(self): raise RuntimeError("no licence")
    def decide(self, state): ...

not_a_class = 5
'''


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    (tmp_path / "own_planner_for_test.py").write_text(OWN_PLANNER)
    (tmp_path / "broken_planner_for_test.py").write_text("1 / 0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(plugins.sys.path))
    return "own_planner_for_test"


def test_build_reads_durations_sizes_and_plain_options():
    assert make(TRIGGER, type="every", interval="10min") == Every(600_000)
    assert make(TRIGGER, type="file_count", files=8, small="1MiB") == FileCount(8, 2**20)


@pytest.mark.parametrize(
    ("written", "options"),
    [
        ({"min-input-files": 2}, {"min-input-files": 2}),
        ({"partial-progress": {"enabled": True}}, {"partial-progress.enabled": True}),  # without quotes
    ],
)
def test_build_flattens_options(written, options):
    planner = make(PLANNER, type="iceberg.rewrite_data_files", options=written)
    assert planner == RewriteDataFiles(options=options)


def test_build_nests_an_arrival_in_a_workload():
    workload = make(
        WORKLOAD, type="append", rows_per_commit=8, files_per_commit=2,
        arrival={"type": "bursts", "every": "10min", "length": "1min", "factor": 2},
    )  # fmt: skip
    assert workload == Append(8, 2, Bursts(600.0, 60.0, 2.0))


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_is_finite(number):
    with refused("invalid", "factor"):
        make(ARRIVAL, type="bursts", every="10min", length="1min", factor=number)


def test_build_nests_a_list_of_triggers():
    hourly, any_of = {"type": "every", "interval": "1h"}, f"{__name__}:AnyOf"
    assert make(TRIGGER, type=any_of, triggers=[hourly], every="2s") == AnyOf((Every(3_600_000),), 2000)
    with refused("unknown-name", "triggers[1].type"):
        make(TRIGGER, type=any_of, triggers=[hourly, {"type": "evry"}])


def test_build_takes_a_relative_path_from_the_folder(tmp_path):
    (tmp_path / "traffic.csv").write_text("time,rows\n0,5\n60,7\n")
    trace = make(ARRIVAL, folder=tmp_path, type="trace", path="traffic.csv")
    assert trace.path == str(tmp_path / "traffic.csv")


@pytest.mark.parametrize(
    ("table", "code", "path"),
    [
        ("every", "invalid", ""),
        ({}, "missing", "type"),
        ({"type": 5}, "unknown-name", "type"),
        ({"type": "evry"}, "unknown-name", "type"),
        ({"type": "every"}, "missing", "interval"),
        ({"type": "every", "intervall": "1s"}, "unknown-name", "intervall"),
        ({"type": "every", "interval_ms": 60}, "unknown-name", "interval_ms"),
        ({"type": "every", "interval": 60}, "invalid", "interval"),
        ({"type": "every", "interval": "0s"}, "invalid", "interval"),
        ({"type": "never"}, "unknown-name", "type"),
    ],
)
def test_build_names_the_key(table, code, path):
    with refused(code, path):
        build(TRIGGER, table, Path())


def test_an_error_that_names_no_field_is_that_of_the_table():
    with refused("invalid", ""):
        make(PLANNER, type="iceberg.rewrite_data_files", options={"min-input": 2})


@pytest.mark.parametrize("path", ["/dev/null", "/no/such.jsonl"])
def test_build_names_the_path_that_holds_no_events(path):
    with refused("invalid", "path"):
        make(WORKLOAD, type="debezium", path=path)


def test_build_names_the_path_that_the_system_refuses(monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("workloads.debezium.event_files", refuse)
    with refused("invalid", "path"):
        make(WORKLOAD, type="debezium", path="/closed")


def test_own_planner_needs_no_registration(own_module):
    planner = make(PLANNER, type=f"{own_module}:Mine", small="8MiB", wait="1min", weights=[1, 2.5])
    assert (planner.small_bytes, planner.wait_s, planner.weights) == (8 * 2**20, 60.0, (1.0, 2.5))
    assert to_table(planner) == {
        "type": f"{own_module}:Mine", "small": "8MiB", "wait": "1min", "weights": [1.0, 2.5],
    }  # fmt: skip
    assert in_words(planner) == f"{own_module}:Mine(small=8MiB, wait=1min, weights=[1.0, 2.5])"
    assert describe(type(planner)).doc == "Merges what is below `small`."
    assert plugins.sys.path[-1] == str(Path.cwd())


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("own_planner_for_test:Missing", "not-importable"),
        ("own_planner_for_test:not_a_class", "not-a-plugin"),
        ("own_planner_for_test:Thawed", "not-a-plugin"),
        ("own_planner_for_test:Plain", "not-a-plugin"),
        ("own_planner_for_test:Unreadable", "not-a-plugin"),
        ("own_planner_for_test:Failing", "plugin-failed"),
        ("broken_planner_for_test:Mine", "not-importable"),
        ("no_such_module_for_test:Mine", "not-importable"),
        ("..:Mine", "not-importable"),
        (":", "not-importable"),
        ("strategies.triggers:Every", "not-a-plugin"),
    ],
)
def test_own_planner_that_cannot_be_used_is_refused(own_module, name, code):
    with refused(code, "type"):
        make(PLANNER, type=name)


def test_an_error_in_a_users_own_code_is_shown_with_its_traceback(own_module):
    for name, place in (("own_planner_for_test:Failing", "__post_init__"), ("broken_planner_for_test:X", "")):
        with refused(code="plugin-failed" if place else "not-importable") as caught:
            make(PLANNER, type=name)
        assert "Traceback" in str(caught.value)
        assert place in str(caught.value)


def test_option_of_a_type_toml_cannot_say_keeps_its_default(own_module):
    odd = make(PLANNER, type=f"{own_module}:Odd")
    assert to_table(odd) == {"type": f"{own_module}:Odd"}
    assert describe(type(odd)).options[0].default == "none"
    with refused("invalid", "thing"):
        make(PLANNER, type=f"{own_module}:Odd", thing=5)


class Point:
    def __init__(self, name, loaded):
        self.name, self.loaded = name, loaded

    def load(self):
        if isinstance(self.loaded, Exception):
            raise self.loaded
        return self.loaded


@pytest.fixture
def installed(monkeypatch):
    points = [Point("mine", Never), Point("tick", Every), Point("every", AfterCommits), Point("never", Every)]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points)
    return points


def test_entry_points_are_found_and_shadow_no_registered_name(installed):
    assert make(PLANNER, type="mine") == Never()
    assert make(PLANNER, type="never") == Never()
    assert make(TRIGGER, type="every", interval="1s") == Every(1000)
    with refused("not-a-plugin", "type"):
        make(PLANNER, type="tick")


def test_entry_points_are_described_with_their_kind(installed):
    planners, triggers = ({plugin.name for plugin in describe_all(kind)} for kind in (PLANNER, TRIGGER))
    assert {"mine", "tick"} & planners == {"mine"}
    assert "tick" in triggers


def test_a_broken_entry_point_is_named(installed):
    installed.append(Point("bad", ImportError("no such thing")))
    with refused("not-importable", "type"):
        make(PLANNER, type="bad")


@pytest.mark.parametrize("name", ["Thawed", "Unreadable"])
def test_an_installed_class_that_cannot_be_described_is_named(own_module, installed, name, monkeypatch):
    monkeypatch.syspath_prepend(Path.cwd())
    own = import_module(own_module)
    installed.append(Point("odd", getattr(own, name)))
    with refused("not-a-plugin", "type"):
        describe_all(PLANNER)


@pytest.mark.parametrize(
    ("kind", "plugin"),
    [
        (TRIGGER, FileCount(5)),
        (PLANNER, RewriteDataFiles(strategy="sort", sort_order="user_id")),
        (WORKLOAD, Append(8, 2, Daily(day_s=3600.0, peak_at_s=60.0), late_share=0.5)),
        (ARRIVAL, Constant()),
    ],
)
def test_to_table_builds_the_same_again(kind, plugin):
    assert build(kind, to_table(plugin), Path()) == plugin


def test_in_words_leaves_defaults_out():
    assert in_words(Every(600_000)) == "every(interval=10min)"
    planner = RewriteDataFiles(options={"min-input-files": 2})
    assert in_words(planner) == "iceberg.rewrite_data_files(min-input-files=2)"
    assert in_words(Never()) == "never()"


def test_describe_gives_options_as_toml_writes_them():
    file_count = describe(FileCount)
    assert file_count.name == "file_count"
    assert all(f"`{option.key}`" in file_count.doc for option in file_count.options)
    options = [(option.key, option.type, option.default) for option in file_count.options]
    assert options == [("files", "a whole number", None), ("small", "a size such as 128MiB", "none")]
    arrival = next(o for o in describe(Append).options if o.key == "arrival")
    assert (arrival.type, arrival.default) == ("a table: one arrival", '{"type": "constant"}')


@pytest.mark.parametrize("kind", [PLANNER, TRIGGER, WORKLOAD, ARRIVAL])
def test_everything_registered_is_described(kind):
    described = describe_all(kind)
    assert {plugin.name for plugin in described} >= set(kind.registry)
    assert all(plugin.doc.endswith(".") for plugin in described)
