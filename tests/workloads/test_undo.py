from dataclasses import replace

from histories import commit, data, positions
from hypothesis import given
from hypothesis import strategies as st

from workloads.recorded import Content
from workloads.undo import without_compactions


def undone(*commits):
    return list(without_compactions(commits))


def ids(files):
    return [file.id for file in files]


def test_commits_of_the_stream_stay_as_they_are():
    first, second = commit(1, [data(0)]), commit(2, [data(1)], [data(0)])
    assert undone(first, second) == [first, second]


def test_what_removes_the_output_of_a_compaction_removes_what_was_compacted():
    a, b, merged, last = data(0), data(1), data(2, rows=200), data(3)
    compaction = commit(3, [merged], [a, b], is_compaction=True)
    *_, change = undone(commit(1, [a]), commit(2, [b]), compaction, commit(4, [last], [merged]))
    assert (ids(change.added), ids(change.removed)) == ([3], [0, 1])


def test_compactions_of_compactions_lead_to_the_files_of_the_stream():
    a, b, c = data(0), data(1), data(2)
    first = commit(3, [data(3, rows=200)], [a, b], is_compaction=True)
    second = commit(5, [data(4, rows=300)], [*first.added, c], is_compaction=True)
    *_, change = undone(first, second, commit(6, [], second.added))
    assert ids(change.removed) == [0, 1, 2]


def test_inputs_are_shared_by_the_outputs_of_their_partition_in_order_of_their_rows():
    inputs = [data(n, rows=100, partition=p) for n, p in enumerate(("p=a", "p=a", "p=a", "p=b"))]
    outputs = [data(10, 200, partition="p=a"), data(11, 100, partition="p=a"), data(12, 100, partition="p=b")]
    compaction = commit(2, outputs, inputs, is_compaction=True)
    removals = [commit(3 + n, [], [output]) for n, output in enumerate(outputs)]
    assert [ids(change.removed) for change in undone(compaction, *removals)] == [[0, 1], [2], [3]]


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=8), st.lists(st.integers(0, 99), min_size=1, max_size=4)
)
def test_every_input_of_a_compaction_is_in_some_output(rows_in, rows_out):
    inputs = [data(n, rows) for n, rows in enumerate(rows_in)]
    outputs = [data(100 + n, rows) for n, rows in enumerate(rows_out)]
    compaction = commit(2, outputs, inputs, is_compaction=True)
    (change,) = undone(compaction, commit(3, [], outputs))
    assert sorted(ids(change.removed)) == ids(inputs)


def test_deletes_of_a_compacted_file_are_for_what_was_compacted():
    merged = data(2, rows=200)
    compaction = commit(2, [merged], [data(0), data(1)], is_compaction=True)
    (change,) = undone(compaction, commit(3, [positions(3, target=2, rows=5)]))
    assert change.added[0].targets == (0, 1)


def test_a_conversion_of_deletes_is_undone_too():
    old = positions(1, target=0, rows=5)
    conversion = commit(2, [positions(2, target=0, rows=5)], [old], is_compaction=True)
    (change,) = undone(conversion, commit(3, [], conversion.added))
    assert change.removed == (old,)


def test_a_log_file_after_a_clustering_goes_to_a_group_that_was_clustered():
    inputs = [data(n, group=n) for n in range(2)]
    clustering = commit(2, [data(5, rows=200, group=7)], inputs, is_compaction=True)
    log = replace(data(6, group=7), content=Content.LOG)
    (change,) = undone(clustering, commit(3, [log]))
    assert change.added[0].group == 0


def test_a_compaction_of_file_groups_keeps_them_apart():
    logs = [replace(data(10 + n, rows=50, group=n), content=Content.LOG) for n in range(2)]
    bases = [data(n, group=n) for n in range(2)]
    outputs = [data(20 + n, rows=150, group=n) for n in (1, 0)]
    compaction = commit(2, outputs, [*bases, *logs], is_compaction=True)
    (change,) = undone(compaction, commit(3, [], [outputs[0]]))
    assert sorted(ids(change.removed)) == [1, 11]
