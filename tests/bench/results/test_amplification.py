"""Amplifications over the content that all runs share, on tables that Hypothesis fills and compacts."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import commit, compaction, end, maintenance, observed, queries, query, run, truth

from bench.results.amplification import common_content_bytes, opened_share, read_amplification
from bench.results.latency import OverTime, over_time
from bench.results.rows import rows

AMPLIFICATIONS = ("write_amplification", "space_amplification")


def finished(*records, content_bytes=None, **changes):
    return run(*records, truth(), end(content_bytes=content_bytes), **changes)


def test_the_content_is_the_least_that_any_run_shows():
    checked = finished(observed(live_bytes=500), content_bytes=300)
    better = finished(observed(live_bytes=900), observed(live_bytes=280), content_bytes=300)
    unchecked = finished(observed(live_bytes=400))
    assert common_content_bytes([checked, better, unchecked]) == 280
    assert common_content_bytes([checked, unchecked]) == 300
    assert common_content_bytes([unchecked]) == 400
    assert common_content_bytes([finished()]) is None


def test_every_strategy_is_divided_by_the_same_content():
    """`never` keeps 80 footers, which are no content; one that merges them is not worse off for it."""
    never = finished(commit(added_bytes=800), observed(live_bytes=800, storage_bytes=1600), content_bytes=100)
    merged = finished(
        commit(added_bytes=800), compaction(added_bytes=100),
        observed(live_bytes=100, storage_bytes=1800, metadata_storage_bytes=900),
        strategy="b", content_bytes=100,
    )  # fmt: skip
    idle, busy = (row.values for row in rows([never, merged]))
    assert (idle["content_bytes"], busy["content_bytes"]) == (100, 100)
    assert (idle["write_amplification"], busy["write_amplification"]) == (8, 9)
    assert (idle["compaction_amplification"], busy["compaction_amplification"]) == (0, 1)
    assert (idle["space_amplification"], busy["space_amplification"]) == (16, 18)
    assert (busy["data_storage_bytes_end"], busy["metadata_storage_bytes_end"]) == (900, 900)
    assert busy["storage_bytes_end"] == 1800


def test_a_run_whose_figures_are_not_used_says_nothing_of_the_content():
    used = finished(observed(live_bytes=100))
    lost = run(observed(live_bytes=1), truth("differs"), end(content_bytes=1), repetition=2)
    (row,) = rows([used, lost])
    assert row.values["content_bytes"] == 100


def test_all_that_writes_rows_is_written():
    records = (
        commit(is_initial=True, added_bytes=1000),
        commit(added_bytes=100),
        compaction(added_bytes=50, status="noop"),
        compaction(tick=0, added_bytes=30, is_inline=True),
        maintenance(added_bytes=20),
        observed(live_bytes=1000),
    )
    (row,) = rows([finished(*records)])
    assert row.values["write_amplification"] == pytest.approx(1.2)


def equally(*made):
    return OverTime(queries(*made), np.ones(len(made)))


def test_reading_is_set_against_the_content_there_was():
    """100 rows at first, then 100 more: at the first tick there is half of the content."""
    stream = run(commit(tick=0, rows=50, is_initial=True), commit(tick=1, rows=50), commit(tick=2, rows=100))
    made = [query(tick=1, opened_bytes=150), query(tick=2, at_ms=120_000, opened_bytes=200)]
    assert read_amplification(stream, equally(*made), 100) == pytest.approx((150 / 50 + 200 / 100) / 2)
    assert read_amplification(stream, equally(*made, query(tick=2, opened_bytes=None)), 100) is None
    assert read_amplification(stream, equally(*made), None) is None


def share_opened(table, *made):
    asked = queries(*made)
    return opened_share(table, asked, over_time(table, asked))


def test_what_a_query_opens_is_set_against_the_table_it_met():
    """400 live bytes at first, of which a compaction leaves 100."""
    table = run(observed(live_bytes=400, version="1"), observed(live_bytes=100, version="2"))
    made = [query(opened_bytes=100, version="1"), query(opened_bytes=100, version="2")]
    assert share_opened(table, *made) == pytest.approx((0.25 + 1.0) / 2)
    assert share_opened(table, *made, query(version="2", opened_bytes=None)) is None
    never_observed = query(version="3", opened_bytes=1)
    assert share_opened(table, *made, never_observed) is None


def test_a_query_of_a_table_whose_rows_are_all_deleted_skips_nothing_and_opens_nothing():
    table = run(observed(live_bytes=0, version="1"), observed(live_bytes=50, version="2"))
    empty = query(opened_bytes=0, version="1")
    assert share_opened(table, empty) is None
    assert share_opened(table, empty, query(opened_bytes=25, version="2")) == 0.5


@dataclass
class Table:
    """A table that keeps what it drops on storage until it is expired, and its records."""

    live: list[int] = field(default_factory=list)
    dead_bytes: int = 0
    metadata_bytes: int = 0
    made: list = field(default_factory=list)

    def commit(self, tick, sizes):
        self.live += sizes
        self.metadata_bytes += 10
        self.made.append(commit(tick=tick, is_initial=tick == 0, rows=len(sizes), added_bytes=sum(sizes)))

    def rewrite(self, tick, kept_share, made=compaction):
        """Replace all files by one, which is never larger: footers go, deletes are applied."""
        merged = int(sum(self.live) * kept_share)
        self.dead_bytes += sum(self.live)
        self.live = [merged]
        self.made.append(made(tick=tick, added_bytes=merged))

    def expire(self):
        self.dead_bytes = self.metadata_bytes = 0

    def records(self):
        live_bytes = sum(self.live)
        storage_bytes = live_bytes + self.dead_bytes + self.metadata_bytes
        seen = observed(
            live_bytes=live_bytes, storage_bytes=storage_bytes, metadata_storage_bytes=self.metadata_bytes
        )
        return [*self.made, seen]


SIZES = st.lists(st.integers(1, 10**6), min_size=1, max_size=5)
STEPS = st.lists(
    st.one_of(
        st.just("nothing"), st.just("expire"),
        st.tuples(st.sampled_from(["compact", "maintain"]), st.floats(0, 1)),
    ),
    min_size=8, max_size=8,
)  # fmt: skip


@given(
    st.lists(SIZES, min_size=8, max_size=8), st.lists(STEPS, min_size=1, max_size=4), st.integers(0, 10**7)
)
def test_no_policy_writes_or_stores_less_than_the_content(commits, policies, checked_bytes):
    runs = []
    for number, steps in enumerate([["nothing"] * 8, *policies]):
        table = Table()
        for tick, (sizes, step) in enumerate(zip(commits, steps, strict=True)):
            table.commit(tick, sizes)
            match step:
                case "expire":
                    table.expire()
                case ("compact", share):
                    table.rewrite(tick, share)
                case ("maintain", share):
                    table.rewrite(tick, share, maintenance)
        label = "never" if number == 0 else f"policy-{number}"
        runs.append(finished(*table.records(), strategy=label, content_bytes=checked_bytes))
    all_rows = rows(runs)
    assert len({row.values["content_bytes"] for row in all_rows}) == 1
    for row in all_rows:
        for name in AMPLIFICATIONS:
            if row.values["content_bytes"]:
                assert row.values[name] >= 1
            else:
                assert row.values[name] is None  # nothing is left: no byte to amplify
