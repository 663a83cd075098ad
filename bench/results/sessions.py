"""Which sessions' queries a run has, and which its latencies are of."""

from bench.results.folders import RunResult
from bench.results.records import QueryRecord
from bench.results.tables import Records
from bench.results.values import Session


def queries_by(run: RunResult, session: Session | None = None) -> Records[QueryRecord]:
    """The queries of one kind of session, by default of the kind that latencies are of.

    That is the long-lived one, as of an application that stays connected, if the run has it.
    """
    chosen = session or ("long-lived" if has_long_lived(run) else "new")
    return run.of(QueryRecord).having(session=chosen)


def has_long_lived(run: RunResult) -> bool:
    """Results of earlier versions, and simulations by coefficients without them, have new sessions only."""
    return bool((run.of(QueryRecord).column("session") == "long-lived").any())
