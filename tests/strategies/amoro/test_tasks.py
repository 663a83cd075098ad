import pytest
from amoro_tables import amoro, applied, data, equality, files, position, ran, rewrite_of, table, tasks

from strategies.plan import Reason, check_plan

ALWAYS = {"minor__trigger__file_count": 1}
FULL = {"full__trigger__interval": 0}
NOW = {"min_plan_interval": 0}


def plan_of(*items, threads=1, budget=10**9, **options):
    """A plan, which keeps the contract; None for no plan."""
    state = table(*items)
    plan = amoro(threads, budget, **options).decide(state).plan
    if plan is not None:
        check_plan(state, plan)
    return plan


def planned(*items, **options):
    return tasks(plan_of(*items, **options))


def removed(*items, **options):
    """The delete files a plan drops."""
    return list(rewrite_of(plan_of(*items, **options)).removed_deletes)


# Tasks of one partition.
def test_fragments_of_a_partition_are_one_task_by_path():
    items = [data("b", 5), data("a", 16), data("c", 1)]
    assert planned(items, **ALWAYS) == [(["a", "b", "c"], [])]


def test_files_are_packed_first_fit_by_path_to_the_brim():
    # By hand: a 60, b 60 | c 20 does not fit (140), d 8 goes back to the first: 128. e 96 beside c.
    items = [data("a", 60), data("b", 60), data("c", 20), data("d", 8), data("e", 96), data("f", 13)]
    assert planned(items, **FULL) == [(["a", "b", "d"], []), (["c", "e"], [])]  # f alone is dropped
    assert planned([data("a", 60), data("b", 60), data("c", 9)], **FULL) == [(["a", "b"], [])]


def test_a_task_takes_more_than_the_target_when_told():
    # The bin is max(target-size, max-task-size-bytes).
    items = [data("a", 60), data("b", 60), data("c", 20)]
    assert planned(items, max_task_size_bytes=140, **FULL) == [(["a", "b", "c"], [])]
    assert planned(items, max_task_size_bytes=139, **FULL) == [(["a", "b"], [])]
    assert planned(items, max_task_size_bytes=0, **FULL) == [(["a", "b"], [])]


def test_bytes_of_deletes_are_not_weighed():
    items = [data("a", 64), data("b", 64), position("d", "a", size=999)]
    assert planned(items, **FULL) == [(["a", "b"], [])]


def test_a_file_larger_than_a_task_has_one_of_its_own():
    items = [data("a", 300), position("d", "a", rows=11), *files(1, 1)]
    assert planned(items) == [(["a"], []), (["f00", "f01"], [])]


def test_a_minor_plan_merges_undersized_files_too():
    # Bins of undersized files are formed whatever the kind.
    items = [*files(*[1] * 12), data("u1", 40), data("u2", 60)]
    fragments = [f"f{n:02}" for n in range(12)]
    assert planned(items) == [(["u1", "u2"], []), (fragments, [])]


def test_undersized_files_and_fragments_are_mixed_only_in_a_full_plan():
    items = [data("f1", 10), data("f2", 10), data("u", 50)]
    assert planned(items, **ALWAYS) == [(["f1", "f2"], [])]
    assert planned(items, **FULL) == [(["f1", "f2", "u"], [])]


def test_a_full_plan_does_not_rewrite_clean_files_that_find_no_other():
    # Each is a bin of one file without deletes.
    assert planned(data("a", 100), data("b", 100), **FULL) is None
    assert planned(data("a", 100), data("b", 28), **FULL) == [(["a", "b"], [])]


def test_a_lone_file_is_rewritten_when_it_has_deletes():
    assert planned(data("a", 5), **ALWAYS) is None
    assert planned(data("a", 5), position("d", "a", rows=1), **ALWAYS) == [(["a"], [])]
    assert planned(data("a", 5), equality("d"), **ALWAYS) == [(["a"], [])]


def test_deletes_of_target_files_are_converted_beside_the_rewrites():
    # rewriteData ++ rewritePos in one packing; 10 + 97 fit a task of 128.
    items = [data("a", 97), position("d", "a", rows=1), data("f", 10)]
    assert planned(items, **ALWAYS) == [(["f"], ["a"])]


def test_rewrites_are_packed_before_conversions():
    # By hand: 30 + 31, then 97 does not fit; the other way round 97 + 30 would.
    segments = [data("r1", 30), data("r2", 31), position("d1", "r1", rows=11), position("d2", "r2", rows=11)]
    items = [data("a", 97), position("d", "a", rows=1), *segments]
    assert planned(items) == [(["r1", "r2"], []), ([], ["a"])]


def test_a_conversion_alone_is_a_task():
    items = [data("t", 97), equality("e"), equality("e2")]
    assert planned(items, minor__trigger__interval="1h") == [([], ["t"])]


def test_an_undersized_file_left_alone_has_its_deletes_converted():
    # len < 2 -> shouldRewritePos(f) ? rewritePos : reserve.
    items = [data("u", 50), equality("e"), equality("e2")]
    assert planned(items, minor__trigger__file_count=2) == [([], ["u"])]


def test_an_undersized_file_left_alone_without_foreign_deletes_is_left():
    items = [data("u", 50), position("u-delete-1", "u", rows=1), *files(1, 1)]
    assert planned(items, **ALWAYS) == [(["f00", "f01"], [])]
    assert removed(*items, **ALWAYS) == []


# Deletes.
def test_deletes_that_nothing_else_needs_are_removed():
    deletes = [equality("e"), position("d", "g", rows=1), position("x", "t", rows=1)]
    assert removed(data("f", 1), data("g", 1), *deletes, **ALWAYS) == ["d", "e"]


def test_an_equality_delete_is_removed_when_every_file_it_hits_is_rewritten_or_converted():
    items = [data("f", 1), data("t", 97), data("u", 90), equality("e")]
    assert planned(*items, **ALWAYS) == [(["f"], ["t"]), ([], ["u"])]
    assert removed(*items, **ALWAYS) == ["e"]


def test_deletes_of_files_left_alone_are_reserved():
    # The delete file is of the whole partition, Amoro's own for t by its name, and hits f and g as well.
    items = [data("t", 97), data("f", 1), data("g", 1), position("t-delete-1", rows=1)]
    assert planned(*items, **ALWAYS) == [(["f", "g"], [])]
    assert removed(*items, **ALWAYS) == []


def test_deletes_of_an_undersized_file_left_alone_are_reserved():
    items = [data("u", 90), data("f", 1), data("g", 1), position("u-delete-1", rows=1)]
    assert removed(*items, **ALWAYS) == []
    merged = [*items, data("v", 30)]
    assert removed(*merged, **ALWAYS) == ["u-delete-1"]


def test_an_equality_delete_of_all_partitions_is_removed_though_another_partition_needs_it():
    # The correctness trap: the reserved set is one partition's, and p=2 is over the budget.
    items = [*files(16, 16, partition="p=1"), *files(1, 1, partition="p=2"), equality("e", size=1)]
    options = {"minor__trigger__file_count": 2, "budget": 1}
    assert planned(*items, **options) == [(["p=1f00", "p=1f01"], [])]
    assert removed(*items, **options) == ["e"]


def test_no_equality_delete_of_a_chosen_partition_is_reserved():
    # A file with one is a fragment, merged or converted; it is never left alone.
    items = [data("f", 1), data("u", 50), data("v", 90), data("t", 97), data("c", 97, at=9), equality("e")]
    assert planned(*items, **ALWAYS) == [(["f"], ["t"]), ([], ["u"]), ([], ["v"])]
    assert removed(*items, **ALWAYS) == ["e"]


# Which partitions. Two fragments of 10: 2 x 20 + 2 x 4 = 48; of 12: 56.
def four_partitions():
    return [file for name in "dbca" for file in files(10, 10, partition=f"p={name}")]


def partitions_of(planned_tasks):
    return [paths[0][2] for paths, _ in planned_tasks]


@pytest.mark.parametrize(
    ("budget", "threads", "expected"),
    [
        (1, 1, "b"),
        (47, 1, "b"),
        (48, 1, "ba"),
        (95, 1, "ba"),
        (96, 1, "bad"),
        (48, 2, "bad"),
        (10**6, 1, "badc"),
    ],
)
def test_partitions_are_taken_up_to_the_first_above_the_budget(budget, threads, expected):
    # Stop after the first that makes acc > maxInput, that one included. In Java's HashMap: b a d c.
    chosen = planned(four_partitions(), budget=budget, threads=threads, **ALWAYS)
    assert partitions_of(chosen) == list(expected)


def test_the_most_expensive_partition_comes_first():
    items = [*four_partitions(), *files(12, 12, partition="p=z")]
    assert partitions_of(planned(items, budget=1, **ALWAYS)) == ["z"]


def test_one_partition_more_is_taken_as_long_as_there_is_no_task():
    # Upstream #3546: FULL of one clean file yields none. a costs 2 x 120 + 4 = 244, b 242, c and d 48.
    clean = [data("p=a0", 120, "p=a"), data("p=b0", 119, "p=b")]
    fragments = [*files(10, 10, partition="p=c"), *files(10, 10, partition="p=d")]
    for budget, expected in ((1, "d"), (485, "d"), (486, "d"), (533, "d"), (534, "dc")):
        chosen = planned(*clean, *fragments, budget=budget, **FULL)
        assert partitions_of(chosen) == list(expected), budget
    assert planned(*clean, budget=1, **FULL) is None


def test_equally_expensive_partitions_come_in_the_order_of_the_last_hash_map():
    # Java 11: computeIfAbsent has them as b a d c z in 16 buckets; toMap and putAll, in 8, as b z a d c.
    assert partitions_of(planned(four_partitions(), files(10, 10, partition="p=z"), **ALWAYS)) == list(
        "bzadc"
    )


def test_at_most_the_first_partitions_of_the_hash_map_are_pending():
    # max-pending-partition-count, in the order b a d c z.
    items = [four_partitions(), files(12, 12, partition="p=z")]
    assert partitions_of(planned(*items, partitions=2, **ALWAYS)) == ["b", "a"]
    assert partitions_of(planned(*items, partitions=5, **ALWAYS)) == list("zbadc")


def planned_partitions(*items, **options):
    return {group.partition for group in rewrite_of(plan_of(*items, **options)).groups}


def test_files_of_specs_without_the_columns_of_a_pending_partition_are_planned_too():
    # IcebergTableUtil.createOptimizingPlanner: the filter is on the pending partition's columns alone. In
    # Java's order p=b/q=2 is the first, so it alone is pending: what has another p or q is left out.
    names = ("p=a", "p=b", "p=a/q=2", "p=b/q=2", "q=1", "r=1")
    items = [files(10, 10, partition=name) for name in names]
    assert planned_partitions(*items, partitions=1, **ALWAYS) == {"p=b", "p=b/q=2", "r=1"}
    assert planned_partitions(*items, **ALWAYS) == set(names)


def test_a_pending_table_without_partitions_lets_all_others_through():
    # Its condition is true of every file. "" is the first of the map, with a hash of 0.
    items = [files(10, 10, partition="p=a"), files(10, 10, partition="p=b")]
    assert planned_partitions(files(10, 10), *items, partitions=1, **ALWAYS) == {"", "p=a", "p=b"}
    assert planned_partitions(*items, partitions=1, **ALWAYS) == {"p=b"}


def test_null_and_the_text_null_count_together_and_are_written_apart():
    # Six fragments each are twelve of one partition to Amoro. The pending q=1, of a spec without p, lets both
    # through; they are one task there, and two groups here, as a group is of one partition.
    counts = {"p=null": 6, "p=%6Eull": 6, "q=1": 12}
    plan = plan_of(*(files(*[1] * count, partition=name) for name, count in counts.items()), budget=512)
    assert {group.partition: len(group.paths) for group in rewrite_of(plan).groups} == counts


def test_of_null_and_the_text_null_the_one_scanned_first_is_pending():
    # AbstractOptimizingEvaluator keeps the partition of the first file, by path "p=%6..." here. With six
    # of its own files too few, what was found necessary together is not planned.
    items = [files(*[1] * 6, partition="p=null"), files(*[1] * 6, partition="p=%6Eull")]
    assert planned_partitions(*items, minor__trigger__file_count=6) == {"p=%6Eull"}
    assert plan_of(*items, minor__trigger__file_count=7) is None


def test_each_partition_of_a_plan_follows_its_own_files_and_the_strongest_kind_names_it():
    # Max over partitions. p=2 costs more: 2 x 128 + 8 = 264 against 48.
    small = files(10, 10, partition="p=1")
    plan, alone = plan_of(small, files(64, 64, partition="p=2"), **ALWAYS), plan_of(small, **ALWAYS)
    assert (plan.kind, plan.reason) == ("major", Reason.SIZE)
    assert partitions_of(tasks(plan)) == ["2", "1"]
    assert (alone.kind, alone.reason) == ("minor", Reason.SMALL_FILES)


def test_the_reason_is_that_of_the_strongest_kind_not_of_the_largest_partition():
    # By hand: 60 fragments of 10 cost 2 x 600 + 240, the two undersized files 264.
    plan = plan_of(files(*[10] * 60, partition="p=1"), files(64, 64, partition="p=2"))
    assert partitions_of(tasks(plan))[0] == "1"
    assert (plan.kind, plan.reason) == ("major", Reason.SIZE)


# What really loops.
def test_a_task_that_writes_as_many_files_as_it_read_is_planned_for_ever():
    # Upstream #3855, open: 58 + 70 are the target exactly, so the writer may roll, and where its
    # estimate is high it does, early. Two files come out as two went in.
    state, planner = table(data("a", 58), data("b", 70)), amoro(**NOW)
    for round_number in range(3):
        plan = planner.decide(state).plan
        (group,) = rewrite_of(plan).groups
        assert (plan.kind, len(group.paths)) == ("major", 2)
        made = [data(f"{name}{round_number}", size) for name, size in (("a", 58), ("b", 70))]
        state = table(made, ran=(ran("major", state.observed_at_ms),))


def test_tasks_larger_than_the_target_are_planned_for_ever_by_full():
    # By hand: 240 in one task of 256, rolled at 128: 128 + 112, which are one task again.
    planner = amoro(max_task_size_bytes=256, full__trigger__interval="1min", **NOW)
    state = table(data("a", 120), data("b", 120))
    for _ in range(3):
        plan = planner.decide(state).plan
        assert len(rewrite_of(plan).groups[0].paths) == 2
        state = applied(state, plan, at_ms=state.observed_at_ms + 61_000)
        assert sorted(file.size_bytes for file in state.data_files) == [112, 128]


def test_a_merge_of_fragments_may_complete_a_major_plan():
    # Not a loop: 12 x 2 become 24, undersized now, and 24 + 80 fit beside 90: 194 >= 128 >= 104.
    state = table(files(*[2] * 12), data("u", 80), data("v", 90))
    planner = amoro(**NOW)
    kinds = []
    while (plan := planner.decide(state).plan) is not None:
        kinds.append(plan.kind)
        state = applied(state, plan)
    assert kinds == ["minor", "major"]
    assert sorted(file.size_bytes for file in state.data_files) == [90, 104]


def test_a_conversion_leaves_nothing_to_plan():
    planner = amoro(minor__trigger__file_count=2, **NOW)
    plan = planner.decide(table(data("u", 50), equality("e"), equality("e2"))).plan
    assert rewrite_of(plan).removed_deletes == ("e", "e2")
    assert planner.decide(table(data("u", 50), position("u-delete-1", "u"))).plan is None
