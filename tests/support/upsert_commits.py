"""Commits of a stream of changes by their counts, made by hand."""

from bench.engines.contract import Batch, Engine
from workloads.commit import CommitSpec, KeyShape
from workloads.keys import KeyChoice
from workloads.schema import ORDERS
from workloads.spread import change_shapes, data_shapes


def load(rows, files=1, partition=""):
    """The initial load: keys 1 to `rows`."""
    shapes = data_shapes(ORDERS, 7, 0, rows, files, ((partition, 1.0),))
    return CommitSpec(0, 0, 0, rows, rows, 0, 0, files, shapes)


def changes(
    index, population, inserts=0, updates=0, deletes=0, hit=None, again=0, writers=1, skew="uniform",
    loaded=None, partition="", known=True,
):  # fmt: skip
    """A commit that hits `hit` of the keys there (all its updates and deletes unless said otherwise).

    It replaces `again` rows of its own. All is in one partition. Its keys may not be `known`.
    """
    hit = updates + deletes if hit is None else hit
    counts = [{partition: count} for count in (inserts + updates, inserts + hit, again)]
    shapes = change_shapes(ORDERS, *({p: c for p, c in each.items() if c} for each in counts), writers)
    choice = KeyChoice(skew, 1.0, loaded or population)
    rows = inserts + updates + deletes
    return CommitSpec(
        index, 60_000 * index, population, rows, inserts, updates, deletes, writers, shapes,
        KeyShape(population, inserts, hit, choice) if known else None,
    )  # fmt: skip


def commit_specs(engine: Engine, *specs):
    """The outcome of the last."""
    return [engine.commit(Batch(spec, (), spec.expected_bytes), spec.at_ms) for spec in specs][-1]
