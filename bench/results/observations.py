"""How the table was between the steps of a run."""

from bench.results.folders import RunResult
from bench.results.records import ObserveRecord


def as_left(run: RunResult) -> tuple[ObserveRecord, ...]:
    """The table as each commit interval of the stream leaves it, which is how it stays until the next commit.

    A mean of these is a mean over time, whether a strategy compacts within a commit or after it.
    """
    last = {each.tick: each for each in run.of(ObserveRecord) if each.after != "initial"}
    return tuple(last.values())
