"""What a report says where readers ask at a changing rate."""

import pytest
from records import commit, compaction, end, observed, query, run
from verdicts import verdicts_of

from bench.results.metrics import METRIC_BY_NAME
from reports.charts import latency
from reports.data.group import run_groups
from reports.page.sections.cautions import cautions
from reports.page.sections.details import metrics
from reports.page.sections.method import method
from reports.page.sections.money import cheapest_in_money
from reports.verdicts.query_load import cpu_with_queries_s
from reports.verdicts.recommended import recommend

HOUR_MS = 3_600_000
# Two hours of a commit and a query each; twelve of thirteen queries arrive in the second.
WEIGHTS = (2 / 13, 24 / 13)


def runs(weights=WEIGHTS):
    """`never` gets slower, and `fading` faster, which compacts once."""
    latencies = {"never": (1.0, 2.0), "fading": (2.0, 0.7)}
    return [
        run(
            *(record for tick, took_s in enumerate(of_strategy, start=1) for record in (
                commit(tick=tick, at_ms=tick * HOUR_MS),
                *([compaction(tick=tick, at_ms=tick * HOUR_MS, cpu_s=9.0)] if label == "fading" else []),
                observed(tick=tick, at_ms=tick * HOUR_MS),
                query(took_s, tick=tick, at_ms=tick * HOUR_MS, cpu_s=took_s),
            )),
            end(), strategy=label, duration_ms=2 * HOUR_MS, commit_interval_ms=HOUR_MS,
            probe_every_ms=HOUR_MS, side_probe_every_ms=HOUR_MS, query_weights=weights,
            price_per_core_hour=3.6, queries_per_h=60.0,
        )
        for label, of_strategy in latencies.items()
    ]  # fmt: skip


@pytest.fixture
def group():
    return run_groups(runs())[0]


def test_means_are_those_of_a_random_query(group):
    means = {row.strategy: row.values["query_mean_s"] for row in group.rows}
    assert means == {
        "never": pytest.approx((1.0 + 12 * 2.0) / 13),
        "fading": pytest.approx((2.0 + 12 * 0.7) / 13),
    }
    constant = run_groups(runs(None))[0]
    assert [row.values["query_mean_s"] for row in constant.rows] == pytest.approx([1.5, 1.35])


def test_money_is_that_of_the_queries_that_arrive(group):
    # 60 queries an hour on average, of 0.001 a CPU second each.
    paid = {row.strategy: row.values["query_money_per_day"] for row in group.rows}
    assert paid["never"] == pytest.approx(24 * 60 * 0.001 * (1.0 + 12 * 2.0) / 13)
    (line,) = cheapest_in_money(group, verdicts_of(group))
    assert str(line).startswith("At 60 queries an hour on average ")


def test_queries_of_a_table_without_rows_are_not_counted():
    never, _ = runs()
    late = [
        record for record in never.records if not (record.kind in ("commit", "query") and record.tick == 1)
    ]
    empty_first = run(*late, **dict(never.manifest))
    # 24 of 13 x 60 queries, of 2 s each, and the commit.
    commits_s = cpu_with_queries_s(empty_first, 0.0)
    assert cpu_with_queries_s(empty_first, 60.0) - commits_s == pytest.approx(60 * 24 / 13 * 2.0)


def test_the_page_says_by_what_means_are_weighted(group):
    (caution,) = [str(one.text) for one in cautions(group) if "changing rate" in str(one.text)]
    assert "means over the queries that arrive, not over time" in caution
    assert str(latency.message(group)).startswith("Mean query over those that arrive: ")
    queries = {title: str(text) for title, text in method(group)}["Queries"]
    assert "the latency of a random query" in queries
    assert "over scenario time of" not in queries


def test_definitions_change_for_means_of_queries_alone(group):
    weighted, constant = group.manifest, run_groups(runs(None))[0].manifest
    changed = {name for name, one in METRIC_BY_NAME.items() if one.definition_in(weighted) != one.definition}
    assert changed == {
        "query_mean_s", "query_probed_mean_s", "query_after_commit_s", "query_cpu_s", "read_amplification",
        "s3_gets_per_query", "break_even_queries_per_h",
    }  # fmt: skip
    assert all(one.definition_in(constant) == one.definition for one in METRIC_BY_NAME.values())


def test_details_have_the_definitions_of_the_scenario(group):
    notes = " ".join(cell.note for row in metrics(group).rows for cell in row)
    assert "mean process CPU seconds over the queries that arrive" in notes
    assert "over scenario time of the settled primary query" not in notes


def test_the_last_quarter_of_the_stream_is_that_of_its_queries():
    """Both queries of the last quarter count, one of them nearly all."""
    records, weights = [], []
    for tick, (took_s, weight) in enumerate(((1.0, 1.0),) * 6 + ((9.0, 0.1), (1.0, 1.9)), start=1):
        at = {"tick": tick, "at_ms": tick * HOUR_MS}
        records += [commit(**at), observed(**at), query(took_s, **at)]
        weights.append(weight)
    times = {"duration_ms": 8 * HOUR_MS, "commit_interval_ms": HOUR_MS, "probe_every_ms": HOUR_MS}
    made = run(*records, compaction(), end(), strategy="mine", query_weights=tuple(weights), **times)
    answer = recommend(run_groups([made])[0], "compactions", ())
    # (0.1 x 9 + 1.9 x 1) / 2 = 1.4 s, well above the mean of (6 x 1 + 0.9 + 1.9) / 8 = 1.1 s.
    assert answer.rising_s == pytest.approx(1.4)


@pytest.mark.parametrize(
    ("when", "waited_s", "live", "expected"),
    [
        # Settled queries are as fast as ever; those right after a commit are not in the mean.
        ("settled", None, {}, None),
        # Readers ask more often where weights are higher, so each query of theirs counts alike.
        ("due", 1.0, {"notes": {"clock": "real"}}, (2.0 + 4.0) / 2),
    ],
)
def test_the_last_quarter_is_of_the_queries_that_the_mean_is_of(when, waited_s, live, expected):
    records = []
    for tick in range(1, 9):
        at = {"tick": tick, "at_ms": tick * HOUR_MS}
        took_s = 3.0 if (when, tick) == ("due", 8) else 1.0
        records += [commit(**at, started_s=tick, ended_s=tick + 0.5), observed(**at)]
        records += [query(took_s, when=when, waited_s=waited_s, **at)]
        records += [query(9.0, when="after_commit", **at)] if when == "settled" else []
    times = {"duration_ms": 8 * HOUR_MS, "commit_interval_ms": HOUR_MS, "probe_every_ms": HOUR_MS}
    weights = (*(1.0,) * 6, 0.5, 1.5)
    made = run(*records, compaction(), end(), strategy="mine", query_weights=weights, **times, **live)
    answer = recommend(run_groups([made])[0], "compactions", ())
    assert answer.rising_s == expected
