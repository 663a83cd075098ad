"""Several compactors and what each may replace: no two of them ever hold the same file."""

import threading
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.replay.claims import Claim, Claims, claim_of, free_part
from strategies.iceberg.commands import METADATA_COMMANDS, Command
from strategies.plan import Compact, FileGroup, Native, Plan, Reason, Rewrite
from strategies.state import DataFile, DeleteFile, TableState

PARTITIONS = ("city=Oslo", "city=Rome", "city=Lima")
FILES = {f"{place}/{number}": place for place in PARTITIONS for number in range(3)}
DELETES = {f"{place}/delete": place for place in PARTITIONS}
ROLES = ("compactor-1", "compactor-2", "compactor-3")
TABLE = TableState(
    0,
    1,
    data_files=[DataFile(path, 1, 1, place) for path, place in FILES.items()],
    delete_files=[DeleteFile(path, 1, 1, place) for path, place in DELETES.items()],
)
NATIVE = Native(Command.REWRITE_DATA_FILES)
OF_METADATA = Native(Command.REWRITE_MANIFESTS)


@st.composite
def rewrites(draw):
    """Groups of files, none named twice, and delete files to drop."""
    free, groups = list(FILES), []
    for place in draw(st.lists(st.sampled_from(PARTITIONS), max_size=4)):
        of_place = [path for path in free if FILES[path] == place]
        if of_place:
            chosen = draw(st.lists(st.sampled_from(of_place), min_size=1, unique=True))
            cut = draw(st.integers(0, len(chosen)))
            groups.append(FileGroup(tuple(chosen[:cut]), place, tuple(chosen[cut:])))
            free = [path for path in free if path not in chosen]
    dropped = draw(
        st.lists(st.sampled_from(list(DELETES)), unique=True, min_size=int(not groups), max_size=2)
    )
    return Rewrite(tuple(groups), 1, tuple(dropped))


COMPACTS = st.one_of(
    st.none(), st.lists(st.sampled_from((*PARTITIONS, "")), min_size=1, unique=True).map(tuple)
).map(Compact)
ACTIONS = rewrites() | COMPACTS | st.sampled_from([NATIVE, OF_METADATA])
PLANS = st.lists(ACTIONS, min_size=1, max_size=3).map(lambda actions: plan(*actions))


def plan(*actions):
    return Plan(actions, Reason.SCHEDULED)


def rewrite(*paths, drops=()):
    """A group for each partition that the paths are in."""
    places = dict.fromkeys(FILES[path] for path in paths)
    groups = (FileGroup(tuple(p for p in paths if FILES[p] == place), place) for place in places)
    return Rewrite(tuple(groups), 1, drops)


def may_replace(actions):
    """The data files that actions may replace, and the delete files that a rewrite names, by hand."""
    for action in actions:
        if isinstance(action, Rewrite):
            yield from action.keys
        elif isinstance(action, Native):
            yield from () if action == OF_METADATA else FILES
        else:
            everything = action.partitions is None or "" in action.partitions
            yield from (path for path, place in FILES.items() if everything or place in action.partitions)


@given(st.lists(st.tuples(st.sampled_from(ROLES), PLANS | st.none()), max_size=12))
def test_no_two_compactors_ever_hold_the_same_file(steps):
    held = {}
    with TemporaryDirectory() as folder:
        for role, planned in steps:
            claims = Claims(Path(folder), role, METADATA_COMMANDS)
            if planned is None:
                claims.release()
                held.pop(role, None)
            elif role not in held:
                taken = claims.take(planned, 0)
                others = [set(may_replace(actions)) for actions in held.values()]
                wanted = set(may_replace(planned.actions))
                if taken is not None:
                    held[role] = taken.actions
                    assert set(may_replace(taken.actions)) <= wanted
                    assert not any(set(may_replace(taken.actions)) & other for other in others)
                if not any(others):
                    assert taken == planned
            assert {pending.role for pending in claims.others()} == held.keys() - {role}


@given(PLANS, PLANS)
def test_a_claim_covers_what_its_plan_may_replace_and_overlapping_is_mutual(one, other):
    first, second = (claim_of(planned.actions, METADATA_COMMANDS) for planned in (one, other))
    assert first.keys_in(TABLE) >= set(may_replace(one.actions))
    assert first.overlaps(second) == second.overlaps(first)
    assert bool(first) == first.overlaps(first)


@given(st.lists(rewrites(), min_size=1, max_size=2), rewrites())
def test_a_plan_that_is_free_stays_as_it_is_and_a_reduced_one_keeps_whole_groups(actions, other):
    planned, taken = plan(*actions), claim_of([other], METADATA_COMMANDS)
    left = free_part(planned, taken, METADATA_COMMANDS)
    if not claim_of(actions, METADATA_COMMANDS).overlaps(taken):
        assert left is planned
        return
    groups = [group for action in actions for group in action.groups]
    kept = [group for action in (left.actions if left else ()) for group in action.groups]
    assert kept == [group for group in groups if not {*group.paths, *group.convert_paths} & set(other.keys)]


def test_a_rewrite_is_reduced_to_its_free_groups_and_then_drops_no_delete_file():
    """A group that is left out may still need the delete file."""
    planned = plan(rewrite("city=Oslo/0", "city=Rome/0", "city=Rome/1", drops=("city=Oslo/delete",)))
    taken = claim_of([rewrite("city=Rome/1")], ())
    assert free_part(planned, taken, ()) == plan(rewrite("city=Oslo/0"))


def test_a_command_on_the_table_needs_all_of_it_and_one_on_metadata_nothing():
    taken = claim_of([rewrite("city=Oslo/0")], METADATA_COMMANDS)
    assert free_part(plan(NATIVE), taken, METADATA_COMMANDS) is None
    assert free_part(plan(NATIVE, OF_METADATA), taken, METADATA_COMMANDS) is None
    assert free_part(plan(OF_METADATA), Claim(is_of_table=True), METADATA_COMMANDS) == plan(OF_METADATA)
    everything = claim_of([NATIVE], METADATA_COMMANDS)
    assert free_part(plan(rewrite("city=Rome/0")), everything, METADATA_COMMANDS) is None


def test_partitions_are_taken_one_by_one():
    planned = plan(Compact(PARTITIONS, {"min-input-files": "2"}))
    taken = claim_of([rewrite("city=Oslo/0"), Compact(("city=Lima",))], ())
    assert free_part(planned, taken, ()) == plan(Compact(("city=Rome",), {"min-input-files": "2"}))
    assert free_part(plan(rewrite("city=Lima/2")), taken, ()) is None


@pytest.mark.parametrize(
    ("claimed", "keys"),
    [
        (rewrite("city=Oslo/0"), {"city=Oslo/0"}),
        (Compact(("city=Oslo",)), {path for path in (*FILES, *DELETES) if path.startswith("city=Oslo/")}),
        (NATIVE, {*FILES, *DELETES}),
        (OF_METADATA, set()),
    ],
)
def test_planners_see_the_files_of_a_pending_plan(tmp_path, claimed, keys):
    claims = Claims(tmp_path, "compactor-1", METADATA_COMMANDS)
    claims.take(plan(claimed), 60_000)
    (pending,) = replace(claims, role="compactor-2").others()
    seen = pending.seen_in(TABLE)
    assert (seen.paths, seen.role, seen.scheduled_at_ms) == (keys, "compactor-1", 60_000)


def test_of_many_that_ask_at_once_one_gets_the_table(tmp_path):
    got, ready = [], threading.Barrier(8)

    def ask(number):
        ready.wait()
        got.append(Claims(tmp_path, f"compactor-{number}", ()).take(plan(NATIVE), 0))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(got, key=lambda taken: taken is None) == [plan(NATIVE), *[None] * 7]
