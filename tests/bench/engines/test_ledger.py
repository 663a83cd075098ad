from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.engines.contract import LOAD_STEP, Tag, Ticket, TicketId, Version
from bench.engines.iceberg.ledger import iceberg_ledger
from bench.engines.ledger import HISTORY_LIMIT, Ledger, pending_plan
from bench.results.values import NO_COST, Change
from strategies.iceberg.files import DeleteKind, IcebergDeleteFile, IcebergState
from strategies.plan import Compact, FileGroup, Plan, Reason, Rewrite
from strategies.preview import NoPreview, PlanPreview, Preview, RewriteGroup
from strategies.state import DataFile, DeleteFile, PartitionStats, TableState

PATHS = st.sampled_from([f"file-{number}" for number in range(12)])
PARTITIONS = st.sampled_from(["", "city=Oslo", "city=Rome"])
SIZES = st.integers(0, 2**40)


def data(path, size_bytes=1, rows=1, partition=""):
    return DataFile(path, size_bytes, rows, partition)


def delete(path, size_bytes=1, rows=1, partition=""):
    return DeleteFile(path, size_bytes, rows, partition)


@pytest.fixture
def ledger():
    """A ledger of no format in particular."""
    return Ledger(TableState, 100, {})


FILES = st.builds(data, PATHS, SIZES, SIZES, PARTITIONS) | st.builds(delete, PATHS, SIZES, SIZES, PARTITIONS)


def summed(files):
    """Sums per partition, counted over all files again."""
    sums = {}
    for partition in {f.partition for f in files}:
        own = [f for f in files if f.partition == partition]
        by_kind = [[f for f in own if isinstance(f, kind)] for kind in (DataFile, DeleteFile)]
        figures = [(len(fs), sum(f.size_bytes for f in fs), sum(f.rows for f in fs)) for fs in by_kind]
        sums[partition] = PartitionStats(*figures[0], *figures[1])
    return sums


LIVE = st.lists(FILES, unique_by=lambda file: file.path).map(lambda files: {f.path: f for f in files})


@given(first=LIVE, then=LIVE)
def test_a_ledger_follows_the_live_files_those_known_otherwise_included(first, then):
    ledger = Ledger(TableState, 100, {})
    ledger.follow(first, 0)
    ledger.follow(then, 60_000)
    assert {**ledger.data_files, **ledger.delete_files} == then
    assert ledger.state(0).partitions == summed(then.values())


@given(steps=st.lists(FILES))
def test_sums_equal_those_over_the_live_files_after_any_steps(steps):
    ledger, live = Ledger(TableState, 100, {}), {}
    for file in steps:  # a path that is live already is removed, any other added
        if file.path in live:
            ledger.remove([file.path])
            del live[file.path]
        else:
            ledger.add([file], 0)
            live[file.path] = file
        state = ledger.state(0)
        assert dict(state.partitions) == summed(live.values())
        assert Counter(state.data_files) == Counter(f for f in live.values() if isinstance(f, DataFile))
        assert Counter(state.delete_files) == Counter(f for f in live.values() if isinstance(f, DeleteFile))
        assert state.size_bytes == sum(f.size_bytes for f in live.values())


@pytest.mark.parametrize("second", [data, delete])
def test_a_path_that_is_live_is_refused(ledger, second):
    ledger.add([data("a", 5), delete("b", 7)], 0)
    before = dict(ledger.state(0).partitions)
    for path in ("a", "b"):
        with pytest.raises(ValueError, match=f"{path} is already in the table"):
            ledger.add([second(path)], 0)
    assert dict(ledger.state(0).partitions) == before


def test_deletion_vectors_of_one_puffin_file_are_told_apart():
    ledger = iceberg_ledger(100, {})
    vectors = [
        IcebergDeleteFile("v.puffin", 5, 1, referenced_data_file=path, kind=DeleteKind.DELETION_VECTOR)
        for path in "ab"
    ]
    ledger.add(vectors, 0)
    assert ledger.state(0).partitions[""].delete_files_count == 2
    with pytest.raises(ValueError, match="is already in the table"):
        ledger.add(vectors[:1], 0)
    ledger.remove([vectors[0].key])
    assert list(ledger.state(0).delete_files) == vectors[1:]


def test_a_state_has_the_partition_spec_of_new_files():
    states = [iceberg_ledger(100, {}).state(0), iceberg_ledger(100, {}, 3).state(0)]
    assert [(type(state), state.spec_id) for state in states] == [(IcebergState, 0), (IcebergState, 3)]


def test_a_path_that_is_not_live_cannot_go(ledger):
    ledger.add([data("a")], 0)
    with pytest.raises(KeyError):
        ledger.remove(["b"])
    assert list(ledger.data_files) == ["a"]


def test_the_commits_of_a_history_are_bounded_and_their_total_is_not(ledger):
    for number in range(HISTORY_LIMIT + 3):
        tag = Tag("writer", f"commit-{number}", 1000 * number, 1)
        ledger.saw_versions([Version(str(number), "append", Change(1, added_bytes=1), tag)])
    state = ledger.state(0)
    assert len(state.commits) == HISTORY_LIMIT
    assert state.commits[0].at_ms == 3000  # the oldest three are gone
    assert state.commits_total_count == HISTORY_LIMIT + 3


def test_a_pending_plan_holds_every_file_it_names():
    action = Rewrite((FileGroup(("a",), "", ("b",)),), 1, ("d",))
    nothing = Preview(())
    ticket = Ticket(TicketId(1), Plan((action,), Reason.OTHER), PlanPreview(None, (nothing,)), 0, 60_000)
    assert pending_plan(ticket).paths == {"a", "b", "d"}


def test_a_pending_command_holds_the_files_its_preview_replaces():
    group = RewriteGroup("", (data("a", 5), data("b", 7)), 0, 0, 100, 1, ())
    shown = PlanPreview("v1", (Preview((group,)), NoPreview("of another action")))
    ticket = Ticket(TicketId(1), Plan((Compact(), Compact()), Reason.OTHER), shown, 0, 60_000)
    assert pending_plan(ticket).paths == {"a", "b"}


def test_only_commits_of_the_stream_are_its_history_and_the_last_version_is_the_states(ledger):
    written = [Tag("writer", LOAD_STEP, 0, 60), Tag("writer", "commit-1", 60_000, 40)]
    for number, tag in enumerate([*written, None, Tag("compactor", "compaction-1", 60_000)]):
        ledger.saw_versions([Version(f"v{number}", "any", Change(number, added_bytes=10 * number), tag)])
    ledger.saw_versions([Version(None, "metadata", Change(metadata_bytes=5))])
    state = ledger.state(60_000)
    assert [(c.at_ms, c.files_count, c.size_bytes, c.rows) for c in state.commits] == [(60_000, 1, 10, 40)]
    assert (state.commits_total_count, state.version) == (1, "v3")


@pytest.mark.parametrize(
    "tag", [Tag("writer", "commit-7", 420_000, 80), Tag("compactor-2", "compaction-2", 0)]
)
def test_a_tag_is_read_as_it_was_written(tag):
    assert Tag.parse(str(tag)) == tag


@pytest.mark.parametrize(
    "text",
    [
        "", "writer/commit-1/5", "reader//x/1", "nobody/commit-1/5/1", "a/b/1/2/3", "writer/commit-1//5",
        "writer/commit-1/5/", "writers/commit-1/5/1", "writer-/commit-1/5/1",
    ],
)  # fmt: skip
def test_what_others_write_is_no_tag(text):
    assert Tag.parse(text) is None


def test_a_state_is_a_view_nobody_can_change():
    properties = {"a": "1"}
    ledger = Ledger(TableState, 100, properties)
    state = ledger.state(30_000)
    properties["a"] = "2"
    assert (state.observed_at_ms, state.target_file_size_bytes, state.properties["a"]) == (30_000, 100, "1")
    for mapping in (state.partitions, state.properties, ledger.data_files, ledger.delete_files):
        with pytest.raises(TypeError):
            mapping["x"] = None


def observed_table(ledger):
    return ledger.observation(NO_COST, 0, 0).table


def test_a_format_counts_its_own_delete_files_and_a_zero_is_a_count(ledger):
    assert observed_table(ledger).equality_files_count is None
    ledger = iceberg_ledger(100, {})
    assert observed_table(ledger).equality_files_count == 0
    kinds = {"e": DeleteKind.EQUALITY, "f": DeleteKind.EQUALITY, "p": DeleteKind.POSITION}
    ledger.add([IcebergDeleteFile(path, 1, 1, kind=kind) for path, kind in kinds.items()], 0)
    assert observed_table(ledger).equality_files_count == 2
    ledger.remove(["e", "p"])
    assert observed_table(ledger).equality_files_count == 1


def added(ledger):
    state = ledger.state(0)
    return {file.path: file.added_at_ms for file in (*state.data_files, *state.delete_files)}


def test_a_file_keeps_its_time_when_it_is_read_again_or_described_otherwise(ledger):
    ledger.add([data("a"), data("b"), delete("d")], 60_000)
    read = [data("a"), data("b", rows=2), data("c"), delete("d", rows=2), delete("e")]
    ledger.follow({file.path: file for file in read}, 120_000)
    assert added(ledger) == {"a": 60_000, "b": 60_000, "c": 120_000, "d": 60_000, "e": 120_000}
    assert ledger.data_files["b"].rows == 2


def test_without_a_time_files_keep_their_own(ledger):
    timed = [DataFile("a", 1, 1, added_at_ms=30_000), DeleteFile("d", 1, 1, added_at_ms=40_000)]
    ledger.add([*timed, data("b"), delete("e")], None)
    assert added(ledger) == {"a": 30_000, "b": None, "d": 40_000, "e": None}


def test_states_of_one_version_derive_a_value_once_and_after_any_change_anew(ledger):
    computed_for = []

    def total_bytes(files):
        computed_for.append(len(files))
        return sum(file.size_bytes for file in files)

    def derived(at_ms=0):
        state = ledger.state(at_ms)
        return state.derived(total_bytes, state.data_files)

    ledger.follow({"a": data("a", 1), "b": data("b", 2)}, 0)
    assert [derived(), derived(60_000)] == [3, 3]
    ledger.follow({"a": data("a", 1), "b": data("b", 2)}, 60_000)  # a version of the same files
    assert (derived(), computed_for) == (3, [2])
    ledger.remove(["a"])
    assert derived() == 2
    ledger.add([data("c", 5)], 60_000)
    assert derived() == 7
    ledger.follow({"b": data("b", 3), "c": data("c", 5)}, 120_000)
    assert derived() == 8
    assert computed_for == [2, 1, 2, 2]


def test_an_observation_names_the_partitions_that_were_rewritten_since_the_last_one(ledger):
    ledger.add([data(name, partition=f"p={name}") for name in "abc"], 0)
    assert ledger.observation(NO_COST, 0, 0).rewritten == frozenset()
    ledger.remove(["a", "c"])
    ledger.add([data("d", partition="p=a")], 1)
    rewritten = [ledger.observation(NO_COST, 0, 0).rewritten for _ in range(2)]
    assert rewritten == [{"p=a", "p=c"}, frozenset()]


def test_an_observation_knows_how_long_the_oldest_delete_file_has_waited(ledger):
    assert observed_table(ledger).oldest_delete_at_ms is None
    ledger.add([delete("a")], 60)
    ledger.add([delete("b")], 120)
    ledger.follow({"a": delete("a", 2), "b": delete("b")}, 180)  # its description changes, not its age
    assert observed_table(ledger).oldest_delete_at_ms == 60
    ledger.remove(["a"])
    assert observed_table(ledger).oldest_delete_at_ms == 120


def test_an_observation_has_the_bytes_of_files_by_partition(ledger):
    ledger.add([data("x", 30, partition="p=1"), data("y", partition="p=3")], 0)
    deletes = (("a", 5, "p=1"), ("b", 7, "p=1"), ("c", 1, "p=2"))
    ledger.add([delete(path, size_bytes, partition=name) for path, size_bytes, name in deletes], 0)
    table = observed_table(ledger)
    assert table.delete_bytes_by_partition == {"p=1": 12, "p=2": 1}
    assert table.data_bytes_by_partition == {"p=1": 30, "p=2": 0, "p=3": 1}
