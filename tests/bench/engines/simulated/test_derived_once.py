"""The index of all deletes is made once per version of a simulated table, whoever asks for it."""

import pytest
from engine_streams import FULL_SCAN
from evaluate import evaluate
from simulated_tables import make
from upsert_commits import changes, commit_specs, load

from bench.replay.execution import forecast
from strategies.amoro.planner import Amoro
from strategies.iceberg.delete_planners import ConvertDeletes
from strategies.iceberg.deletes import index as indexing
from strategies.iceberg.procedures import RewriteDataFiles
from strategies.strategy import Rule, Strategy, Verdict
from strategies.triggers import AfterCommits

AT_MS = 120_000


@pytest.fixture
def built(monkeypatch):
    """Every index made from now on."""
    found, real = [], indexing.DeleteIndex

    def recorded(**parts):
        found.append(real(**parts))
        return found[-1]

    monkeypatch.setattr(indexing, "DeleteIndex", recorded)
    return found


# Two large files, and two commits of updates, each with equality and position deletes.
STREAM = [load(200_000, 2), *(changes(n, 200_000, updates=200, hit=190, again=10, writers=2) for n in (1, 2))]


@pytest.fixture
def engine():
    made = make()
    commit_specs(made, *STREAM)
    return made


def evaluated(engine, planner):
    """Decide, schedule (veto, and preparing where it is explicit), and forecast."""
    strategy = Strategy("any", (Rule(AfterCommits(1), planner),))
    state = engine.state(AT_MS)
    ((decision,), _) = evaluate(strategy, state, strategy.fresh_memories())
    assert decision.verdict is Verdict.PLANNED
    ticket = engine.schedule(decision.plan, AT_MS, AT_MS)
    forecast(ticket, lambda rows, files: rows)
    return ticket


@pytest.mark.parametrize(
    ("planner", "count"),
    [
        (Amoro({"self-optimizing.target-size": "8MiB"}), 1),
        (RewriteDataFiles(options={"delete-file-threshold": 1, "remove-dangling-deletes": True}), 1),
        (
            ConvertDeletes(),
            1,
        ),  # without deletes that several files share, the index of these is the empty one
    ],
    ids=["amoro", "rewrite", "convert"],
)
def test_an_evaluation_makes_the_index_once(engine, built, planner, count):
    ticket = evaluated(engine, planner)
    assert len(built) == count
    outcome = engine.complete(ticket, AT_MS)  # a command of the format is prepared only now
    assert (outcome.status, len(built)) == ("ok", count)


def test_another_version_has_another_index_once(engine, built):
    engine.complete(evaluated(engine, Amoro({"self-optimizing.target-size": "8MiB"})), AT_MS)
    before = indexing.delete_index(engine.state(AT_MS))
    engine.query(FULL_SCAN)  # it counts the whole table again, after a rewrite
    assert indexing.delete_index(engine.state(AT_MS + 60_000)) is before
    assert len(built) == 1  # no delete is left, so that the second is the empty one
    commit_specs(engine, changes(3, 200_000, updates=200, hit=190, again=10, writers=2))
    assert indexing.delete_index(engine.state(AT_MS)) is not before
