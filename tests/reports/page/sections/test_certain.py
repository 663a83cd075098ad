from dataclasses import replace

from result_builder import build_results

from bench.results.folders import load_runs
from bench.results.metrics import METRIC_BY_NAME, Metric
from reports.data.group import RunGroup, run_groups
from reports.page.sections.certain import certain
from reports.page.sections.costs import costs

EVERY = {"type": "every", "interval": "5min"}
EXPIRY = {"trigger": EVERY, "planner": {"type": "iceberg.expire_snapshots"}}


def _said(folder, **how):
    return [str(line) for line in certain(run_groups(load_runs(build_results(folder, **how)))[0])]


def test_counts_are_those_of_the_strategies_on_the_front(group):
    rewritten, files, space = map(str, certain(group))
    assert rewritten.startswith("every-10min compacts 6 times and writes ")
    assert "every-60min" not in rewritten  # it compacts at the last tick, which no query meets
    assert "; every-1min compacts 60 times and writes " in rewritten
    ratio = (
        group.row("every-1min").values["compaction_added_bytes"]
        / (group.row("every-10min").values["compaction_added_bytes"])
    )
    assert rewritten.endswith(f"; every-1min rewrites {ratio:.2g}x the bytes of every-10min.")
    assert files == ("Data files at the end: 1 with every-1min, every-10min and every-60min; 480 with never.")
    ends = {label: group.row(label).values["storage_bytes_end"] for label in ("every-1min", "never")}
    assert space.startswith("Space: every-1min ends with ")
    assert f" of it metadata), {ends['every-1min'] / ends['never']:.0f}x that of never. " in space
    assert "No rule drops old versions" in space
    assert "[[maintenance]]" in space


def test_space_with_expiry_asks_for_no_expiry(tmp_path):
    strategies = {"never": None, "every-1min": 1}
    facts = {"scenario_text": {"maintenance": [EXPIRY]}, "drops_versions": True}
    said = _said(tmp_path, strategies=strategies, ticks=12, **facts)
    assert said[-1].endswith("but freed nothing: it may keep them longer than the stream lasts.")


def test_whether_old_versions_are_dropped_is_a_fact_of_the_manifest(tmp_path):
    strategies = {"never": None, "every-1min": 1}
    for drops, ending in ((True, "although a rule drops old versions."), (False, "[[maintenance]].")):
        folder = tmp_path / str(drops)
        assert _said(folder, strategies=strategies, ticks=12, drops_versions=drops)[-1].endswith(ending)


def test_little_space_is_no_news(tmp_path):
    assert not any("Space" in line for line in _said(tmp_path, strategies={"never": None}, ticks=6))


def test_delete_files_left_are_counted(upsert_group):
    said = [str(line) for line in certain(upsert_group)]
    assert "Delete files at the end: 0 with every-3min; 1 with amoro; 18 with never." in said


def test_bytes_of_a_simulation_are_modelled(tmp_path):
    assert _said(tmp_path, ticks=12, repetitions=1, mode="simulated")[0].endswith(", as modelled.")


def test_costs_are_compaction_and_what_is_known_beside_it(group):
    table = costs(group)
    titles = [str(column.title) for column in table.columns]
    assert titles[:2] == ["Strategy", "Compaction CPU"]
    assert "Of it in tasks" in titles
    assert [str(row[0].text) for row in table.rows] == list(group.strategies)


def test_costs_show_what_a_strategy_causes_elsewhere(group, monkeypatch):
    """Figures that these records do not have are put beside them."""
    figures = {
        "jit_share": ("share", {"never": None, "every-1min": 0.6}),
        "commit_cpu_s": ("s", {"never": 4.0, "every-1min": 4.5, "every-10min": 3.9}),
        "policy_cpu_s": ("s", {"never": 0.0, "every-1min": 20.0}),
        "break_even_queries_per_h": ("queries/h", {"every-1min": 120.0}),
    }
    stubs = {
        name: Metric(name, unit, "lower", "timing", "made up", lambda f: None)
        for name, (unit, _) in figures.items()
    }
    for module in ("reports.page.tables", "reports.text"):
        monkeypatch.setattr(f"{module}.METRIC_BY_NAME", {**METRIC_BY_NAME, **stubs})
    rows = []
    for row in group.rows:
        own = {name: values.get(row.strategy) for name, (_, values) in figures.items()}
        runs = {name: (value,) * row.runs for name, value in own.items()}
        rows.append(replace(row, values={**row.values, **own}, run_values={**row.run_values, **runs}))
    table = costs(RunGroup(tuple(rows), group.runs))
    titles = [str(column.title) for column in table.columns]
    found = {
        str(row[0].text): dict(zip(titles, (str(c.text) for c in row), strict=True)) for row in table.rows
    }
    assert found["every-1min"]["Of it JIT"] == "60 %"
    assert [found[label]["Commit CPU"] for label in ("never", "every-1min", "every-10min")] == [
        "4.0", "4.5", "3.9",
    ]  # fmt: skip
    assert found["every-1min"]["Break-even"] == "120"
    assert "Policy: compaction, maintenance and evaluations. Total: policy and commits." in table.note
