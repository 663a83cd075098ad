import pytest
from hudi_tables import DAY_MS, DAYS, hudi_table, hudi_tables, slice_files
from hypothesis import given
from hypothesis import strategies as st

from strategies.hudi.commands import Command
from strategies.hudi.compaction_plan import plan_compaction
from strategies.hudi.compaction_strategies import STRATEGIES, Operation, Settings, class_names, strategy_of
from strategies.hudi.dates import day_of
from strategies.state import MIB

MAX_FILE_BYTES = 120 * MIB
FIRST_DAY = day_of(DAYS[0])


def planned(table, strategy, **settings):
    """The file ids of the plan, in order."""
    plan = plan_compaction(table, strategy_of(strategy), Settings(**settings), MAX_FILE_BYTES)
    return [operation.slice.group.file_id for operation in plan.operations]


def table_of_days(*days, log_bytes=(MIB,)):
    """One slice in each partition, with the path as its file id."""
    return hudi_table(
        [file for day in days for file in slice_files(day, day, log_bytes=log_bytes)],
        epoch_ms=DAY_MS * 20_454,
    )


def test_io_is_counted_in_whole_mebibytes():
    # By hand, and as Hudi's own class computes it: 1.9 + 0.9 MiB are 2 read and 1 written.
    def io_mib(base_bytes, *log_bytes):
        table = hudi_table(slice_files("f", base_bytes=base_bytes, log_bytes=log_bytes))
        return Operation(next(iter(table.file_slices.values())), MAX_FILE_BYTES).io_mib

    assert io_mib(int(1.9 * MIB), int(0.9 * MIB)) == 3
    assert io_mib(MIB // 4, MIB // 8) == 0
    assert io_mib(None, 10 * MIB) == 130
    assert io_mib(0, 10 * MIB) == 130
    assert io_mib(5 * MIB, -1, MIB) == 11


def test_the_last_operation_may_exceed_the_target():
    # 4 MiB read, 1 of log, 4 written: 9 each. The second takes what is left from 8 to -1.
    table = table_of_days(*DAYS[:3])
    assert planned(table, "BoundedIO", target_io_mib=17, is_incremental=False) == DAYS[:2]
    assert planned(table, "BoundedIO", target_io_mib=18, is_incremental=False) == DAYS[:2]
    assert planned(table, "BoundedIO", target_io_mib=19, is_incremental=False) == DAYS[:3]
    assert planned(table, "BoundedIO", target_io_mib=0) == []


def test_what_does_not_fit_is_noted_for_the_next_plan():
    table = table_of_days(*DAYS[:3])
    plan = plan_compaction(table, strategy_of("BoundedIO"), Settings(target_io_mib=1), MAX_FILE_BYTES)
    assert plan.missing_partitions == tuple(DAYS[1:3])
    alone = Settings(target_io_mib=1, is_incremental=False)
    assert plan_compaction(table, strategy_of("BoundedIO"), alone, MAX_FILE_BYTES).missing_partitions is None


def test_most_log_bytes_come_first_and_those_below_the_threshold_stay():
    files = [
        *slice_files("small", log_bytes=[1]),
        *slice_files("many", log_bytes=[2] * 5),
        *slice_files("large", log_bytes=[100, 1]),
    ]
    table = hudi_table(files)
    assert planned(table, "LogFileSizeBased") == ["large", "many", "small"]
    assert planned(table, "LogFileSizeBased", log_bytes_min=10) == ["large", "many"]
    assert planned(table, "LogFileNumBased") == ["many", "large", "small"]
    assert planned(table, "LogFileNumBased", log_files_min=2) == ["many", "large"]


def test_the_latest_partitions_are_chosen_before_there_is_a_look_at_their_files():
    table = table_of_days(*DAYS)
    assert planned(table, "DayBased", target_partitions=3) == DAYS[:4:-1]
    assert planned(table, "DayBased", target_partitions=0) == []


def test_a_single_partition_needs_no_date():
    assert planned(table_of_days("Oslo"), "DayBased") == ["Oslo"]
    with pytest.raises(ValueError, match="'Bergen' has no date"):
        planned(table_of_days("Oslo", "Bergen"), "DayBased")
    with pytest.raises(ValueError, match="'Oslo' has no date"):
        planned(table_of_days("Oslo"), "BoundedPartitionAware", today=FIRST_DAY)


def test_the_seeds_example_by_the_code_of_hudi():
    # Hudi's wiki, with today 2020/03/11 and x = 3, leaves 2020/03/08 to the unbounded strategy; its code
    # compares with today - 3 and keeps it.
    days = [f"2020/03/{day:02}" for day in range(13, 6, -1)]
    table, today = table_of_days(*days), day_of("2020/03/11")
    assert planned(table, "DayBased", target_partitions=3) == days[:3]
    assert planned(table, "BoundedPartitionAware", target_partitions=3, today=today) == days[:6]
    assert planned(table, "UnBoundedPartitionAware", target_partitions=3, today=today) == ["2020/03/07"]


def test_a_partition_with_dashes_is_kept_by_a_name_that_it_does_not_have():
    table = table_of_days("2026-01-01", "2026-01-02")
    assert planned(table, "BoundedPartitionAware", today=FIRST_DAY) == []


def test_strategies_that_need_today_say_so():
    with pytest.raises(ValueError, match="not known"):
        planned(table_of_days(*DAYS), "UnBoundedPartitionAware")


def test_partitions_are_chosen_by_an_expression_that_occurs_in_their_path():
    table = table_of_days("2026/01/01", "2026/02/01", "2027/01/01")
    assert planned(table, "PartitionRegexBased", partition_regex="/01/") == ["2026/01/01", "2027/01/01"]
    with pytest.raises(ValueError, match="needs hoodie"):
        planned(table, "PartitionRegexBased")


def test_several_strategies_choose_one_after_the_other():
    files = [
        file for number, day in enumerate(DAYS) for file in slice_files(day, day, log_bytes=[number + 1])
    ]
    table = hudi_table(files)
    both = planned(table, "DayBased,LogFileSizeBased", target_partitions=3, target_io_mib=1)
    assert both == [DAYS[-1]]
    # The last one that sorts decides on the order.
    assert planned(table, "UnBounded,LogFileSizeBased") == DAYS[::-1]


@given(
    hudi_tables(), st.sampled_from(sorted(STRATEGIES)), st.integers(0, 60), st.integers(0, 8), st.booleans()
)
def test_any_plan_keeps_to_what_all_have_in_common(table, name, target_io_mib, days, is_incremental):
    settings = Settings(
        target_io_mib, target_partitions=days, partition_regex="/0[1-3]$", is_incremental=is_incremental,
        today=FIRST_DAY + 4,
    )  # fmt: skip
    plan = plan_compaction(table, strategy_of(name), settings, MAX_FILE_BYTES)
    groups = [operation.slice.group for operation in plan.operations]
    assert len(set(groups)) == len(groups)
    assert all(table.file_slices[group].logs for group in groups)
    if name in ("BoundedIO", "LogFileSizeBased", "LogFileNumBased", "DayBased"):
        assert sum(operation.io_mib for operation in plan.operations[:-1]) < max(target_io_mib, 1)
    if plan.missing_partitions is not None:
        assert set(plan.missing_partitions) <= {group.partition for group in table.file_slices}


@given(hudi_tables(), st.integers(0, 8))
def test_both_partition_aware_strategies_share_the_table(table, days):
    settings = {"target_partitions": days, "today": FIRST_DAY + 4}
    recent = planned(table, "BoundedPartitionAware", **settings)
    rest = planned(table, "UnBoundedPartitionAware", **settings)
    assert not set(recent) & set(rest)
    assert {*recent, *rest} == set(planned(table, "UnBounded"))


@given(hudi_tables(), st.sampled_from([Command.COMPACTION, Command.LOG_COMPACTION, Command.CLUSTERING]))
def test_only_a_pending_log_compaction_leaves_its_file_groups_to_a_compaction(table, service):
    groups = list(table.file_slices)
    pending = {service: frozenset(groups[::2])}
    busy = hudi_table([*table.data_files, *table.delete_files], pending_groups=pending)
    expected = [
        group.file_id
        for group, file_slice in table.file_slices.items()
        if file_slice.logs and (service is Command.LOG_COMPACTION or group not in pending[service])
    ]
    assert planned(busy, "UnBounded") == expected


def test_classes_are_named_as_hudi_names_them():
    package = "org.apache.hudi.table.action.compact.strategy."
    assert class_names("DayBased") == f"{package}DayBasedCompactionStrategy"
    assert class_names(f"{package}UnBoundedCompactionStrategy, BoundedIO") == (
        f"{package}UnBoundedCompactionStrategy,{package}BoundedIOCompactionStrategy"
    )
    with pytest.raises(ValueError, match="did you mean 'DayBased'"):
        strategy_of("Daybased")
