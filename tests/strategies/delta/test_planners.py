import pytest
from delta_tables import data_file, delta_table, vector

from strategies.delta.commands import Command
from strategies.delta.planners import Optimize, Reorg, Repartition, Vacuum, ZOrder
from strategies.delta.preview import preview_action
from strategies.plan import Capability, Compact, FileGroup, Native, PlanError, Reason, Rewrite
from strategies.planner import consult, traits_of
from strategies.preview import PreviewError
from strategies.state import TableState

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
EPOCH_MS = 1_767_225_600_000  # 2026-01-01


def by_day(days, files_count=2, size_bytes=10, at_ms=2 * DAY_MS):
    files = [
        data_file(f"{day}/{n}", size_bytes, partition=f"partition_day=2026-01-{day:02}")
        for day in days
        for n in range(files_count)
    ]
    return delta_table(files, observed_at_ms=at_ms, stream_epoch_ms=EPOCH_MS)


def test_without_restrictions_the_command_chooses():
    plan = Optimize(options={"maxFileSize": "128MiB", "repartition.enabled": True}).decide(delta_table([]))
    assert plan.actions == (
        Native(Command.OPTIMIZE, {}, {"maxFileSize": "134217728", "repartition.enabled": "true"}),
    )
    assert plan.reason is Reason.SCHEDULED


def test_the_days_before_the_evaluation_are_partitions():
    # Evaluated on 3 January: one day ago is the second.
    plan = consult(Optimize(days_ago=(1,)), by_day([1, 2, 3])).plan
    assert plan.actions == (Compact(("partition_day=2026-01-02",), {}),)
    two = consult(Optimize(days_ago=(0, 2)), by_day([1, 2, 3])).plan
    assert two.actions == (Compact(("partition_day=2026-01-01", "partition_day=2026-01-03"), {}),)


def test_a_day_without_files_or_an_unknown_day_is_nothing_to_do():
    assert consult(Optimize(days_ago=(9,)), by_day([1])).plan is None
    undated = delta_table([data_file("a", 1, partition="partition_day=2026-01-01")])
    assert consult(Optimize(days_ago=(0,)), undated).plan is None


def test_partitions_with_enough_small_files_are_compacted():
    files = [data_file(f"a{n}", 10, partition="p=a") for n in range(3)]
    files += [data_file(f"b{n}", 10, partition="p=b") for n in range(2)]
    files += [data_file(f"c{n}", 64, partition="p=c") for n in range(9)]
    planner = Optimize(min_small_files=3, options={"minFileSize": 64})
    plan = consult(planner, delta_table(files)).plan
    assert plan.actions == (Compact(("p=a",), {"minFileSize": "64"}),)
    assert plan.reason is Reason.SMALL_FILES
    assert consult(Optimize(min_small_files=4, options={"minFileSize": 64}), delta_table(files)).plan is None


@pytest.mark.parametrize(
    ("planner", "needs", "reads"),
    [
        (Optimize(), {Command.OPTIMIZE}, False),
        (Optimize(where="p = 1"), {Command.OPTIMIZE, Capability.ROW_FILTER}, False),
        (Optimize(days_ago=(1,)), {Capability.COMPACT}, True),
        (ZOrder(("user_id",)), {Command.ZORDER}, False),
        (Reorg(where="p = 1"), {Command.REORG, Capability.ROW_FILTER}, False),
        (Repartition(), {Command.REPARTITION}, True),
        (Vacuum(), {Command.VACUUM}, False),
    ],
)
def test_what_planners_declare(planner, needs, reads):
    traits = traits_of(planner)
    assert (traits.needs, traits.reads_state) == (frozenset(needs), reads)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("minFileSiz", 1), ("minFileSize", "128 apples"), ("minFileSize", -1), ("maxFileSize", 0),
        ("maxDeletedRowsRatio", 1.5), ("maxDeletedRowsRatio", float("nan")), ("repartition.enabled", "yes"),
        ("maxThreads", 0), ("batchSize", 1.5),
    ],
)  # fmt: skip
def test_what_delta_would_reject_is_refused_before_a_run(name, value):
    with pytest.raises(ValueError, match="apples" if value == "128 apples" else name):
        Optimize(options={name: value})


def test_commands_that_take_files_of_any_size_have_the_other_options():
    (purge,) = (
        Reorg(options={"batchSize": "1MiB", "repartition.enabled": True}).decide(delta_table([])).actions
    )
    assert purge.options == {"batchSize": "1048576", "repartition.enabled": "true"}
    (sort,) = ZOrder(("user_id",), options={"batchSize": 9, "maxFileSize": 7}).decide(delta_table([])).actions
    assert sort.options == {"batchSize": "9", "maxFileSize": "7"}
    for planner in (Reorg, lambda options: ZOrder(("user_id",), options=options)):
        with pytest.raises(ValueError, match="minFileSize"):
            planner(options={"minFileSize": 1})


def test_a_predicate_and_a_choice_of_partitions_exclude_each_other():
    with pytest.raises(ValueError, match="where"):
        Optimize(where="p = 1", days_ago=(1,))
    for days in (-1, 1_000_000):
        with pytest.raises(ValueError, match="days_ago"):
            Optimize(days_ago=(1, days))
    with pytest.raises(ValueError, match="columns"):
        ZOrder(())
    with pytest.raises(ValueError, match="files=0"):
        Repartition(0)


def test_repartition_takes_partitions_with_more_files_than_it_writes():
    files = [data_file("a1", 9, partition="p=a"), data_file("a2", 9, partition="p=a")]
    plan = consult(Repartition(1), delta_table([*files, data_file("b1", 9, partition="p=b")])).plan
    assert plan.actions == (Native(Command.REPARTITION, {"partition": "p=a", "files": "1"}),)
    assert consult(Repartition(2), delta_table(files)).plan is None


def test_vacuum_keeps_the_retention():
    assert Vacuum(HOUR_MS).decide(TableState(HOUR_MS, 1)) is None
    (action,) = Vacuum(HOUR_MS).decide(TableState(3 * HOUR_MS, 1)).actions
    assert action == Native(Command.VACUUM, {"older_than_at_ms": str(2 * HOUR_MS)})


def test_previews_follow_the_action():
    table = delta_table([data_file("a", 10), data_file("b", 20)], [vector("a", 1)], target_bytes=100)
    for action, removed in [
        (Native(Command.OPTIMIZE), 2),
        (Compact(("",), {"minFileSize": "15"}), 0),
        (Native(Command.OPTIMIZE, {}, {"maxFileSize": "29"}), 0),
        (Native(Command.REORG), 1),
        (Native(Command.ZORDER, {"columns": "user_id"}), 2),
        (Native(Command.REPARTITION, {"partition": "", "files": "1"}), 2),
    ]:
        assert preview_action(action, table).files_removed_count == removed, action


@pytest.mark.parametrize(
    "action",
    [
        Native(Command.OPTIMIZE, {"where": "p = 1"}),
        Native(Command.VACUUM),
        Native("iceberg.rewrite_data_files"),
        Rewrite((FileGroup(("a",)),), 1),
    ],
)
def test_what_no_state_determines_has_no_preview(action):
    with pytest.raises(PreviewError):
        preview_action(action, delta_table([data_file("a", 10)]))


def test_a_state_of_another_format_is_refused():
    with pytest.raises(PlanError, match="DeltaState"):
        Repartition().decide(TableState(0, 1))
