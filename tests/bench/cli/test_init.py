import io
import re

import pytest
from iceberg_tables import make_table

from bench.engines.registry import FORMATS
from bench.scenario.load import load_scenario
from workloads.schema import SCHEMAS


@pytest.fixture
def init(compactbench, tmp_path, monkeypatch):
    """`compactbench init` in tmp_path, with these answers; "" accepts what is offered."""
    monkeypatch.chdir(tmp_path)

    def run(*words, answers, code=0):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{answer}\n" for answer in answers)))
        return compactbench("init", *words, code=code)

    return run


def test_every_question_can_be_answered_by_accepting(init, compactbench):
    printed = init(answers=[""] * 5)
    assert "written: mine.toml; next: compactbench run mine.toml --simulate" in printed.out
    scenario = load_scenario("mine.toml")
    assert scenario.table.format == "iceberg"
    assert (scenario.commits_count, scenario.workload.rows_per_commit) == (1440, 1000)  # a day
    assert "rewrite" in {spec.label for spec in scenario.strategies}
    compactbench("run", "mine.toml", "--simulate", "--quiet", "--set", "duration=4min")


@pytest.mark.parametrize("table_format", ["iceberg", "delta", "hudi"])
@pytest.mark.parametrize(("stream", "shares"), [(["append"], []), (["upsert", "5,000"], ["0.4", "0.1"])])
def test_each_format_and_stream_is_simulated_under_policies_that_act(
    init, compactbench, table_format, stream, shares
):
    init("-f", "s.toml", answers=[table_format, *stream, "30s", "4", "100", *shares])
    compactbench("run", "s.toml", "--simulate", "--quiet", "--set", "duration=30min")
    rows = compactbench("show", "results", "--format", "json").json["rows"]
    assert len(rows) > 1
    assert any(row["compactions"] for row in rows)


def test_what_is_no_answer_is_asked_again(init):
    answers = ["parquet", "delta", "", "soon", "1h", "-5", "3", "2", "2 elephants", "300"]
    printed = init("-f", "again.toml", answers=answers)
    assert "write delta or hudi or iceberg" in printed.err
    assert "'soon' is not a duration" in printed.err
    assert "write a whole number from 1 to 100,000\n" in printed.err
    assert "write a whole number from 3 to 100,000,000,000, or a size such as 5MB" in printed.err
    assert "'2 elephants' is not a size" in printed.err
    workload = load_scenario("again.toml").workload
    assert (workload.rows_per_commit, workload.files_per_commit) == (300, 3)


@pytest.mark.parametrize("table_format", ["iceberg", "delta", "hudi"])
def test_sizes_become_rows_that_have_so_many_bytes(init, compactbench, table_format):
    init("-f", "s.toml", answers=[table_format, "upsert", "200GB", "10min", "16", "160MB", "", ""])
    workload = load_scenario("s.toml").workload
    size_of = FORMATS[table_format].engines.size_model(SCHEMAS[17])
    assert size_of(workload.rows_per_commit, 16) == pytest.approx(160e6, rel=1e-3)
    assert size_of(workload.initial_rows, 1490) == pytest.approx(200e9, rel=1e-3)


@pytest.mark.parametrize("table_format", ["iceberg", "delta", "hudi"])
def test_the_query_that_it_suggests_skips_the_files_of_other_days(init, compactbench, tmp_path, table_format):
    init("-f", "s.toml", answers=[table_format, "", "1h", "", ""])
    text = (tmp_path / "s.toml").read_text().replace('partitioning = "none"', 'partitioning = "day"')
    text = re.sub(r"(?m)^#     (?=\[\[probes]]|name|sql|primary)", "", text)
    (tmp_path / "s.toml").write_text(text)
    short = ("--set", "duration=48h", "--only", "strategy=never")
    compactbench("run", "s.toml", "--simulate", "--quiet", *short)
    (row,) = compactbench("show", "results", "--format", "json").json["rows"]
    assert row["probes"]["min_order"]["opened_share"] == pytest.approx(1)
    assert 0.7 < row["probes"]["one_day"]["opened_share"] < 0.95  # all of the first day, half at the end


def test_of_a_table_it_asks_what_its_metadata_do_not_tell(init, compactbench, tmp_path):
    (tmp_path / "lake").mkdir()
    table = make_table(tmp_path / "lake", [{"Oslo": 4, "Rome": 2}, {"Oslo": 3}])
    words = (table.location().removeprefix("file://"), "-f", "own.toml")
    printed = init(*words, answers=["64MiB", "partition", "8", "0.05", "120", "fast", "500ms"])
    assert "history of visits" in printed.out
    assert "'fast' is not a duration" in printed.err
    assert "then: compactbench recommend results/own --subject-to 'query_mean_s<=0.5s'" in printed.out
    commands = (tmp_path / "own.toml").read_text()
    assert "recommend results/own --subject-to 'query_mean_s<=0.5s'" in commands
    assert "recommend results/sweep --subject-to 'query_mean_s<=0.5s'" in commands
    assert "LIMIT" not in commands
    scenario = load_scenario("own.toml")
    assert scenario.resources.compactor.cores == 8
    assert (scenario.prices.core_hour, scenario.prices.queries_per_hour) == (0.05, 120)
    assert scenario.table.target_file_size_bytes == 64 * 2**20
    (asked,) = (probe.sql for probe in scenario.probes if probe.primary)
    assert asked == "SELECT * FROM orders WHERE city = 'Oslo'"
    init(*words, "--force", answers=[""] * 6)
    accepted = load_scenario("own.toml")
    assert accepted.table.target_file_size_bytes == 512 * 2**20
    assert "one_partition" not in {probe.name for probe in accepted.probes}


def test_without_answers_nothing_is_written(init, tmp_path):
    assert "nothing was written" in init(answers=["delta"], code=130).err
    assert not list(tmp_path.iterdir())


def test_a_file_that_exists_is_replaced_on_request_only(init, tmp_path):
    (tmp_path / "mine.toml").write_text("mine")
    assert "exists: choose another file" in init(answers=[], code=2).err
    init("--force", answers=[""] * 5)
    assert load_scenario("mine.toml").name == "mine"


def test_an_option_of_tables_needs_one(init, tmp_path):
    printed = init("--catalog", "lake", answers=[], code=2)
    assert printed.err.startswith("error: --catalog: is for a table of yours")
    assert not list(tmp_path.iterdir())
