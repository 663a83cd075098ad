"""The content check: compares all rows of a table with the folded change log."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.engines.contract import Engine
from workloads.change_log import ChangeLog, ChangeLogError, LoggedCommit
from workloads.content import content, differences
from workloads.fold import Fold

SHOWN_DIFFERENCES = 5


@dataclass(frozen=True, slots=True)
class ContentCheck:
    """Row counts and summed row hashes of the stream (expected) and of the table (found)."""

    expected_rows: int
    found_rows: int
    expected_hash: int
    found_hash: int
    differences: tuple[str, ...] = ()  # descriptions of the first few
    content_bytes: int | None = None  # of the content as compacted files; None if it was not dumped

    @property
    def equal(self) -> bool:
        return (self.expected_rows, self.expected_hash) == (self.found_rows, self.found_hash)


def check_content(
    engine: Engine, log: ChangeLog, commits: Sequence[LoggedCommit], folder: Path
) -> ContentCheck:
    """Dump the table below `folder`, compare it with `commits` of the log, measure and delete the dump.

    An append-only log folds to the union of its rows, a log of changes to the last row of each key. Partition
    columns that a format derived are not compared. Raises ChangeLogError if the log has changed since it was
    written.
    """
    if not log.is_unchanged(commits):
        raise ChangeLogError(
            f"{log.folder}: rows have changed since they were written; delete the folder, which will then "
            "be regenerated"
        )
    dump = folder / "dump"
    shutil.rmtree(dump, ignore_errors=True)
    try:
        engine.dump(dump)
        dumped = sorted(dump.glob("*.parquet"))
        check = compare_content(dumped, log.table_after(commits), log.columns)
        return replace(check, content_bytes=sum(file.stat().st_size for file in dumped))
    finally:
        shutil.rmtree(dump, ignore_errors=True)


def compare_content(
    found: Sequence[Path], expected: Sequence[Path] | Fold, columns: Sequence[str]
) -> ContentCheck:
    """Compare Parquet files with other Parquet files, or with a fold, as multisets of rows."""
    left, right = content(expected, columns), content(found, columns)
    check = ContentCheck(left.rows, right.rows, left.hash, right.hash)
    if check.equal:
        return check
    first = differences(expected, found, columns, limit=SHOWN_DIFFERENCES)
    return replace(
        check,
        differences=tuple(
            f"order_id {d.key}: {d.kind} ({d.left_rows} expected, {d.right_rows} found)" for d in first
        ),
    )
