"""Which session's queries the latencies of a run are of."""

from bench.results.folders import RunResult
from bench.results.records import QueryRecord
from bench.results.values import Session


def queries_by(run: RunResult, session: Session | None = None) -> tuple[QueryRecord, ...]:
    """The queries of one kind of session, by default of the kind that latencies are of.

    That is the long-lived one, as of an application that stays connected, if the run has it: simulations and
    results of earlier versions have new sessions only.
    """
    queries = run.of(QueryRecord)
    has_both = any(query.session == "long-lived" for query in queries)
    chosen = session or ("long-lived" if has_both else "new")
    return tuple(query for query in queries if query.session == chosen)
