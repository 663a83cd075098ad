"""Writers that keep back the rows of several ticks and commit them together: fewer files, staler data."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bench.engines.contract import Batch
from workloads.commit import CommitSpec


def kept_back(batches: Iterable[Batch], commit_every_ms: int | None) -> Iterator[Batch]:
    """The batches of an append-only stream, committed every `commit_every_ms` of scenario time.

    None keeps nothing back. At the ticks in between, batches have no rows. An initial load is not kept back.
    Rows after the last multiple of `commit_every_ms` are never committed.
    """
    if commit_every_ms is None:
        yield from batches
        return
    waiting: list[Batch] = []
    for batch in batches:
        if batch.spec.is_initial:
            yield batch
            continue
        waiting.append(batch)
        if batch.spec.at_ms % commit_every_ms:
            yield Batch(batch.spec.without_rows())
        else:
            yield _together(waiting)
            waiting.clear()


def last_committed(tick: int, commit_interval_ms: int, commit_every_ms: int | None) -> int:
    """The latest tick whose rows the table has at `tick`."""
    if commit_every_ms is None:
        return tick
    return tick - tick % (commit_every_ms // commit_interval_ms)


def _together(batches: Sequence[Batch]) -> Batch:
    spec = CommitSpec.together([batch.spec for batch in batches])
    paths = tuple(path for batch in batches for path in batch.paths)
    return replace(batches[-1], spec=spec, paths=paths, size_bytes=sum(batch.size_bytes for batch in batches))
