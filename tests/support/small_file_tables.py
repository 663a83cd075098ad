"""Tables of small files in several partitions and specs, and what a plan makes of them."""

from dataclasses import replace

from hypothesis import strategies as st

from strategies.iceberg.files import IcebergDataFile, IcebergState
from strategies.iceberg.preview import preview_action
from strategies.plan import check_plan
from strategies.state import CommitSeen, CompactionSeen, PendingPlan, ProbeSeen

TARGET = 1_000_000
PLACES = (("", 0), ("p=a", 1), ("p=b", 1), ("p=b", 2))
MINUTE_MS = 60_000


@st.composite
def small_file_tables(draw, max_files=30):
    """Up to `max_files` files, some of unknown age or in a pending plan, with and without a history."""
    now_ms = draw(st.sampled_from((0, MINUTE_MS, 60 * MINUTE_MS, 30 * 24 * 60 * MINUTE_MS)))
    edges = (0, 1, TARGET * 45 // 100, TARGET // 2, TARGET // 2 + 1, TARGET * 3 // 4, TARGET, TARGET + 1)
    sizes = st.one_of(st.integers(0, TARGET // 20), st.integers(0, 2 * TARGET), st.sampled_from(edges))
    files = []
    for number in range(draw(st.integers(0, max_files))):
        partition, spec_id = draw(st.sampled_from(PLACES))
        age_ms = draw(st.one_of(st.none(), st.integers(0, now_ms)))
        added_ms = None if age_ms is None else now_ms - age_ms
        size = draw(sizes)
        files.append(
            IcebergDataFile(f"f{number}", size, 10, partition, spec_id=spec_id, added_at_ms=added_ms)
        )
    busy = draw(st.sets(st.sampled_from([file.path for file in files]))) if files else frozenset()
    pending = (PendingPlan(0, 0, "cost", frozenset(busy)),) if busy and draw(st.booleans()) else ()
    step_ms = draw(st.sampled_from((0, 1_000, MINUTE_MS, 60 * MINUTE_MS)))
    commits = [CommitSeen(max(0, now_ms - n * step_ms), 8, 8_000, 80) for n in range(3)][::-1]
    return IcebergState(
        now_ms, TARGET, tuple(files), pending=pending, spec_id=2,
        commits=draw(st.sampled_from(((), tuple(commits)))),
        compactions=tuple(draw(st.lists(compactions(now_ms), max_size=4))),
        probes=draw(st.sampled_from(((), (ProbeSeen(0, 0.5, 0.5, None, None),)))),
        probe_rate_per_s=draw(st.sampled_from((0.0, 1 / 60, 5.0))),
        executor=draw(st.sampled_from(("spark", "arrow"))),
    )  # fmt: skip


@st.composite
def compactions(draw, now_ms):
    seconds = st.one_of(st.none(), st.floats(0, 1e3))
    removed, size = draw(st.integers(0, 200)), draw(st.integers(0, 2**34))
    return CompactionSeen(
        now_ms, draw(st.sampled_from(("ok", "ok", "failed"))), "cost", removed, draw(st.integers(0, 9)),
        size, size, 1.0, draw(st.floats(0, 1e3)), query_before_s=draw(seconds), query_after_s=draw(seconds),
        executor=draw(st.sampled_from((None, "spark", "arrow"))),
        kind=draw(st.sampled_from(("merge", "conversion"))),
    )  # fmt: skip


def checked_groups(state, plan):
    """The groups of a plan as lists of files, after everything that holds of the plans of all policies."""
    check_plan(state, plan)
    (action,) = plan.actions
    by_path = {file.path: file for file in state.data_files}
    groups = [[by_path[path] for path in group.paths] for group in action.groups if group.paths]
    for files in groups:
        assert len({(file.partition, file.spec_id) for file in files}) == 1
        assert len(files) == 1 or sum(file.size_bytes for file in files) <= state.target_file_size_bytes
        assert not state.busy & {file.path for file in files}
    return groups


def after(state, plan, at_ms=None):
    """The data files once a plan was carried out, of the sizes that its preview forecasts; deletes stay.

    What was merged has the sequence number of the planned snapshot, so no equality delete applies any more.
    """
    now_ms = state.observed_at_ms if at_ms is None else at_ms
    (action,) = plan.actions
    preview = preview_action(action, state)
    gone = {path for group in action.groups for path in group.paths}
    number = max(f.data_sequence_number for f in (*state.data_files, *state.delete_files))
    made = [
        IcebergDataFile(
            f"made-{now_ms}-{len(state.commits)}-{place}-{index}-{group.files[0].path}",
            task.input_bytes,
            task.rows,
            group.files[0].partition,
            number,
            group.files[0].spec_id,
            added_at_ms=now_ms,
        )
        for place, group in enumerate(preview.groups)
        for index, task in enumerate(group.tasks)
    ]
    kept = tuple(file for file in state.data_files if file.path not in gone)
    return replace(state, data_files=(*kept, *made))
