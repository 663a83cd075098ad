"""Requests to S3, if the steps of a run counted them: totals, and per query."""

from collections.abc import Collection, Iterable, Mapping

from bench.results.arithmetic import all_known, total
from bench.results.figures import RunFigures
from bench.results.records import (
    CommitRecord,
    CompactionRecord,
    MaintenanceRecord,
    QueryRecord,
)

REQUEST_KINDS = ("GET", "HEAD", "PUT", "POST", "LIST", "DELETE")
# Amazon's price list, "Requests & data retrievals": PUT, COPY, POST and LIST have one price, GET and "all
# other requests" another, and DELETE is free. Other providers may charge differently.
AS_PUT, AS_GET = ("PUT", "POST", "LIST"), ("GET", "HEAD")

WritingStep = CommitRecord | CompactionRecord | MaintenanceRecord


def writing_steps(f: RunFigures) -> tuple[WritingStep, ...]:
    """All steps that change the table, without the initial load."""
    return (*f.commits, *f.compactions, *f.maintenance)


def is_on_s3(f: RunFigures) -> bool:
    """Whether any step sent a counted request; that the AWS SDK is loaded does not show it."""
    return any(step.cost.requests for step in (*f.loads, *writing_steps(f), *f.settled))


def s3_puts(f: RunFigures) -> float | None:
    """Requests of all writers that are charged as PUT; None if they were not counted."""
    return _sent(f, AS_PUT)


def s3_gets(f: RunFigures) -> float | None:
    """Requests of all writers that are charged as GET; None if they were not counted."""
    return _sent(f, AS_GET)


def gets_per_query(f: RunFigures) -> float | None:
    """Requests of a settled primary query that are charged as GET, mean over time; None if not counted."""
    return f.over_time.mean(_query_gets) if is_on_s3(f) else None


def _query_gets(query: QueryRecord) -> int | None:
    return None if query.cost.own_requests is None else _of(query.cost.own_requests, AS_GET)


def _sent(f: RunFigures, kinds: Collection[str]) -> float | None:
    counted = all_known(step.cost.own_requests for step in writing_steps(f)) if is_on_s3(f) else None
    return None if counted is None else total(_of(requests, kinds) for requests in counted)


def _of(requests: Mapping[str, int], kinds: Iterable[str]) -> int:
    return sum(requests.get(kind, 0) for kind in kinds)
