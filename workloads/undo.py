"""A recorded history without its compactions: what the stream alone did to files.

A commit may remove a file that a compaction wrote, or delete rows of it. Without the compaction it does that
to the files that were compacted. Which of them went into which output is not recorded: within a partition (in
Hudi a file group) they are assigned in their order, by rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from workloads.recorded import RecordedCommit, RecordedFile

_Key = tuple[str, bool, int | None]


def without_compactions(commits: Iterable[RecordedCommit]) -> Iterator[RecordedCommit]:
    """The commits of the stream, with the files that it wrote itself."""
    made_of: dict[int, tuple[RecordedFile, ...]] = {}  # what each output of a compaction was made of
    groups: dict[int, int] = {}  # the older file group for each one that a clustering made
    for commit in commits:
        if commit.is_compaction:
            _note(commit, made_of, groups)
        else:
            yield _undone(commit, made_of, groups)


def _undone(
    commit: RecordedCommit, made_of: dict[int, tuple[RecordedFile, ...]], groups: dict[int, int]
) -> RecordedCommit:
    removed = (source for file in commit.removed for source in made_of.get(file.id, (file,)))
    return replace(
        commit,
        added=tuple(_retargeted(file, made_of, groups) for file in commit.added),
        removed=tuple({file.id: _retargeted(file, made_of, groups) for file in removed}.values()),
    )


def _retargeted(
    file: RecordedFile, made_of: dict[int, tuple[RecordedFile, ...]], groups: dict[int, int]
) -> RecordedFile:
    group = file.group if file.group is None else groups.get(file.group, file.group)
    targets = tuple(id_ for target in file.targets for id_ in _ids(made_of, target))
    if (targets, group) == (file.targets, file.group):
        return file
    return replace(file, targets=targets, group=group)


def _ids(made_of: dict[int, tuple[RecordedFile, ...]], id_: int) -> tuple[int, ...]:
    return tuple(file.id for file in made_of[id_]) if id_ in made_of else (id_,)


def _note(
    commit: RecordedCommit, made_of: dict[int, tuple[RecordedFile, ...]], groups: dict[int, int]
) -> None:
    kept_groups = {file.group for file in commit.removed} & {file.group for file in commit.added}

    def key(file: RecordedFile) -> _Key:
        is_slice = file.group is not None  # a file slice is compacted as a whole, log files included
        return file.partition, is_slice or file.is_data, file.group if file.group in kept_groups else None

    sources: dict[_Key, list[RecordedFile]] = defaultdict(list)
    for file in commit.removed:
        sources[key(file)] += made_of.get(file.id, (file,))
    outputs: dict[_Key, list[RecordedFile]] = defaultdict(list)
    for file in commit.added:
        outputs[key(file)].append(file)
    for where, made in outputs.items():
        for file, own in zip(made, _shared(sources[where], made), strict=True):
            made_of[file.id] = own
            if file.group is not None and own and own[0].group not in (None, file.group):
                groups[file.group] = own[0].group or 0


def _shared(
    sources: Sequence[RecordedFile], outputs: Sequence[RecordedFile]
) -> Iterator[tuple[RecordedFile, ...]]:
    """The sources of each output, so that their rows are shared as those of the outputs are."""
    scale = sum(file.rows for file in sources) / max(1, sum(file.rows for file in outputs))
    place, taken, end = 0, 0.0, 0.0
    for number, output in enumerate(outputs, start=1):
        end += output.rows * scale
        start = place
        while place < len(sources) and (taken < end or number == len(outputs)):
            taken += sources[place].rows
            place += 1
        yield tuple(sources[start:place] or sources[-1:])
