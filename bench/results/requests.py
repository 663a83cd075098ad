"""Requests to S3, if the steps of a run counted them: totals, and per query."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from bench.results.arithmetic import known_sum
from bench.results.figures import RunFigures
from bench.results.tables import Records, together

REQUEST_KINDS = ("GET", "HEAD", "PUT", "POST", "LIST", "DELETE")
# Amazon's price list, "Requests & data retrievals": PUT, COPY, POST and LIST have one price, GET and "all
# other requests" another, and DELETE is free. Other providers may charge differently.
AS_PUT, AS_GET = ("PUT", "POST", "LIST"), ("GET", "HEAD")


def writing_steps(f: RunFigures) -> tuple[Records[Any], ...]:
    """All steps that change the table, without the initial load."""
    return (f.commits, f.compactions, f.maintenance)


def is_on_s3(f: RunFigures) -> bool:
    """Whether any step sent a counted request; that the AWS SDK is loaded does not show it."""
    return any(together("requests", f.loads, *writing_steps(f), f.settled).tolist())


def s3_puts(f: RunFigures) -> float | None:
    """Requests of all writers that are charged as PUT; None if they were not counted."""
    return _sent(f, AS_PUT)


def s3_gets(f: RunFigures) -> float | None:
    """Requests of all writers that are charged as GET; None if they were not counted."""
    return _sent(f, AS_GET)


def gets_per_query(f: RunFigures) -> float | None:
    """Requests of a settled primary query that are charged as GET, mean over time; None if not counted."""
    return f.over_time.mean(_counts(AS_GET, f.over_time.queries)) if is_on_s3(f) else None


def _sent(f: RunFigures, kinds: Collection[str]) -> float | None:
    return known_sum(_counts(kinds, *writing_steps(f))) if is_on_s3(f) else None


def _counts(kinds: Collection[str], *steps: Records[Any]) -> np.ndarray:
    """How many requests of these kinds each step sent; NaN if they were not counted, or not separately."""
    counts = [np.nan if sent is None else _of(sent, kinds) for sent in together("requests", *steps).tolist()]
    return np.where(together("is_shared", *steps), np.nan, np.array(counts, dtype=float))


def _of(requests: Mapping[str, int], kinds: Iterable[str]) -> int:
    return sum(requests.get(kind, 0) for kind in kinds)
