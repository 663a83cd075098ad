from dataclasses import replace

import pytest

from bench.calibration.measured import measured_steps, step_of
from bench.cli.main import main
from bench.engines.hudi.table_keys import METADATA_TABLE
from bench.engines.registry import FORMATS
from bench.engines.simulated.steps import Operation
from bench.results.folders import load_runs
from bench.results.records import CommitRecord, CompactionRecord, MaintenanceRecord, QueryRecord
from bench.results.tables import RunRecords
from bench.runs.resimulation import Resimulation

PRICED = (CommitRecord, CompactionRecord, MaintenanceRecord, QueryRecord)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Simulated runs of every format with conversions, sorting, inline compaction and maintenance."""
    out = tmp_path_factory.mktemp("results")
    names = ("upsert-quick", "delta-upsert-quick", "hudi-upsert-quick", "example")
    assert main(["run", *names, "--simulate", "--out", str(out), "-q"]) == 0
    return load_runs(out)


def test_a_record_states_the_work_that_its_cost_was_computed_from(simulated):
    """So a fit to records and the simulation mean the same by an amount of work."""
    seen = set()
    for run in simulated:
        costs, jvm_cpu_s = FORMATS[run.manifest.format].engines.estimates(), 0.0
        cores = run.manifest.options["cores"]
        for record in run.records:
            if not isinstance(record, PRICED) or not record.cost.cpu_s:
                continue
            role = {CommitRecord: "writer", QueryRecord: "reader"}.get(type(record), "compactor")
            if isinstance(record, CompactionRecord) and record.is_inline and not record.scheduled_at_ms:
                role = "writer"
            # Commands that rewrite no data have no work in the record of a compaction.
            if not isinstance(record, CompactionRecord) or record.work.groups_count is not None:
                step = step_of(record)
                priced = costs.price(step, cores[role], jvm_cpu_s)
                assert priced.cpu_s == pytest.approx(record.cost.cpu_s, rel=1e-6), (run.folder, record)
                assert priced.wall_s == pytest.approx(record.cost.wall_s, rel=1e-6)
                seen.add((run.manifest.format, step.operation))
            jvm_cpu_s += record.cost.cpu_s
    assert seen >= {
        ("iceberg", Operation.UPSERT), ("iceberg", Operation.REWRITE), ("iceberg", Operation.CONVERT),
        ("iceberg", Operation.QUERY), ("delta", Operation.MERGE), ("delta", Operation.REWRITE),
        ("delta", Operation.MAINTENANCE), ("hudi", Operation.UPSERT), ("hudi", Operation.REWRITE),
    }  # fmt: skip


def test_each_real_step_is_paired_with_the_simulated_one_at_its_place(simulated):
    run = next(run for run in simulated if run.manifest.strategy == "reorg-4min")
    steps = measured_steps([Resimulation(0, (run,), made=run)])
    priced = [record for record in run.records if isinstance(record, PRICED) and record.cost.cpu_s]
    counted = [r for r in priced if not isinstance(r, QueryRecord) or r.primary]
    assert [step.cost for step in steps] == [record.cost for record in counted]
    assert [step.step for step in steps] == [step_of(record) for record in counted]
    assert [step.is_initial for step in steps] == [True] + [False] * (len(steps) - 1)
    assert sum(step.is_settled for step in steps) == sum(
        r.when == "settled" for r in counted if isinstance(r, QueryRecord)
    )
    before_last = [record.cost.cpu_s for record in priced[: priced.index(counted[-1])]]
    assert steps[-1].jvm_cpu_s == pytest.approx(sum(before_last))


@pytest.mark.parametrize(("enabled", "amount"), [("false", 0.0), ("true", 1.0)])
def test_every_step_tells_whether_its_table_has_a_metadata_table(simulated, enabled, amount):
    run = next(run for run in simulated if run.manifest.format == "hudi")
    options = {**run.manifest.options, "table_properties": {METADATA_TABLE: enabled}}
    made = replace(run, manifest=run.manifest.model_copy(update={"options": options}))
    steps = measured_steps([Resimulation(0, (run,), made=made)])
    assert {step.step.amounts["s_with_metadata_table"] for step in steps} == {amount}


def test_long_lived_queries_are_measured_though_a_simulation_has_none(simulated):
    run = next(run for run in simulated if run.manifest.strategy == "reorg-4min")
    by_new = [r for r in run.records if not isinstance(r, QueryRecord) or r.session == "new"]
    usual = [r.model_copy(update={"session": "long-lived"}) for r in by_new if isinstance(r, QueryRecord)]
    both = replace(run, records=RunRecords.listed([*by_new[:-1], *usual, by_new[-1]]))
    made = replace(run, records=RunRecords.listed(by_new))
    steps = measured_steps([Resimulation(0, (both,), made=made)])
    of = {
        operation: [step for step in steps if step.step.operation is operation]
        for operation in (Operation.QUERY, Operation.LONG_LIVED_QUERY)
    }
    assert (
        [step.step.amounts for step in of[Operation.QUERY]]
        == [step.step.amounts for step in of[Operation.LONG_LIVED_QUERY]]
        != []
    )


def test_compactions_and_queries_have_the_work_that_they_recorded(simulated):
    """As a simulation by other costs decides otherwise; the work of records without any is simulated."""
    run = next(run for run in simulated if run.manifest.strategy == "reorg-4min")

    def with_work(change):
        records = [
            record.model_copy(update={"work": change(record.work)})
            if isinstance(record, QueryRecord | CompactionRecord)
            else record
            for record in run.records
        ]
        return replace(run, records=RunRecords.listed(records))

    def steps_of(real, made):
        return [step.step for step in measured_steps([Resimulation(0, (real,), made=made)])]

    unknown = with_work(lambda work: type(work)())
    assert steps_of(run, unknown) == steps_of(unknown, run) == steps_of(run, run)
    planned = [record for record in run.records if not isinstance(record, CompactionRecord)]
    assert steps_of(run, replace(run, records=RunRecords.listed(planned))) == steps_of(run, run)
    assert len(steps_of(unknown, unknown)) < len(steps_of(run, run))


def test_what_was_left_out_of_the_simulation_tells_nothing(simulated):
    assert measured_steps([Resimulation(0, simulated[:1], problem="cannot be simulated")]) == []
