import pytest
from engine_streams import FULL_SCAN, execute, files, plan, rewrite
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from observed_changes import check_grown
from simulated_tables import deletes, make, physical_rows
from upsert_commits import changes, load

from bench.engines.contract import Batch, Probe
from bench.engines.iceberg.model.coefficients import IcebergCoefficients
from bench.engines.simulated.live_rows import expected_live_rows
from strategies.amoro.planner import Amoro
from strategies.iceberg.commands import Command
from strategies.iceberg.deletes.index import index_deletes
from strategies.iceberg.files import DeleteKind
from strategies.iceberg.procedures import RewriteDataFiles
from strategies.plan import FileGroup, Native, Rewrite
from strategies.planner import consult
from strategies.state import KIB
from workloads.partitioning import Partitioning
from workloads.upsert import Upsert

REWRITE = Command.REWRITE_DATA_FILES


def stream(skew="uniform", commits=30, by="none", **changed):
    workload = Upsert(**{
        "rows_per_commit": 400, "files_per_commit": 4, "initial_rows": 20_000, "initial_files": 3,
        "key_skew": skew, "repeat_share": 0.05, **changed,
    })  # fmt: skip
    return list(workload.shape(7, commits, 60_000, Partitioning(by, 3)))


def replay(planner, specs, every=1, costs=None, **table):
    """The engine after a stream under one planner, and the outcomes of its plans."""
    engine, outcomes = make(costs, **{"target_file_size_bytes": 256 * KIB, **table}), []
    for spec in specs:
        engine.commit(Batch(spec, (), spec.expected_bytes), spec.at_ms)
        is_asked = planner is not None and spec.index % every == 0
        decided = consult(planner, engine.state(spec.at_ms)).plan if is_asked else None
        if decided and spec.index:
            outcomes.append(execute(engine, decided, spec.at_ms))
    return engine, outcomes


PLANNERS = {
    "never": None,
    "amoro": Amoro({"self-optimizing.target-size": "256KiB"}),
    "threshold": RewriteDataFiles(options={"delete-file-threshold": 8, "min-input-files": 2}),
}


@pytest.mark.parametrize("name", PLANNERS)
@pytest.mark.parametrize(("skew", "by"), [("uniform", "none"), ("zipf", "none"), ("recent-first", "bucket")])
def test_streams_of_changes_keep_their_rows_under_any_planner(name, skew, by):
    specs = stream(skew, by=by)
    engine, outcomes = replay(PLANNERS[name], specs, every=5, partitioning=Partitioning(by, 3))
    assert {outcome.status for outcome in outcomes} <= {"ok"}
    assert bool(outcomes) == (name != "never")
    assert abs(engine.model.live_rows - expected_live_rows(specs)) <= len(files(engine))
    physical = sum(shape.rows for spec in specs for shape in spec.partitions)
    assert (physical_rows(engine) == physical) == (name == "never")


@pytest.mark.parametrize("name", PLANNERS)
def test_streams_of_unknown_keys_keep_their_rows_too(name):
    # As `debezium` tells them: 20 inserts, 50 updates and 10 deletes a commit, of a table of 20,000.
    shapes = [changes(n, 20_000, 20, 50, 10, again=3, writers=3, known=False) for n in range(1, 31)]
    specs = [load(20_000, 3), *shapes]
    engine, outcomes = replay(PLANNERS[name], specs, every=5)
    assert {outcome.status for outcome in outcomes} <= {"ok"}
    assert engine.model.live_rows == pytest.approx(20_000 + 30 * (20 - 10 - 3), abs=len(files(engine)))
    assert expected_live_rows(specs) == pytest.approx(20_000 + 30 * (20 - 10 - 3))


def test_amoro_converts_deletes_of_large_files_and_merges_small_ones():
    engine, outcomes = replay(PLANNERS["amoro"], stream(commits=40))
    made = [outcome.change for outcome in outcomes]
    assert any(change.delete_files_added_count for change in made)
    assert any(change.files_removed_count > 2 for change in made)
    assert {outcome.error for outcome in outcomes} == {None}
    assert len(deletes(engine)) < 40
    # A third conversion finds files with a position delete file of Amoro's own, and takes that in.
    named = [d.referenced_data_file for d in deletes(engine, DeleteKind.POSITION)]
    assert len(named) == len(set(named))


@pytest.mark.parametrize("name", PLANNERS)
def test_the_same_stream_gives_the_same_table_and_costs(name):
    def told():
        engine, outcomes = replay(PLANNERS[name], stream(commits=12), costs=IcebergCoefficients.read())
        return files(engine), deletes(engine), outcomes, engine.query(FULL_SCAN)

    assert told() == told()


class AnyHistory(RuleBasedStateMachine):
    """Changes, compactions, conversions and delayed rewrites in any order keep rows and sums."""

    @initialize(by=st.sampled_from(["none", "bucket"]), skew=st.sampled_from(["uniform", "recent-first"]))
    def create(self, by, skew):
        self.engine = make(target_file_size_bytes=64 * KIB, partitioning=Partitioning(by, 2))
        workload = Upsert(300, 2, 2_000, 3, key_skew=skew, delete_share=0.2, repeat_share=0.1)
        self.stream = workload.shape(7, 200, 60_000, Partitioning(by, 2))
        self.specs, self.tickets, self.at_ms, self.seen = [], [], 0, None
        self.commit()

    def did(self, outcome):
        observed, change = outcome.observed, outcome.change
        if self.seen is not None:
            check_grown(self.seen, observed, change)
        self.seen = observed
        return outcome

    def act(self, action):
        """Carry out; what lives does not change by more than roundings of files."""
        live = self.engine.model.live_rows
        count = len(files(self.engine))
        outcome = self.did(execute(self.engine, action, self.at_ms))
        assert abs(self.engine.model.live_rows - live) <= count + len(files(self.engine))
        return outcome

    @rule()
    def commit(self):
        spec = next(self.stream)
        self.at_ms = spec.at_ms
        self.did(self.engine.commit(Batch(spec), spec.at_ms))
        self.specs.append(spec)

    @rule(options=st.sampled_from([{}, {"rewrite-all": "true"}, {"delete-file-threshold": "2"}]),
          dangling=st.booleans())  # fmt: skip
    def compact(self, options, dangling):
        dangling = {"remove-dangling-deletes": str(dangling).lower()}
        assert self.act(plan(Native(REWRITE, {}, options | dangling))).status in ("ok", "noop")

    def some(self, data):
        free = [f for f in files(self.engine) if f.path not in self.busy()]
        chosen = data.draw(st.lists(st.sampled_from(free), min_size=1, max_size=6, unique=True))
        return [f for f in chosen if f.partition == chosen[0].partition]

    def busy(self):
        return frozenset().union(*(pending.paths for pending in self.engine.state(0).pending))

    @rule(data=st.data(), delay_ms=st.sampled_from([0, 60_000]))
    def rewrite(self, data, delay_ms):
        if len(self.busy()) >= len(files(self.engine)):
            return
        action = rewrite(self.some(data), target_bytes=64 * KIB)
        if delay_ms:
            self.tickets.append(self.engine.schedule(action, self.at_ms, self.at_ms + delay_ms))
        else:
            assert self.act(action).status == "ok"

    @rule()
    def complete(self):
        if self.tickets:
            outcome = self.did(self.engine.complete(self.tickets.pop(0), self.at_ms))
            assert outcome.status in ("ok", "failed")

    @rule(data=st.data(), drops=st.booleans())
    def convert(self, data, drops):
        """Of all deletes those that apply to the files alone may go; to drop all is vetoed or right."""
        if len(self.busy()) >= len(files(self.engine)):
            return
        chosen, live = self.some(data), self.engine.model.live_rows
        group = FileGroup((), chosen[0].partition, tuple(f.path for f in chosen))
        removed = tuple(d.key for d in self.engine.state(0).delete_files) if drops else ()
        outcome = self.act(plan(Rewrite((group,), 64 * KIB, removed)))
        assert outcome.status in (("ok", "noop", "vetoed") if drops else ("ok", "noop"))
        assert self.engine.model.live_rows == live

    @invariant()
    def rows_and_deletes_add_up(self):
        if self.seen is None:
            return
        state, engine = self.engine.state(self.at_ms), self.engine
        assert abs(engine.model.live_rows - expected_live_rows(self.specs)) <= len(state.data_files)
        assert 0 <= engine.model.live_rows <= physical_rows(engine) == self.seen.table.rows
        index, full = index_deletes(state.delete_files), engine.query(FULL_SCAN)
        applied = [index.applying_to(f) for f in state.data_files]
        data_bytes = sum(f.size_bytes for f in state.data_files)
        assert (full.work.files_count, full.work.delete_files_count) == (
            len(state.data_files), sum(a.files_count for a in applied),
        )  # fmt: skip
        assert full.work.opened_bytes == data_bytes + sum(a.size_bytes for a in applied)
        assert (
            engine.query(Probe("all", "SELECT * FROM orders WHERE order_id BETWEEN 0 AND 99999999")) == full
        )
        for delete in state.delete_files:
            if delete.kind is DeleteKind.POSITION:
                named = next((f for f in state.data_files if f.path == delete.referenced_data_file), None)
                assert named is None or 0 < delete.rows <= named.rows


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
