import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refused
from scenario_builder import SOUND, load

from bench.scenario.query_rate import query_weights
from workloads.arrival import Bursts, Constant, Daily, Poisson

MINUTE_MS = 60_000


def test_a_tick_counts_the_queries_until_the_next_one():
    # Bursts of three times the rate in the second of every two minutes: after the first and third commit.
    assert query_weights(Bursts(120, 60, 3.0), 7, 4, MINUTE_MS) == (1.5, 0.5, 1.5, 0.5)


@pytest.mark.parametrize("arrival", [Constant(), Poisson(), Bursts(120, 60, 1.0), Bursts(60, 6, 9.0)])
def test_readers_at_a_constant_rate_have_no_weights(arrival):
    """What a Poisson process draws is not expected, and bursts in each tick are the same in each."""
    assert query_weights(arrival, 7, 10, MINUTE_MS) is None


@given(st.integers(1, 200), st.floats(0.01, 0.9), st.floats(1, 50), st.integers(1, 10), st.integers(0, 2**40))
def test_the_mean_of_the_weights_is_1(ticks, night, factor, minutes, seed):
    arrival = Daily(3.0, night, day_s=14_400.0, burst_length_s=30.0 * minutes, burst_factor=factor)
    weights = query_weights(arrival, seed, ticks, MINUTE_MS) or (1.0,) * ticks
    assert len(weights) == ticks
    assert min(weights) >= 0
    assert sum(weights) / ticks == pytest.approx(1, abs=1e-6)


BURSTS = {"arrival": {"type": "bursts", "every": "2min", "length": "1min", "factor": 3.0}}


def test_a_scenario_has_the_rate_of_each_tick(tmp_path):
    constant, changing = load(tmp_path), load(tmp_path, queries=BURSTS, probe_every="2min")
    assert constant.query_weights is None
    assert constant.probe_rate_per_s(3) == pytest.approx(1 / 60)
    assert changing.query_weights == (1.5, 0.5) * 5
    rates_per_s = [changing.probe_rate_per_s(tick) for tick in (0, 1, 2)]
    assert rates_per_s == pytest.approx([1.5 / 120, 1.5 / 120, 0.5 / 120])
    assert "queries" not in constant.resolved
    assert constant.hash != load(tmp_path, queries=BURSTS).hash


def trace(tmp_path, lines, name="readers.csv"):
    (tmp_path / name).write_text(f"time,rows\n{lines}\n")
    return {"arrival": {"type": "trace", "path": name}}


def test_the_rows_of_a_trace_are_queries(tmp_path):
    # Those before the first commit met an empty table. None arrive after the fifth minute.
    made = load(tmp_path, queries=trace(tmp_path, "59,100\n60,3\n119,1\n120,4\n299,12"))
    assert made.query_weights == (2.0, 2.0, 0.0, 6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_a_trace_without_a_query_in_the_stream_is_refused(tmp_path):
    with refused("empty", "queries.arrival"):
        load(tmp_path, queries=trace(tmp_path, "0,5\n59,7"))


def test_the_hash_follows_the_content_of_a_trace_of_queries(tmp_path):
    hashes = [
        load(tmp_path, queries=trace(tmp_path, f"60,{rows}\n120,9", name)).hash
        for name, rows in (("a.csv", 5), ("b.csv", 5), ("c.csv", 6))
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_queries_need_an_arrival(tmp_path):
    with refused("missing", "queries.arrival"):
        load(tmp_path, f"{SOUND}[queries]\n")


@pytest.mark.parametrize(
    ("queries", "code", "path"),
    [
        ({"rate": 5, **BURSTS}, "unknown-name", "queries.rate"),
        ({"arrival": {"type": "busts"}}, "unknown-name", "queries.arrival.type"),
        ({"arrival": {"type": "bursts", "factor": 0.5}}, "invalid", "queries.arrival.factor"),
    ],
)
def test_bad_queries_are_refused_with_their_key(tmp_path, queries, code, path):
    with refused(code, path):
        load(tmp_path, queries=queries)
