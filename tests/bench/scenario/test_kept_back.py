from collections import Counter
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from scenario_builder import SOUND, load

from bench.engines.contract import Batch
from bench.scenario.kept_back import kept_back, last_committed
from workloads.append import Append
from workloads.partitioning import Partitioning

INTERVAL_MS = 60_000


def batches(commits, initial_rows, by):
    workload = Append(40, 4, late_share=0.5, late_by_s=3 * 86_400, initial_rows=initial_rows)
    shape = workload.shape(7, commits, INTERVAL_MS, Partitioning(by))
    return [Batch(spec, (Path(f"{spec.index}.parquet"),), 100 + spec.index) for spec in shape]


@given(st.integers(1, 8), st.integers(1, 5), st.sampled_from([0, 60]), st.sampled_from(["none", "day"]))
def test_every_row_is_committed_once_and_at_the_multiples(ticks, rounds, initial_rows, by):
    stream = batches(ticks * rounds, initial_rows, by)
    made = list(kept_back(stream, ticks * INTERVAL_MS))
    assert [b.spec.at_ms for b in made] == [b.spec.at_ms for b in stream]
    assert [b.spec.index for b in made] == [b.spec.index for b in stream]
    assert all(bool(b.spec.rows) == (b.spec.is_initial or b.spec.index % ticks == 0) for b in made)
    assert [path for b in made for path in b.paths] == [path for b in stream for path in b.paths]
    assert sum(b.size_bytes for b in made) == sum(b.size_bytes for b in stream)
    assert sum(b.spec.expected_bytes for b in made) == sum(b.spec.expected_bytes for b in stream)
    assert by_partition(made) == by_partition(stream)
    for batch in made:
        assert batch.spec.rows == batch.spec.inserts == sum(p.rows for p in batch.spec.partitions)
    first_rows = [b.spec.first_row for b in made if b.spec.rows]
    ends = [b.spec.first_row + b.spec.rows for b in made if b.spec.rows]
    assert first_rows == [0, *ends[:-1]]


def by_partition(stream):
    return sum((Counter({p.partition: p.rows for p in batch.spec.partitions}) for batch in stream), Counter())


def test_the_table_has_the_rows_up_to_the_last_multiple():
    assert [last_committed(tick, 60_000, 180_000) for tick in range(8)] == [0, 0, 0, 3, 3, 3, 6, 6]
    assert last_committed(5, 60_000, None) == 5


def test_a_scenario_tells_what_each_writer_commits(tmp_path):
    late = load(tmp_path, f'{SOUND}[[strategies]]\nlabel = "late"\nwriter = {{ commit_every = "5min" }}\n')
    never, _, kept = late.strategies
    assert list(late.commits_of(never)) == list(late.shape())
    assert [(commit.index, commit.rows) for commit in late.commits_of(kept)] == [(5, 400), (10, 400)]


def test_commits_together_have_the_writers_of_the_largest():
    first, *others = batches(4, 0, "none")
    made = list(kept_back([replaced(first, 3), *(replaced(batch, 1) for batch in others)], 4 * INTERVAL_MS))
    assert made[-1].spec.writers == 3


def replaced(batch, writers):
    return replace(batch, spec=replace(batch.spec, writers=writers))
