"""How many rows the log files of a Hudi table hit, as far as its compactions tell."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from workloads.recorded import Content, RecordedCommit, RecordedFile


def with_known_hits(commits: Sequence[RecordedCommit]) -> tuple[list[RecordedCommit], float | None]:
    """The commits with what compactions tell about log files, and the share of stated hits that were any.

    A write to a bucket does not look up whether a key has a row, and counts every record as an update. The
    rows that a compaction kept tell how many rows the log files hit that it merged; others are taken to have
    hit the same share. It is None if no compaction tells.
    """
    known = dict[int, RecordedFile]()
    stated_rows = true_rows = 0
    for gone, made in (merge for commit in commits for merge in _merges(commit)):
        logs = [file for file in gone if file.content is Content.LOG]
        stated = sum(file.hit_rows or 0 for file in logs)
        if not stated or any(file.new_rows is None for file in gone):
            continue
        rows = sum(file.rows if file.is_data else file.new_rows or 0 for file in gone)
        hits = min(stated, max(0, rows - sum(file.rows for file in made)))
        known.update((file.id, file) for file in _sharing(logs, hits, stated))
        stated_rows, true_rows = stated_rows + stated, true_rows + hits
    if not stated_rows:
        return list(commits), None
    share = true_rows / stated_rows

    def corrected(file: RecordedFile) -> RecordedFile:
        if file.content is not Content.LOG or file.hit_rows is None or file.id in known:
            return known.get(file.id, file)
        return replace(file, hit_rows=round(file.hit_rows * share))

    return [
        replace(c, added=tuple(map(corrected, c.added)), removed=tuple(map(corrected, c.removed)))
        for c in commits
    ], share


def _merges(commit: RecordedCommit) -> Iterable[tuple[list[RecordedFile], list[RecordedFile]]]:
    """The files that a compaction replaced, and those that have their rows: by file group if it kept them."""
    kept = {file.group for file in commit.added} & {file.group for file in commit.removed}
    merges = defaultdict[int | None, tuple[list[RecordedFile], list[RecordedFile]]](lambda: ([], []))
    for side, files in enumerate((commit.removed, commit.added)):
        for file in files if commit.is_compaction else ():
            merges[file.group if file.group in kept else None][side].append(file)
    return merges.values()


def _sharing(logs: Iterable[RecordedFile], hits: int, stated: int) -> Iterator[RecordedFile]:
    """The log files with `hits` rows that they hit together, in proportion to those that they state."""
    before = 0
    for file in logs:
        until = before + (file.hit_rows or 0)
        yield replace(file, hit_rows=hits * until // stated - hits * before // stated)
        before = until
