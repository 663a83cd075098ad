"""Queries beside compactions, on simulated queries whose truth is known."""

import numpy as np
import pytest
from live_runs import LIVE
from records import commit, compaction, end, observed, query, run, truth

from reports.verdicts.phases import COMPACTIONS_MIN, Queries, estimated, phase_effect

LASTS_S, COMMITS_S, EVERY_S, TAKES_S = 600.0, 5.0, 25.0, 2.3  # of the stream, intervals, and a compaction


def simulated(rng, effect, runs=3, slope_s=0.006, spread=0.2):
    """Queries on a table to which each commit adds two files and two deletes until a compaction ends.

    They come at random, 24 a minute, and take `effect` times as long beside a compaction. A run is slower or
    faster than others as a whole, and so is each commit interval.
    """
    parts = []
    for number in range(runs):
        began_s = np.sort(rng.uniform(0, LASTS_S, rng.poisson(LASTS_S * 0.4)))
        starts_s = np.arange(EVERY_S, LASTS_S, EVERY_S)
        starts_s = starts_s + rng.uniform(0, COMMITS_S, len(starts_s))
        before = np.searchsorted(starts_s + TAKES_S, began_s)
        ended = np.concatenate([[0.0], starts_s // COMMITS_S])[before]
        waiting = 2 * (began_s // COMMITS_S - ended)
        is_beside = np.searchsorted(starts_s, began_s) > before
        per_interval = rng.normal(0, 0.1, int(LASTS_S / COMMITS_S))[(began_s // COMMITS_S).astype(int)]
        noise = np.exp(rng.normal(0, 0.05) + per_interval + spread * rng.normal(0, 1, len(began_s)))
        walls_s = (0.25 + slope_s * waiting) * np.where(is_beside, effect, 1.0) * noise
        tables = np.column_stack([3 + waiting, waiting, waiting > 0]).astype(float)
        parts.append(Queries(walls_s, tables, is_beside, np.full(len(began_s), number)))
    return Queries(*map(np.concatenate, zip(*parts, strict=True)))


def many(effect, count=200, **how):
    rng = np.random.default_rng(7)
    made = [simulated(rng, effect, **how) for _ in range(count)]
    plain = [of.walls_s[of.is_beside].mean() / of.walls_s[~of.is_beside].mean() for of in made]
    return [estimated(of) for of in made], float(np.mean(plain))


@pytest.mark.parametrize("effect", [1.0, 1.5])
def test_what_deletes_cost_is_not_blamed_on_the_compaction(effect):
    found, plain = many(effect, slope_s=0.015)
    assert plain > 1.2 * effect
    assert np.mean([of.ratio for of in found]) == pytest.approx(effect, rel=0.02)
    assert np.mean([of.low <= effect <= of.high for of in found]) > 0.9


def test_an_effect_is_found_and_none_is_not():
    found, _ = many(1.5)
    assert all(of.low > 1.2 for of in found)
    found, _ = many(1.0)
    assert np.mean([of.low > 1 or of.high < 1 for of in found]) < 0.1


def test_one_run_says_less_than_three():
    (one, _), (three, _) = many(1.0, 20, runs=1), many(1.0, 20)
    width = [np.mean([of.high / of.low for of in found]) for found in (one, three)]
    assert width[0] > width[1]


def made(walls_s, waiting, is_beside):
    waiting = np.asarray(waiting, dtype=float)
    tables = np.column_stack([waiting, waiting, waiting > 0])
    return Queries(
        np.asarray(walls_s), tables, np.asarray(is_beside, dtype=bool), np.zeros(len(waiting), dtype=int)
    )


def test_phases_that_met_other_tables_are_not_compared():
    rng = np.random.default_rng(1)
    waiting = np.tile(np.arange(10), 20)
    walls_s = 0.2 + 0.01 * waiting + rng.uniform(0, 0.02, 200)
    assert estimated(made(walls_s, waiting, waiting == 9)) is None  # no other query opened as much
    assert estimated(made(walls_s, waiting, np.arange(200) % 19 == 9)).ratio == pytest.approx(1, abs=0.05)


def test_a_phase_that_follows_from_the_table_has_no_effect_of_its_own():
    files, deletes = np.tile([1, 2, 3, 1, 2], 30), np.tile([1, 2, 3, 2, 3], 30)
    tables, is_beside = np.column_stack([files, deletes]).astype(float), deletes > files
    walls_s, runs = np.random.default_rng(1).uniform(0.2, 0.3, 150), np.zeros(150, dtype=int)
    assert estimated(Queries(walls_s, tables, is_beside, runs)) is None
    assert estimated(Queries(walls_s, tables[:, :1], is_beside, runs)) is not None


def test_few_compactions_say_nothing():
    rng = np.random.default_rng(1)
    for count, is_told in ((COMPACTIONS_MIN - 1, False), (COMPACTIONS_MIN, True)):
        is_beside = np.isin(np.arange(100), 10 * np.arange(1, count + 1))
        told = estimated(made(rng.uniform(0.2, 0.3, 100), rng.integers(0, 5, 100), is_beside))
        assert (told is not None) is is_told
    assert estimated(made([0.2] * 3, [1] * 3, [True] * 3)) is None
    assert estimated(made([], [], [])) is None


def test_the_phase_is_that_in_which_a_query_began_whatever_became_of_the_compaction():
    records = [observed(), commit(tick=1)]
    for number in range(6):
        at_s = 10.0 * number
        for began_s, took_s in ((at_s + 1, 0.3), (at_s + 4.5, 0.6), (at_s + 5, 0.2), (at_s + 8, 0.2)):
            span = {"started_s": began_s, "ended_s": began_s + took_s}
            records.append(query(took_s, when="due", waited_s=5.0, **span))
        lost = "conflict" if number % 2 else "ok"
        records.append(compaction(status=lost, started_s=at_s + 4.6, ended_s=at_s + 7.0))
    found = phase_effect([run(*records, truth(), end(), **LIVE)])
    assert (found.beside, found.others) == (6, 18)
    assert found.ratio == pytest.approx(0.2 / (1.1 / 3))


def test_without_runs_nothing_is_known():
    assert phase_effect([]) is None
