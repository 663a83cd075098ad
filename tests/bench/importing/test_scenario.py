import tomllib
from pathlib import Path

import pytest
from histories import commit, data, history

from bench.engines.registry import FORMATS
from bench.importing.answers import Answers
from bench.importing.scenario import scenario_text, with_notes

LARGE = {"rows": 10**6, "size_bytes": 10**8}


def notes(*commits, **facts):
    return with_notes(history(*commits, **facts)).facts.notes


def strategies(*commits):
    imports = FORMATS["iceberg"].existing.imports
    text = scenario_text(
        history(*commits, table_keys={"format_version": 2}), imports, "t", Path("t.toml"),
        Path("t.history.parquet"), Answers(),
    )  # fmt: skip
    return {strategy["label"]: strategy for strategy in tomllib.loads(text)["strategies"]}


def test_the_tables_own_compactions_are_a_strategy_at_the_ticks_before_them():
    merge = commit(2, [data(9, **LARGE)], [data(0), data(1)], is_compaction=True)
    own = strategies(commit(0, [data(0)]), commit(1, [data(1)]), merge, commit(10, [data(2)]))["own-times"]
    (rule,) = own["rules"]
    assert rule["trigger"] == {"type": "at", "times": ["20min"]}  # ticks of 10 minutes
    assert rule["planner"]["type"] == "iceberg.rewrite_data_files"


def test_a_table_without_compactions_has_no_such_strategy():
    assert "own-times" not in strategies(commit(0, [data(0)]), commit(1, [data(1)]))


def test_a_property_of_the_table_is_one_of_the_scenario():
    keys = {"index": "simple", 'properties."hoodie.metadata.enable"': "true"}
    recorded = history(commit(0, [data(0)]), commit(1, [data(1)]), table_format="hudi", table_keys=keys)
    imports = FORMATS["hudi"].existing.imports
    text = scenario_text(recorded, imports, "t", Path("t.toml"), Path("t.history.parquet"), Answers())
    table = tomllib.loads(text)["table"]
    assert (table["index"], table["properties"]) == ("simple", {"hoodie.metadata.enable": "true"})


@pytest.mark.parametrize(
    "commits",
    [
        [commit(1, [data(3, rows=200)], [data(0), data(1)])],
        [commit(1, [], [data(0), data(1)]), commit(2, [data(3, rows=200)])],
    ],
)
def test_what_may_be_a_compaction_is_told(commits):
    told = notes(*commits, start=[data(0), data(1), data(2, **LARGE)])
    assert told == (
        "1 commit replaced files by fewer ones with as many rows, as compactions do, but are not marked as "
        "such: they are replayed as commits",
    )
    other = [commit(1, [data(3, rows=150)], [data(0), data(1)])]
    assert notes(*other, start=[data(0), data(1), data(2, **LARGE)]) == ()


def test_what_a_commit_removes_of_compacted_files_is_counted():
    merge = commit(2, [data(9, rows=300)], [data(0), data(1), data(2)], is_compaction=True)
    delete = commit(3, [data(10, rows=299)], [data(9, rows=300)])
    (told,) = notes(merge, delete, start=[data(0), data(1), data(2), data(4, **LARGE)])
    assert told == (
        "1 commit removed or rewrote files that compactions had written: without these, such commits remove "
        "2 more files of the stream, under every policy"
    )
