"""What planners are asked in a warm-up and what is recorded of it: on simulated tables, and on Spark."""

from collections import defaultdict
from dataclasses import dataclass, replace

import delta_simulations
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fake_engine import FakeEngine
from noting_planner import EverySecond
from replay import KeptRecords
from scenario_builder import SOUND, load, write
from simulated_tables import make

from bench.engines.contract import Batch
from bench.runs.worker.run import batches_of
from bench.runs.worker.warm_up import COMMITS_PER_ROUND_MAX, planners_of, warm_up
from bench.runs.worker.warm_up_load import SHARE_OF_TARGET, scaled_load
from bench.scenario.load import load_scenario
from strategies.amoro.planner import Amoro
from strategies.delta.planners import Reorg
from strategies.iceberg.procedures import RewriteDataFiles
from strategies.never import Never
from strategies.plan import Compact, Plan, Reason
from strategies.state import MIB
from strategies.strategy import Rule
from strategies.triggers import Every
from workloads.change_log import ensure_change_log
from workloads.commit import CommitSpec

ROUNDS = 4
AMORO = Amoro({"self-optimizing.minor.trigger.file-count": 2})


@dataclass(frozen=True)
class AtFiles:
    """Compacts from so many files on."""

    files: int

    def decide(self, state):
        return Plan((Compact(),), Reason.OTHER) if len(state.data_files) >= self.files else None


@dataclass(frozen=True)
class After:
    """Compacts once a time of the scenario has come."""

    at_ms: int

    def decide(self, state):
        return Plan((Compact(),), Reason.OTHER) if state.observed_at_ms >= self.at_ms else None


class ThrowAway(FakeEngine):
    """A table that can be dropped."""

    def drop(self): ...


class Noting(ThrowAway):
    """Notes each query with the name of its table, for all tables of a warm-up."""

    def __init__(self, name="", asked=None):
        super().__init__()
        self.name, self.asked = name, [] if asked is None else asked

    def sibling(self, name):
        return Noting(name, self.asked)

    def query(self, probe):
        self.asked.append((self.name, probe.name))
        return super().query(probe)


@pytest.fixture
def scenario(tmp_path):
    return load_scenario(write(tmp_path, SOUND))


def with_planners(scenario, *planners):
    """The scenario with one strategy, of these planners."""
    spec = scenario.strategies[0]
    rules = tuple(Rule(Every(60_000), planner) for planner in planners)
    return replace(scenario, strategies=(replace(spec, strategy=replace(spec.strategy, rules=rules)),))


def warmed(scenario, folder, engine=None):
    """The records of a warm-up."""
    kept = KeptRecords()
    warm_up(scenario, engine or make(), tuple(batches_of(scenario, None)), folder, kept.write)
    return kept.records


def acted(records):
    return [record.acted for record in records]


def test_each_planner_acts_in_every_round_whichever_is_asked_first(scenario, tmp_path):
    merge = RewriteDataFiles(options={"min-input-files": "2"})
    for planners in ((merge, AMORO), (AMORO, merge)):
        records = warmed(with_planners(scenario, *planners), tmp_path)
        assert acted(records) == [True] * 2 * ROUNDS
        assert [record.round for record in records] == [1, 2, 3, 4] * 2
        assert all(record.change.files_removed_count >= 8 for record in records)  # a commit adds 8
        assert all(record.change.files_added_count >= 1 for record in records)
        assert [record.planner == "amoro" for record in records] == [
            planner is AMORO for planner in planners for _ in range(ROUNDS)
        ]


def test_planners_that_differ_by_their_options_are_told_apart(scenario, tmp_path):
    rewrites = [RewriteDataFiles(options={"min-input-files": str(count)}) for count in (2, 3)]
    records = warmed(with_planners(scenario, *rewrites), tmp_path)
    assert {record.planner for record in records} == {"iceberg.rewrite_data_files"}
    assert len({record.options for record in records}) == 2


def test_commits_follow_until_a_planner_acts(scenario, tmp_path):
    records = warmed(with_planners(scenario, AtFiles(40)), tmp_path)
    assert acted(records) == [True] * ROUNDS
    # 8 files a commit: 40 after 5; of these one is left, and so it takes 5 more.
    assert [record.commits_count for record in records] == [5, 5, 5, 5]


def test_a_planner_that_waits_for_a_second_evaluation_is_warmed_up_too(scenario, tmp_path):
    assert acted(warmed(with_planners(scenario, EverySecond()), tmp_path)) == [True] * ROUNDS


def test_a_planner_that_waits_for_time_to_pass_is_warmed_up_too(scenario, tmp_path):
    week_ms = 7 * 86_400_000
    assert acted(warmed(with_planners(scenario, After(week_ms)), tmp_path)) == [True] * ROUNDS


def test_a_planner_that_does_not_act_is_recorded_and_fails_nothing(scenario, tmp_path):
    records = warmed(with_planners(scenario, AtFiles(10**6), AMORO), tmp_path)
    assert acted(records) == [False] * ROUNDS + [True] * ROUNDS
    never_acted = records[:ROUNDS]
    assert {record.status for record in never_acted} == {"nothing_to_do"}
    assert {record.actions == [] for record in never_acted} == {True}
    # The first round has shown that it does not act soon.
    assert [record.commits_count for record in never_acted] == [COMMITS_PER_ROUND_MAX, 1, 1, 1]


def test_a_plan_that_changes_nothing_is_no_action(scenario, tmp_path):
    fates = dict.fromkeys(range(1, 100), "failed")

    class Failing(ThrowAway):
        def sibling(self, name):
            return Failing(fates=fates)

    records = warmed(with_planners(scenario, AtFiles(1)), tmp_path, Failing())
    assert acted(records) == [False] * ROUNDS
    assert {record.status for record in records} == {"failed"}


def test_a_command_that_finds_nothing_to_do_on_such_tables_costs_few_commits(scenario, tmp_path):
    """Without deletion vectors there is nothing to purge; the table is asked all the same, in every round."""
    records = warmed(with_planners(scenario, Reorg()), tmp_path, delta_simulations.make())
    assert acted(records) == [False] * ROUNDS
    assert {record.status for record in records} == {"noop"}
    assert [record.commits_count for record in records] == [COMMITS_PER_ROUND_MAX, 1, 1, 1]


def test_a_planner_that_acts_after_a_round_in_vain_gets_all_commits_again(scenario, tmp_path):
    records = warmed(with_planners(scenario, AtFiles(8 * 11)), tmp_path)
    assert acted(records) == [False, True, False, True]
    # 8 files a commit: 88 after 11. One is left of them, so ten more commits make 81, and another one 89.
    assert [record.commits_count for record in records] == [COMMITS_PER_ROUND_MAX, 1] * 2


def test_a_scenario_without_planners_warms_up_commits_and_queries(scenario, tmp_path):
    engine = Noting()
    records = warmed(with_planners(scenario), tmp_path, engine)
    assert {(record.planner, record.commits_count, record.acted) for record in records} == {("", 1, False)}
    assert len(records) == ROUNDS
    assert {name for _, name in engine.asked} == {probe.name for probe in scenario.probes}


def test_every_query_runs_on_the_table_of_every_planner(scenario, tmp_path):
    engine = Noting()
    warmed(with_planners(scenario, AtFiles(1), AtFiles(2)), tmp_path, engine)
    tables = {name for name, _ in engine.asked}
    assert len(tables) == 2
    assert set(engine.asked) == {(table, probe.name) for table in tables for probe in scenario.probes}


def test_the_number_of_rounds_is_the_scenarios(tmp_path):
    scenario = with_planners(load(tmp_path, warm_up_rounds=7), AMORO)
    assert [record.round for record in warmed(scenario, tmp_path)] == [1, 2, 3, 4, 5, 6, 7]


def test_the_usual_number_of_rounds_is_the_same_scenario_as_before_there_was_a_key(tmp_path):
    usual, named, other = (
        load(tmp_path, **rounds) for rounds in ({}, {"warm_up_rounds": 4}, {"warm_up_rounds": 5})
    )
    assert usual.hash == named.hash != other.hash
    assert other.resolved["warm_up_rounds"] == 5


def test_planners_are_those_of_every_strategy_and_of_the_maintenance_once(scenario):
    rule = Rule(Every(60_000), AMORO)
    doubled = with_planners(scenario, AtFiles(1), AtFiles(1), Never())
    assert planners_of(replace(doubled, maintenance=(rule,))) == ((AtFiles(1), None), (AMORO, None))


def test_a_role_warms_up_what_it_executes(scenario):
    maintained = replace(with_planners(scenario, AtFiles(1)), maintenance=(Rule(Every(60_000), AMORO),))
    assert planners_of(maintained, "writer") == planners_of(maintained, "reader") == ()
    assert planners_of(maintained, "compactor-2") == ((AtFiles(1), None),)
    assert planners_of(maintained, "maintainer") == ((AMORO, None),)


def initial(folder, rows, *columns):
    """An initial load of one file."""
    path = folder / "part-00000.parquet"
    pq.write_table(pa.table({"order_id": pa.array(range(rows)), **dict(columns)}), path)
    spec = CommitSpec(0, 0, 0, 2 * rows, 2 * rows, 0, 0, 2, ())
    return Batch(spec, (path, folder / "part-00001.parquet"), 2 * path.stat().st_size)


def test_a_load_is_its_first_file_if_that_is_small_enough(tmp_path):
    load = initial(tmp_path, 1000)
    scaled = scaled_load(load, 128 * MIB, tmp_path)
    assert scaled.paths == load.paths[:1]
    assert (scaled.spec.rows, scaled.spec.inserts, scaled.spec.writers) == (1000, 1000, 1)
    assert scaled.size_bytes == load.paths[0].stat().st_size


@pytest.mark.parametrize(
    "columns", [(), (("shipping_fee", pa.array([None] * 200_000, pa.decimal128(8, 2))),)]
)
def test_a_larger_load_is_cut_to_a_share_of_the_target(tmp_path, columns):
    load = initial(tmp_path, 200_000, *columns)
    target_bytes = load.paths[0].stat().st_size
    scaled = scaled_load(load, target_bytes, tmp_path)
    assert scaled.spec.rows == pytest.approx(SHARE_OF_TARGET * 200_000, rel=0.01)
    table = pq.read_table(scaled.paths[0])
    assert table["order_id"].to_pylist() == list(range(scaled.spec.rows))
    assert table.schema.types == pq.read_schema(load.paths[0]).types
    assert pq.read_table(load.paths[0]).num_rows == 200_000  # the change log itself is left as it is


def batches_on_spark(scenario, spark, folder):
    log = ensure_change_log(
        lambda: spark, folder / "logs", scenario.workload, scenario.seed, scenario.commits_count,
        scenario.commit_interval_ms, lambda done, total: None,
    )  # fmt: skip
    return tuple(batches_of(scenario, log))


def on_spark(scenario, iceberg, spark, folder):
    """The records of the warm-up of a scenario on real tables, by planner."""
    engine = iceberg(target_file_size_bytes=scenario.table.target_file_size_bytes)
    kept, by_planner = KeptRecords(), defaultdict(list)
    warm_up(scenario, engine, batches_on_spark(scenario, spark, folder), folder, kept.write)
    for record in kept.records:
        by_planner[record.options].append(record)
    return by_planner


@pytest.mark.spark
def test_every_planner_of_append_only_acts_on_real_tables(iceberg, spark, tmp_path):
    scenario = load_scenario("append-only", ["duration=6min", "warm_up_rounds=2"])
    by_planner = on_spark(scenario, iceberg, spark, tmp_path)
    assert len(by_planner) == 2
    for records in by_planner.values():
        assert acted(records) == [True, True]
        assert all(record.change.files_removed_count >= 8 for record in records)
        assert all(record.change.files_added_count == 1 for record in records)
        assert all(record.cost.cpu_s > 0 and record.cost.wall_s > 0 for record in records)
    (amoro,) = (records for options, records in by_planner.items() if options.startswith("amoro"))
    assert all(record.actions[0].startswith("rewrite(") for record in amoro)


@pytest.mark.spark
def test_every_planner_of_upserts_acts_and_deletes_are_converted(iceberg, spark, tmp_path):
    overrides = ["duration=4min", "warm_up_rounds=2", "workload.initial_rows=100000"]
    scenario = load_scenario("upsert-quick", overrides)
    by_planner = on_spark(scenario, iceberg, spark, tmp_path)
    assert len(by_planner) == 4
    assert all(acted(records) == [True, True] for records in by_planner.values())
    (converting,) = (records for options, records in by_planner.items() if "convert_deletes" in options)
    for record in converting:
        assert record.actions[0].startswith("rewrite(")
        assert "converted" in record.actions[0]
        assert record.change.delete_files_added_count > 0  # of positions
        assert record.change.delete_files_removed_count > 0  # of keys
        assert 0 < record.delete_rows_after < record.delete_rows_before  # new orders' keys delete nothing
    (amoro,) = (records for options, records in by_planner.items() if options.startswith("amoro"))
    removed = [
        record.change.files_removed_count + record.change.delete_files_removed_count for record in amoro
    ]
    assert min(removed) > 0


@pytest.mark.spark
@pytest.mark.parametrize("columns", [3, 40])
def test_the_beginning_of_a_loaded_file_holds_the_rows_that_spark_wrote(iceberg, spark, tmp_path, columns):
    scenario = load_scenario(
        "upsert-quick", ["duration=1min", "workload.initial_rows=5000", f"workload.columns={columns}"]
    )
    initial, *_ = batches_on_spark(scenario, spark, tmp_path)
    cut = scaled_load(initial, initial.paths[0].stat().st_size, tmp_path)
    assert 0 < cut.spec.rows < 5000
    engine = iceberg(schema=scenario.workload.schema)
    engine.create()
    engine.commit(cut, 0)
    engine.dump(tmp_path / "dump")
    names = list(scenario.workload.schema.names)
    dumped = spark.read.parquet(str(tmp_path / "dump")).select(names)
    loaded = spark.read.parquet(str(initial.paths[0])).select(names)
    expected = loaded.orderBy("order_id").limit(cut.spec.rows)
    assert dumped.exceptAll(expected).count() == expected.exceptAll(dumped).count() == 0


def test_a_planner_is_told_what_the_replay_would_tell_it(scenario, tmp_path):
    seen, priors = [], {"another": object()}

    @dataclass(frozen=True)
    class Spy:
        def decide(self, state):
            seen.append(state)
            return Plan((Compact(),), Reason.OTHER, kind="minor")

    (spec,) = with_planners(scenario, Spy()).strategies
    rules = tuple(replace(rule, executor="another") for rule in spec.strategy.rules)
    spied = replace(scenario, strategies=(replace(spec, strategy=replace(spec.strategy, rules=rules)),))
    batches = tuple(batches_of(scenario, None))
    warm_up(spied, Noting(), batches, tmp_path, KeptRecords().write, priors)
    first, second, *_ = seen
    assert (first.executor, first.cost_priors, first.compactions) == ("another", priors, ())
    assert first.probe_latency_s == first.probes[-1].latency_s > 0
    (compaction,) = second.compactions
    assert (compaction.kind, compaction.executor, compaction.query_before_s) == ("minor", "another", 0.08)
    assert compaction.query_after_s == pytest.approx(0.01)
