"""The data files of a recorded commit, in a simulated table that may have other files than the recorded."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bench.engines.simulated.costs import Coefficients
from strategies.grouping import by_key
from strategies.series import Run
from workloads.recorded import RecordedFile
from workloads.schema import Schema


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The files that a commit replaces in a partition, with `left_rows`, and those that it adds.

    The recorded rows of the added ones are `added_rows`; they may have those that are left, too.
    """

    partition: str
    gone: Sequence[Run[Any]]
    left_rows: int
    added: Sequence[RecordedFile]
    added_rows: int


def rewritten(
    gone: Iterable[tuple[Run[Any], int]], added: Iterable[RecordedFile], schema: Schema, sizes: Coefficients
) -> Iterator[Rewritten]:
    """What a recorded commit does to data files, by partition.

    It removes the rows of some recorded files. A file that a compaction has made of them and of others is
    replaced as well, as a writer that copies on write would do: the other rows, of which `gone` gives the
    number, go into the files that the commit adds to the partition, each in proportion to its rows. If it
    adds none, they get a file of their own, which is left to the caller.
    """
    old = by_key(gone, lambda run_and_left: run_and_left[0].first.partition)
    new = by_key(added, lambda file: file.partition)
    for partition in dict.fromkeys((*old, *new)):
        replaced, own = old.get(partition, []), new.get(partition, [])
        more = sum(left for _, left in replaced)
        all_rows = sum(file.rows for file in own)
        if more and all_rows:
            own = [resized(file, file.rows + more * file.rows // all_rows, schema, sizes) for file in own]
        yield Rewritten(partition, [run for run, _ in replaced], more, own, all_rows)


def resized(file: RecordedFile, rows: int, schema: Schema, sizes: Coefficients) -> RecordedFile:
    """The file with another number of rows, as much larger or smaller as the table's files are."""
    if not file.rows:
        return file
    growth = sizes.table_bytes(schema, rows) / sizes.table_bytes(schema, file.rows)
    return replace(file, rows=rows, size_bytes=round(file.size_bytes * growth))


def size_ratio(runs: Iterable[Run[Any]], schema: Schema, sizes: Coefficients) -> float:
    """How much larger these files are than the size model expects; 1 if they are of our own making.

    Files of one partition of an imported table differ from its others in a way that merging does not change.
    """
    if not schema.of_table:
        return 1.0
    own = expected = 0
    for run in runs:
        own += run.count * run.first.size_bytes
        expected += run.count * sizes.table_bytes(schema, run.first.rows)
    return own / expected if expected else 1.0
