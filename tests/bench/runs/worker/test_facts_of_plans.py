"""Facts that reports read of plans, for every planner that is registered: none may be forgotten."""

from dataclasses import fields

import pytest
from scenario_builder import SOUND, load

from bench.engines.registry import FORMATS
from bench.results.folders import load_runs
from bench.results.records import CompactionRecord
from bench.runs.worker.manifest import _drops_versions
from strategies.registry import PLANNERS

# Those that can order rows by value, with the options by which they do.
SORTING = {
    "amoro": 'full_sort_columns = ["order_id"], '
    'options = { "self-optimizing.full.trigger.interval" = "60000" }',
    "delta.zorder": 'columns = ["order_id"]',
    "iceberg.rewrite_data_files": 'strategy = "sort", sort_order = "order_id"',
}
EXPIRING = {"delta.vacuum", "hudi.clean", "iceberg.expire_snapshots"}
TABLES = {"hudi.clustering": 'index = "simple"'}  # keys of [table] without which a planner is refused


def text_of(planner, options="", table=None):
    table = TABLES.get(planner, "") if table is None else table
    given = ", ".join(filter(None, (f'type = "{planner}"', options)))
    rule = f'{{ trigger = {{ type = "every", interval = "2min" }}, planner = {{ {given} }} }}'
    own = f'format = "{format_of(planner)}"\n{table}'
    head = SOUND[: SOUND.index("[[strategies]]")].replace('format = "iceberg"', own)
    return f'{head}[[strategies]]\nlabel = "mine"\nrules = [{rule}]\n'


def format_of(planner):
    prefix = planner.partition(".")[0]
    return prefix if prefix in FORMATS else "iceberg"


def compactions(folder, text):
    from bench.cli.main import main

    file = folder / "demo.toml"
    file.write_text(text)
    assert main(["run", str(file), "--simulate", "--out", str(folder / "out")]) == 0
    (run,) = load_runs(folder / "out")
    return [c for c in run.of(CompactionRecord) if c.status == "ok"]


def test_every_planner_that_can_sort_is_known_here():
    assert {
        name
        for name, planner in PLANNERS.items()
        if any("sort" in field.name or "columns" in field.name for field in fields(planner))
    } == SORTING.keys()


@pytest.mark.parametrize(("planner", "options"), SORTING.items())
def test_a_plan_that_sorts_says_so(planner, options, tmp_path):
    made = compactions(tmp_path, text_of(planner, options))
    assert made
    assert any(c.is_sorted for c in made)
    assert {c.is_converting for c in made} == {False}


def test_optimize_sorts_where_the_table_is_clustered(tmp_path):
    clustered = 'cluster_by = ["order_id"]'
    for name, table, is_sorted in (("a", "", False), ("b", clustered, True)):
        (tmp_path / name).mkdir()
        made = compactions(tmp_path / name, text_of("delta.optimize", table=table))
        assert {c.is_sorted for c in made} == {is_sorted}


@pytest.mark.parametrize("planner", sorted(PLANNERS))
def test_every_planner_that_drops_old_versions_is_known(planner, tmp_path):
    scenario = load(tmp_path, text_of(planner, SORTING.get(planner, "")))
    drops = _drops_versions(scenario, scenario.strategies[0])
    assert drops is (planner in EXPIRING)
