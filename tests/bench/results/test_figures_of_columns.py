"""Figures are computed from columns; here each is computed again, record by record."""

from collections import Counter
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import commit, compaction, decision, maintenance, observed, query, run

from bench.results import amplification, cpu, money, requests
from bench.results.figures import figures, ineffective, noop_evaluations, returned_s
from bench.results.metrics import METRIC_BY_NAME
from bench.results.query_effect import query_effects
from bench.results.records import CompactionRecord, ObserveRecord, QueryRecord
from bench.results.table_content import as_left, content_share

TICKS = st.integers(1, 5)
COUNTS = st.integers(0, 9)
MAYBE = st.none() | COUNTS
COSTS = {
    "wall_s": st.floats(0, 9),
    "cpu_s": st.floats(0, 9),
    "jit_cpu_s": st.none() | st.floats(0, 9),
    "is_shared": st.booleans(),
    "requests": st.none() | st.dictionaries(st.sampled_from(["GET", "PUT", "LIST", "DELETE"]), COUNTS),
}
CHANGES = dict.fromkeys(
    ("files_added_count", "files_removed_count", "delete_files_added_count", "added_bytes"), COUNTS
)
STATUSES = st.sampled_from(["ok", "noop", "failed", "vetoed"])


def steps(make, **fields):
    """Records of one kind, each at the minute of its tick."""
    built = st.fixed_dictionaries({"tick": TICKS, **fields})
    return st.lists(built.map(lambda known: make(at_ms=60_000 * known["tick"], **known)), max_size=5)


SPAN = {"started_s": st.floats(0, 9), "ended_s": st.just(9.0)}
RUNS = st.tuples(
    steps(commit, rows=COUNTS, is_initial=st.booleans(), waited_s=st.floats(0, 9), **COSTS, **CHANGES),
    steps(
        compaction, status=STATUSES, is_inline=st.booleans(), scheduled_at_ms=st.just(60_000),
        before_rows=MAYBE, after_rows=MAYBE, **SPAN, **COSTS, **CHANGES,
    ),
    steps(maintenance, **COSTS, **CHANGES),
    steps(
        observed, after=st.sampled_from(["initial", "commit", "compaction"]), delete_files_count=COUNTS,
        delete_rows=MAYBE, version=st.sampled_from(["1", "2", "3"]), live_bytes=COUNTS, storage_bytes=COUNTS,
    ),
    steps(
        query, when=st.sampled_from(["settled", "after_commit", "before"]), primary=st.booleans(),
        status=st.sampled_from(["ok", "failed"]), files_count=MAYBE, version=st.sampled_from(["1", "2", "4"]),
        started_s=st.floats(0, 9), ended_s=st.just(9.0), **COSTS,
    ),
    steps(decision, status=st.sampled_from(["not_due", "nothing_to_do", "planned"])),
).map(lambda kinds: run(*(record for kind in kinds for record in kind), probe_every_ms=60_000))  # fmt: skip


def total(values):
    listed = list(values)
    return None if None in listed else pytest.approx(float(sum(listed)))


def mean(values):
    listed = list(values)
    return pytest.approx(fmean(listed)) if listed and None not in listed else None


@given(RUNS)
def test_sums_over_steps(made):
    f = figures(made, 7)
    compactions = [c for c in made.of(CompactionRecord) if c.tick]
    commits, writing = list(f.commits), [*f.commits, *compactions, *f.maintenance]
    assert cpu.compaction_cpu_s(f) == total(c.cost.own_cpu_s for c in compactions)
    assert cpu.commit_cpu_s(f) == total(c.cost.own_cpu_s for c in commits)
    executed = [None if c.cost.is_shared else c.cost.jit_cpu_s for c in compactions if c.cost.wall_s]
    assert cpu.compaction_total("jit_cpu_s")(f) == (total(executed) if executed else None)
    assert cpu.highest("compaction", "jit_cpu_s")(f) == (
        max(executed) if executed and None not in executed else None
    )
    assert money.compaction_jobs(f) == sum(
        not c.is_inline and c.status != "vetoed" and not c.executor for c in compactions
    )
    assert amplification.written_bytes(f) == total(s.change.added_bytes for s in (*writing, *f.loads))
    sent = [None if s.cost.is_shared else s.cost.requests for s in writing]
    if requests.is_on_s3(f):
        puts = [None if r is None else sum(r.get(kind, 0) for kind in ("PUT", "POST", "LIST")) for r in sent]
        assert requests.s3_puts(f) == total(puts)
    assert METRIC_BY_NAME["compactions"].of_run(f) == sum(c.status == "ok" for c in compactions)


@given(RUNS)
def test_figures_of_compactions_and_evaluations(made):
    f = figures(made, 7)
    done = [c for c in made.of(CompactionRecord) if c.status == "ok"]
    assert list(f.effective) == done
    assert METRIC_BY_NAME["pending_mean_s"].of_run(f) == mean(
        (c.at_ms - c.scheduled_at_ms) / 1000 for c in done
    )
    since = [(c.at_ms - max([0, *(d.at_ms for d in done if d.at_ms < c.at_ms)])) / 1000 for c in f.commits]
    assert METRIC_BY_NAME["since_compaction_mean_s"].of_run(f) == mean(since)
    assert ineffective(f) == sum(
        c.change.files_removed_count == c.change.files_added_count > 0
        and c.change.delete_files_removed_count == c.change.delete_files_added_count
        and not c.is_inline
        and c.before.rows == c.after.rows
        for c in done
    )
    statuses = Counter(d.status for d in f.decisions)
    fired = statuses["nothing_to_do"] + statuses["planned"]
    assert noop_evaluations(f) == (statuses["nothing_to_do"] if fired else None)
    assert len(returned_s(f)) == len(f.commits)


@given(RUNS)
def test_means_over_the_table(made):
    last = {o.tick: o for o in made.of(ObserveRecord) if o.after != "initial"}
    assert list(as_left(made)) == [last[tick] for tick in sorted(last)]
    seen = made.manifest.is_cdc or any(o.table.delete_files_count for o in made.of(ObserveRecord))
    expected = mean(last[tick].table.delete_rows for tick in sorted(last)) if seen else None
    assert METRIC_BY_NAME["delete_rows_mean"].of_run(figures(made, 7)) == expected
    commits = [c for c in made.records if c.kind == "commit" and c.status == "ok"]
    rows = sum(c.rows for c in commits)
    for tick in range(6):
        share = sum(c.rows for c in commits if c.tick <= tick) / rows if rows else 0.0
        assert content_share(made)(tick) == pytest.approx(share)


@given(RUNS)
def test_the_queries_around_compactions(made):
    queries = [q for q in made.of(QueryRecord) if q.primary]
    ordered = sorted(queries, key=lambda q: q.span.started_s) == queries
    for effect in query_effects(made) if ordered else ():
        c = effect.compaction
        is_there = c.status == "ok" and not c.is_inline
        later = [q for q in queries if q.span.started_s >= c.span.ended_s]
        earlier = [q for q in queries if q.span.started_s < c.span.started_s]
        assert effect.query_after_s == (later[0].cost.wall_s if is_there and later else None)
        is_known = is_there and earlier and earlier[-1].tick == c.tick
        assert effect.query_before_s == (earlier[-1].cost.wall_s if is_known else None)
