"""A writer that keeps the rows of several ticks back and commits them together: fewer files, and later."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bench.engines.contract import Batch
from workloads.commit import CommitSpec


def kept_back(batches: Iterable[Batch], commit_every_ms: int | None) -> Iterator[Batch]:
    """The batches of a stream that only appends, as committed every `commit_every_ms` of scenario time.

    None keeps none back. At the ticks in between the batches have no rows. An initial load is committed as it
    is. The rows after the last multiple of `commit_every_ms` are never committed.
    """
    if commit_every_ms is None:
        yield from batches
        return
    kept: list[Batch] = []
    for batch in batches:
        if batch.spec.is_initial:
            yield batch
            continue
        kept.append(batch)
        if batch.spec.at_ms % commit_every_ms:
            yield Batch(batch.spec.without_rows())
        else:
            yield _together(kept)
            kept.clear()


def last_committed(tick: int, commit_interval_ms: int, commit_every_ms: int | None) -> int:
    """The tick of the stream up to which the table has all rows at tick `tick`."""
    if commit_every_ms is None:
        return tick
    return tick - tick % (commit_every_ms // commit_interval_ms)


def _together(batches: Sequence[Batch]) -> Batch:
    spec = CommitSpec.together([batch.spec for batch in batches])
    paths = tuple(path for batch in batches for path in batch.paths)
    return replace(batches[-1], spec=spec, paths=paths, size_bytes=sum(batch.size_bytes for batch in batches))
