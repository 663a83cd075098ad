"""How often readers ask while a run's stream goes on, by the scenario's `queries.arrival`."""

import numpy as np

from bench.results.records import Manifest

WEIGHTED_WORDS = (
    "readers ask at a changing rate (queries.arrival): mean queries are means over the queries that arrive, "
    "not over time, and a number of queries an hour is the mean over the stream"
)
# What the definition of a figure says where readers ask at a constant rate, and where they do not.
_IN_WORDS = {
    "over scenario time": "over the queries that arrive",
    "over time": "over the queries that arrive",
    "at a random moment": "of a random query",
    "the ticks with a query alone": "the ticks with a query alone, each by how many arrive",
    "queries per hour above": "queries per hour, as the mean over the stream, above",
}


def query_weights(manifest: Manifest, ticks: np.ndarray) -> np.ndarray:
    """How many queries arrive from each of some ticks to the next, relative to the mean of the stream."""
    if manifest.query_weights is None:
        return np.ones(len(ticks))
    return np.asarray(np.array([0.0, *manifest.query_weights])[ticks])


def in_query_words(definition: str) -> str:
    """The definition of a mean of queries, for a scenario in which their rate changes."""
    for constant, changing in _IN_WORDS.items():
        definition = definition.replace(constant, changing)
    return definition
