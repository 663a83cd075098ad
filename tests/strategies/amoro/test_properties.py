"""What holds of every Amoro plan, whatever the table."""

from dataclasses import replace

from amoro_tables import amoro, applied, data, equality, position, rewrite_of, table, tasks
from delete_rule import applies
from hypothesis import given
from hypothesis import strategies as st

from strategies.plan import check_plan

CAPACITY = 128
PARTITIONS = st.sampled_from(["", "p=a", "p=b"])
SIZES = st.integers(1, 20) | st.sampled_from([16, 17, 64, 96, 97, 128]) | st.integers(1, 300)
NUMBERS = st.integers(1, 4)


@st.composite
def tables(draw, deletes=True, sizes=SIZES):
    shapes = draw(st.lists(st.tuples(sizes, PARTITIONS, NUMBERS, st.integers(1, 50)), max_size=25))
    live_files = [data(f"f{n:02}", size, p, rows, at) for n, (size, p, at, rows) in enumerate(shapes)]
    if not deletes:
        return table(live_files)
    names = st.none() | st.sampled_from([f.path for f in live_files] or ["gone"])
    made = draw(st.lists(st.tuples(st.booleans(), PARTITIONS, NUMBERS, names, st.booleans()), max_size=8))
    partition_of = {f.path: f.partition for f in live_files}
    deletes = []
    for n, (is_equality, p, at, named, is_own) in enumerate(made):
        if is_equality:
            deletes.append(equality(f"e{n}", p, at=at))
        else:
            path = f"{named}-delete-{n}" if is_own else f"d{n}"
            deletes.append(position(path, named, partition_of.get(named, p), at=at))
    return table(live_files, deletes)


PLANNERS = st.builds(
    amoro,
    threads=st.integers(1, 3),
    budget=st.integers(1, 400),
    partitions=st.integers(1, 3),
    minor__trigger__file_count=st.integers(1, 8),
    minor__trigger__interval=st.sampled_from([-1, 0]),
    full__trigger__interval=st.sampled_from([-1, 0]),
    full__rewrite_all_files=st.booleans(),
    evaluation__fallback_interval=st.sampled_from([-1, 0]),
)


@given(tables(), PLANNERS)
def test_plans_keep_the_contract_and_the_size_of_a_task(state, planner):
    plan = planner.decide(state).plan
    if plan is None:
        return
    check_plan(state, plan)
    sizes = {file.path: file.size_bytes for file in state.data_files}
    for group in rewrite_of(plan).groups:
        own = [sizes[path] for path in (*group.paths, *group.convert_paths)]
        assert sum(own) <= CAPACITY or len(own) == 1


@given(tables(), PLANNERS)
def test_deletes_go_when_no_file_left_alone_in_a_chosen_partition_has_them(state, planner):
    # The reserved set is one partition's.
    plan = planner.decide(state).plan
    if plan is None:
        return
    taken = {path for group in rewrite_of(plan).groups for path in (*group.paths, *group.convert_paths)}
    expected = set()
    for name in {group.partition for group in rewrite_of(plan).groups}:
        own = [file for file in state.data_files if file.partition == name]
        for delete in state.delete_files:
            hit = [file.path in taken for file in own if applies(delete, file)]
            if hit and all(hit):
                expected.add(delete.path)
    assert set(rewrite_of(plan).removed_deletes) == expected


@given(tables(), PLANNERS, st.randoms(use_true_random=False))
def test_plans_and_scores_do_not_depend_on_the_order_of_a_listing(state, planner, random):
    shuffled = replace(
        state,
        data_files=tuple(random.sample(state.data_files, len(state.data_files))),
        delete_files=tuple(random.sample(state.delete_files, len(state.delete_files))),
    )
    assert planner.decide(shuffled) == planner.decide(state) == planner.decide(replace(state))


@given(tables(), st.integers(1, 12), st.integers(0, 12))
def test_a_higher_trigger_count_gives_no_more_tasks(state, count, more):
    low = tasks(amoro(budget=10**9, minor__trigger__file_count=count).decide(state).plan) or []
    high = tasks(amoro(budget=10**9, minor__trigger__file_count=count + more).decide(state).plan) or []
    assert len(high) <= len(low)
    assert [task for task in low if task in high] == high


@given(tables(deletes=False, sizes=st.integers(1, 16)), st.integers(1, 4))
def test_a_second_look_at_fragments_merged_finds_nothing_to_do(state, count):
    # First fit leaves every task but the last of a partition fuller than 128 - 16, which is above 96.
    planner = amoro(budget=10**9, min_plan_interval=0, minor__trigger__file_count=count)
    plan = planner.decide(state).plan
    if plan is not None:
        assert planner.decide(applied(state, plan)).plan is None


@given(tables(deletes=False), st.integers(1, 4), st.sampled_from([-1, 0]))
def test_without_deletes_every_plan_leaves_fewer_files(state, count, full):
    # So planning ends, as long as a task writes one file below the target and tasks are no larger: see
    # test_tasks.py for those that loop.
    planner = amoro(
        budget=10**9, min_plan_interval=0, minor__trigger__file_count=count, full__trigger__interval=full
    )
    for _ in range(len(state.data_files) + 1):
        plan = planner.decide(state).plan
        if plan is None:
            return
        after = applied(state, plan, at_ms=state.observed_at_ms + 1000)
        assert len(after.data_files) < len(state.data_files)
        state = after
    raise AssertionError("planning does not end")


@given(tables(), PLANNERS)
def test_scores_are_within_their_bounds(state, planner):
    figures = planner.decide(state).figures
    assert 0 <= figures["health_small_files"] <= 40
    assert 0 <= figures["health_equality_deletes"] <= 40
    assert 0 <= figures["health_position_deletes"] <= 20
