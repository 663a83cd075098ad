"""Streams of any kind, their partitionings and seeds, for property tests."""

from hypothesis import strategies as st

from workloads.append import Append
from workloads.arrival import Bursts, Constant, Daily, Poisson
from workloads.upsert import Upsert

appends = st.builds(
    Append,
    rows_per_commit=st.integers(1, 10_000),
    files_per_commit=st.integers(1, 32),
    arrival=st.sampled_from([Constant(), Poisson(), Daily(), Bursts()]),
    late_share=st.floats(0, 1),
    late_by_s=st.floats(1, 1e6),
    initial_rows=st.integers(0, 10**9),
    initial_files=st.integers(1, 100),
)
partitionings = st.sampled_from(["none", "day", "bucket", "city"])
seeds = st.integers(0, 3)


@st.composite
def upserts(draw):
    insert_share = draw(st.floats(0, 1))
    return Upsert(
        rows_per_commit=draw(st.integers(1, 5000)),
        files_per_commit=draw(st.integers(1, 32)),
        initial_rows=draw(st.integers(1, 10**8)),
        initial_files=draw(st.integers(1, 100)),
        initial_span_s=draw(st.floats(1, 1e6)),
        arrival=draw(st.sampled_from([Constant(), Poisson(), Daily(), Bursts()])),
        insert_share=insert_share,
        delete_share=draw(st.floats(0, 1 - insert_share)),
        key_skew=draw(st.sampled_from(["uniform", "zipf", "recent-first"])),
        key_exponent=draw(st.floats(0.1, 3)),
        repeat_share=draw(st.floats(0, 1)),
        move_share=draw(st.floats(0, 1)),
        late_share=draw(st.floats(0, 1)),
        late_by_s=draw(st.floats(1, 1e6)),
        duplicate_share=draw(st.floats(0, 0.5)),
    )
