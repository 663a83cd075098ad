"""Which session's queries the latencies of a run are of."""

from bench.results.folders import RunResult
from bench.results.records import QueryRecord
from bench.results.tables import Records
from bench.results.values import Session


def queries_by(run: RunResult, session: Session | None = None) -> Records[QueryRecord]:
    """The queries of one kind of session, by default of the kind that latencies are of.

    That is the long-lived one, as of an application that stays connected, if the run has it: simulations and
    results of earlier versions have new sessions only.
    """
    queries = run.of(QueryRecord)
    sessions = queries.column("session")
    chosen = session or ("long-lived" if (sessions == "long-lived").any() else "new")
    return queries.having(session=chosen)
