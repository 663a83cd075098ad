from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from records import commit, compaction, observed, queries, query, run
from result_builder import manifest

from bench.results.latency import (
    calibrated,
    over_probed_ticks,
    over_time,
    probed_mean_s,
    unmet_share,
    window_ms,
)
from bench.results.records import CommitRecord
from bench.results.tables import RunRecords

MINUTE_MS = 60_000
TABLE = st.tuples(st.integers(1, 99), st.integers(0, 99))  # data and delete files


@pytest.mark.parametrize(("at", "expected"), [(1, 4), (4, 4), (5, 4), (8, 4), (9, 2), (10, 2)])
def test_a_window_ends_with_its_last_tick_and_the_last_one_with_the_scenario(at, expected):
    assert window_ms(4 * MINUTE_MS, 10 * MINUTE_MS, at * MINUTE_MS) == expected * MINUTE_MS


def test_a_query_counts_for_the_time_it_stands_for():
    made = manifest(probe_every_ms=4 * MINUTE_MS, duration_ms=10 * MINUTE_MS)
    asked = [query(wall_s, at_ms=at * MINUTE_MS) for wall_s, at in ((1.0, 2), (3.0, 8), (8.0, 9))]
    assert over_probed_ticks(made, queries(*asked)).wall_s == pytest.approx((4 * 1 + 4 * 3 + 2 * 8) / 10)


def test_other_probes_have_windows_of_their_own():
    made = manifest(probe_every_ms=MINUTE_MS, side_probe_every_ms=4 * MINUTE_MS, duration_ms=6 * MINUTE_MS)
    asked = [
        query(1.0, at_ms=at * MINUTE_MS, cpu_s=cpu_s, primary=False) for at, cpu_s in ((3, 6.0), (6, 9.0))
    ]
    assert over_probed_ticks(made, queries(*asked)).cpu_s == pytest.approx((4 * 6 + 2 * 9) / 6)


def test_a_mean_needs_every_value():
    made = manifest()
    assert over_probed_ticks(made, queries()).wall_s is None
    some = over_probed_ticks(made, queries(query(), query(files_count=None)))
    assert some.mean("files_count") is None


def stream(files_left, files_committed=None, deletes=(0,) * 9, **changes):
    """A commit each minute, and how many data and delete files each tick leaves."""
    records = []
    for tick, files in enumerate(files_left, start=1):
        at = {"tick": tick, "at_ms": tick * MINUTE_MS}
        before = files_committed[tick - 1] if files_committed else files
        records += [
            commit(**at),
            observed(**at, version=f"{tick}c", data_files_count=before, delete_files_count=deletes[tick - 1]),
            observed(**at, version=f"{tick}", data_files_count=files, delete_files_count=deletes[tick - 1],
                     after="compaction"),
        ]  # fmt: skip
    changed = {"probe_every_ms": 2 * MINUTE_MS, "duration_ms": len(files_left) * MINUTE_MS} | changes
    return run(*records, **changed)


def at(tick, wall_s, when="settled", **fields):
    version = f"{tick}c" if when in ("after_commit", "before") else f"{tick}"
    return query(wall_s, tick=tick, at_ms=tick * MINUTE_MS, version=version, when=when, **fields)


def with_records(of, *records):
    return replace(of, records=RunRecords.listed(records))


# A policy that compacts at every second tick, and queries that meet these ticks alone.
ALIASED = stream((9, 1, 9, 1), (9, 17, 9, 17))
QUERIES = [at(2, 1.0), at(4, 1.0), at(2, 2.6, "after_commit"), at(4, 3.0, "after_commit")]


def test_ticks_without_a_query_count_by_their_files():
    """The line rises by (2.8 - 1.0) / (17 - 1) = 0.1125 s a file."""
    assert over_probed_ticks(ALIASED.manifest, queries(*QUERIES[:2])).wall_s == 1.0
    # 5 files over all ticks, 1 over those with a query: 1.0 + 0.1125 x 4.
    assert over_time(ALIASED, queries(*QUERIES)).wall_s == pytest.approx(1.45)
    # 13 files right after all commits, 17 after those with a query: 2.8 - 0.1125 x 4.
    assert over_time(ALIASED, queries(*QUERIES), "after_commit").wall_s == pytest.approx(2.35)


def with_rates(of, *weights):
    """The run of readers who ask at these rates, by tick, relative to the mean."""
    return replace(of, manifest=of.manifest.model_copy(update={"query_weights": weights}))


def test_where_readers_ask_at_a_changing_rate_each_query_counts_alike():
    """Two of five queries arrive in tick 2 and three in tick 4; 1 and 2 s are what they take."""
    made = with_rates(ALIASED, 0.0, 1.6, 0.0, 2.4)
    asked = queries(at(2, 1.0), at(4, 2.0))
    assert over_probed_ticks(made.manifest, asked).wall_s == pytest.approx((2 * 1.0 + 3 * 2.0) / 5)
    assert probed_mean_s(made.manifest, asked) == pytest.approx(1.6)


def test_ticks_without_a_query_count_by_their_files_and_their_readers():
    """The line rises by 0.1125 s a file, as at a constant rate."""
    made = with_rates(ALIASED, 0.5, 2.0, 0.5, 1.0)
    # (0.5 x 9 + 2 x 1 + 0.5 x 9 + 1 x 1) / 4 = 3 files, 1 over the ticks with a query.
    assert over_time(made, queries(*QUERIES)).wall_s == pytest.approx(1.0 + 0.1125 * 2)
    # Of 9, 17, 9 and 17 files right after the commits: 15, and 17 with a query, which take 2.6 and 3.0 s.
    after = (2 * 2.6 + 1 * 3.0) / 3 + 0.1125 * (15 - 17)
    assert over_time(made, queries(*QUERIES), "after_commit").wall_s == pytest.approx(after)


def test_equal_rates_are_a_constant_rate():
    equal = over_time(with_rates(ALIASED, 1.0, 1.0, 1.0, 1.0), queries(*QUERIES))
    assert equal.weights.tolist() == over_time(ALIASED, queries(*QUERIES)).weights.tolist()


def test_a_mean_that_no_query_counts_in_is_unknown():
    made = with_rates(ALIASED, 2.0, 0.0, 2.0, 0.0)  # nobody asks while a probe runs
    assert over_time(made, queries(*QUERIES)).wall_s is None
    assert over_time(made, queries(*QUERIES), "after_commit").wall_s is None


@given(st.lists(st.tuples(TABLE, st.floats(0.01, 9)), min_size=6, max_size=12), st.randoms())
def test_a_linear_latency_has_no_error_at_any_rates(ticks, random):
    """Half of the ticks are probed, and the mean is that of a query at a random query's moment."""
    ticks = ticks[: len(ticks) // 2 * 2]
    files, deletes = zip(*(table for table, _ in ticks), strict=True)
    mean_rate = sum(rate for _, rate in ticks) / len(ticks)
    rates = [rate / mean_rate for _, rate in ticks]
    a, b, c = (random.uniform(0.1, 1) for _ in range(3))
    wall_s = [1 + a * f + b * d + c * (d > 0) for f, d in zip(files, deletes, strict=True)]
    made = with_rates(stream(files, deletes=deletes), *rates)
    every = [at(tick, wall_s[tick - 1], "after") for tick in range(1, len(ticks) + 1)]  # by which slopes show
    settled = [at(tick, wall_s[tick - 1]) for tick in range(2, len(ticks) + 1, 2)]
    expected = sum(rate * took_s for rate, took_s in zip(rates, wall_s, strict=True)) / len(ticks)
    spread = np.array([[f, d, d > 0] for f, d in zip(files, deletes, strict=True)], float)
    scaled = (spread - spread.mean(axis=0)) / np.where(spread.std(axis=0) > 0, spread.std(axis=0), 1)
    singular = np.linalg.svd(scaled, compute_uv=False)
    assume(all(value < 1e-9 or value > 0.2 * singular[0] for value in singular))  # alike ones are not fitted
    assert over_time(made, queries(*settled, *every)).wall_s == pytest.approx(expected)


def test_planning_and_execution_add_up_to_the_latency():
    split = [
        at(q.tick, q.cost.wall_s, q.when, planning_s=share * q.cost.wall_s)
        for q, share in zip(QUERIES, (0.9, 0.1, 0.3, 0.8), strict=True)
    ]
    made = over_time(ALIASED, queries(*split))
    execution_s = made.mean(made.queries.column("wall_s") - made.queries.column("planning_s"))
    assert made.wall_s == pytest.approx(made.mean("planning_s") + execution_s)


@pytest.mark.parametrize(
    ("made", "asked"),
    [
        (ALIASED, [at(tick, tick / 8) for tick in (1, 2, 3, 4)] + QUERIES[2:]),  # every tick has a query
        (replace(ALIASED, manifest=manifest(probe_phase="fixed")), QUERIES),
        (stream((5, 5, 5, 5)), [at(2, 1.0), at(4, 2.0), at(2, 9.0, "after"), at(4, 9.0, "after")]),
        (ALIASED, QUERIES[:2]),  # of two queries no line
        (with_records(ALIASED, *ALIASED.records, compaction(tick=2, is_shared=True)), QUERIES),
        (ALIASED, [*QUERIES[:3], query(9.0, when="before", version="unknown")]),
    ],
)
def test_a_mean_is_that_of_the_probed_ticks_if_it_has_to_be(made, asked):
    settled = [q for q in asked if q.when == "settled"]
    mean, probed = over_time(made, queries(*asked)), over_probed_ticks(made.manifest, queries(*settled))
    assert list(mean.queries) == list(probed.queries) == settled
    assert mean.weights.tolist() == probed.weights.tolist()


def test_ticks_before_the_first_rows_do_not_count():
    late = stream((0, 0, 9, 1, 9, 1), (0, 0, 9, 17, 9, 17))
    rows = [r for r in late.records if r.kind != "commit" or r.tick > 2]
    later = [at(q.tick + 2, q.cost.wall_s, q.when) for q in QUERIES]
    assert over_time(with_records(late, *rows), queries(*later)).wall_s == pytest.approx(1.45)


def test_the_first_delete_file_may_cost_more_than_each_of_the_others():
    """Without a delete file 1 s, with any 4 s and 0.1 s for each: of six ticks two have none."""
    deletes = (10, 20, 0, 10, 20, 0)
    made = stream((1,) * 6, deletes=deletes)
    latency_s = [4 + 0.1 * count if count else 1.0 for count in deletes]
    asked = [at(tick, latency_s[tick - 1], when) for tick in (1, 3, 5) for when in ("settled", "after")]
    assert over_time(made, queries(*asked)).wall_s == pytest.approx(sum(latency_s) / 6)
    assert over_probed_ticks(made.manifest, queries(*asked[::2])).wall_s == pytest.approx((5 + 1 + 6) / 3)


def test_a_kind_of_table_that_no_query_met_is_known():
    deletes = (10, 20, 0, 10, 20, 0)
    made = stream((1,) * 6, deletes=deletes)
    at_ticks = {
        ticks: queries(*(at(tick, 1.0) for tick in ticks)) for ticks in ((1, 2, 5), (1, 3, 5), (1, 4))
    }
    # Ticks 3 and 6 leave no delete files; in the third case the number of 20 is new, too.
    assert [unmet_share(made, asked) for asked in at_ticks.values()] == [2 / 6, 0, 4 / 6]
    fixed = stream((1,) * 6, deletes=deletes, probe_phase="fixed")
    assert unmet_share(fixed, at_ticks[1, 2, 5]) == unmet_share(made, queries()) == 0
    live = replace(made, manifest=made.manifest.model_copy(update={"notes": {"clock": "real"}}))
    assert unmet_share(live, at_ticks[1, 2, 5]) == 0


APART = [(1, 0), (50, 0), (1, 50), (50, 1), (99, 99)]  # by which all slopes are known


@given(st.lists(TABLE, max_size=6), TABLE, st.integers(1, 5), st.randoms())
def test_a_latency_that_is_linear_in_the_regressors_has_no_error(tables, unmet, probed, random):
    """Whatever ticks are probed, and by any slopes."""
    everything = np.array(
        [(files, deletes, deletes > 0) for files, deletes in (*APART, *tables, unmet)], float
    )
    queried = everything[:-1]
    weights = np.array([1.0] * probed + [0.0] * (len(queried) - probed))
    found = calibrated(weights, queried, everything.mean(axis=0))
    slopes = np.array([random.uniform(-1, 1) for _ in range(3)])
    assert found.sum() == pytest.approx(1)
    assert found @ (2 + queried @ slopes) == pytest.approx(2 + everything.mean(axis=0) @ slopes)


def test_the_mean_of_the_probed_ticks_is_a_figure_of_its_own_if_there_are_others():
    assert probed_mean_s(ALIASED.manifest, queries(*QUERIES[:2])) == 1.0
    assert probed_mean_s(manifest(commit_interval_ms=2 * MINUTE_MS), queries(*QUERIES[:2])) is None
    assert probed_mean_s(manifest(probe_phase="fixed"), queries(*QUERIES[:2])) is None
    assert (
        probed_mean_s(manifest(side_probe_every_ms=5 * MINUTE_MS), queries(query(2.0, primary=False))) == 2.0
    )


def real(files_left, files_committed, **changes):
    """The stream with a real clock; at the second tick a compaction commits 45 s after the commit."""
    made = stream(files_left, files_committed, **changes)
    ended = compaction(tick=2, at_ms=2 * MINUTE_MS + 45_000)
    notes = {**made.manifest.notes, "clock": "real"}
    return replace(with_records(made, *made.records, ended), manifest=replace_notes(made.manifest, notes))


def replace_notes(of_run, notes):
    return of_run.model_copy(update={"notes": notes, "mode": "simulated"})


def test_with_a_real_clock_a_compaction_counts_from_its_end_on():
    """Until then the table is the one that the commit has left."""
    made = real((9, 1, 9), (9, 17, 9), probe_every_ms=MINUTE_MS)
    asked = [
        at(tick, wall_s, when)
        for tick, before_s, wall_s_left in ((1, 1.0, 1.0), (2, 3.0, 0.4), (3, 1.0, 1.0))
        for when, wall_s in (("after_commit", before_s), ("settled", wall_s_left))
    ]
    of_second = 0.75 * 3.0 + 0.25 * 0.4
    assert over_time(made, queries(*asked)).wall_s == pytest.approx((1.0 + of_second + 1.0) / 3)


def with_commits_of_15_s(made):
    """Such a run, and its queries. The compaction of the second tick ends 45 s after its beginning."""
    took = [replace_cost(record, 15.0) for record in made.of(CommitRecord)]
    others = [record for record in made.records if not isinstance(record, CommitRecord)]
    asked = [
        at(tick, wall_s, when)
        for tick, before_s, settled_s in ((1, 1.0, 1.0), (2, 3.0, 0.4), (3, 2.0, 2.0))
        for when, wall_s in (("after_commit", before_s), ("settled", settled_s))
    ]
    return replace(made, records=RunRecords.listed([*took, *others])), asked


def test_while_a_commit_runs_readers_see_the_table_before_it():
    made, asked = with_commits_of_15_s(real((9, 1, 9), (9, 17, 9), probe_every_ms=MINUTE_MS))
    # 45 s of the first tick's table, and 15 s more while the second commit runs; and so on.
    expected = (0.75 * 1.0 + 0.25 * 1.0) + (0.5 * 3.0 + 0.25 * 0.4 + 0.25 * 0.4) + 0.75 * 2.0
    assert over_time(made, queries(*asked)).wall_s == pytest.approx(expected / 2.75)


def replace_cost(record, wall_s):
    return record.model_copy(update={"cost": replace(record.cost, wall_s=wall_s)})


def test_with_a_real_clock_ticks_without_a_query_count_by_their_files():
    """The line rises by 0.1 s a file; three of four minutes have 9 files, and the second 17 for 45 s."""
    made = real((9, 1, 9, 9), (9, 17, 9, 9))
    asked = [
        at(tick, files / 10, when)
        for tick, files_then in ((2, (17, 1)), (4, (9, 9)))
        for when, files in zip(("after_commit", "settled"), files_then, strict=True)
    ]
    mean_files = (9 + 0.75 * 17 + 0.25 * 1 + 9 + 9) / 4
    assert over_time(made, queries(*asked)).wall_s == pytest.approx(mean_files / 10)


def test_with_a_real_clock_the_rates_of_the_moment_count():
    """Readers who wait for a commit ask at the rate of its tick."""
    rated = with_rates(real((9, 1, 9), (9, 17, 9), probe_every_ms=MINUTE_MS), 0.5, 2.0, 0.5)
    made, asked = with_commits_of_15_s(rated)
    seen = (0.5 * 0.75 + 2 * 0.25) * 1.0 + 2 * 0.5 * 3.0 + (2 * 0.25 + 0.5 * 0.25) * 0.4 + 0.5 * 0.75 * 2.0
    asking = 0.5 * 0.75 + 2 * 0.25 + 2 * 0.5 + 2 * 0.25 + 0.5 * 0.25 + 0.5 * 0.75
    assert over_time(made, queries(*asked)).wall_s == pytest.approx(seen / asking)
