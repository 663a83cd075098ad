"""The history of an Iceberg table, from its metadata alone.

The entry of a file keeps the sequence number of the commit that added it (file_sequence_number), also after
its removal. So what a commit added is what is live now, or was removed later, with the number of that commit:
besides the current manifest list only those of commits that removed files are read. Table spec, "Manifest
Entry Fields" and "Sequence Number Inheritance".
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyiceberg.manifest import ManifestContent, ManifestFile
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.types import NestedField

from bench.engines.contract import TAG_PROPERTY, Tag
from bench.engines.existing import no_commits
from bench.engines.iceberg.manifests import LiveFile, RecordedEntry, entries_of, key_column
from bench.engines.iceberg.model.files import KINDS
from bench.engines.iceberg.state import decoding, manifests_of, target_bytes_of
from bench.errors import ScenarioError
from bench.text import counted
from strategies.iceberg.files import IcebergDeleteFile
from workloads.history_file import TableHistory
from workloads.recorded import Content, HistoryFacts, RecordedCommit, RecordedFile

_CONTENTS = {kind: content for content, kind in KINDS.items()}
_BY_POSITION = (Content.POSITION, Content.VECTOR)
_WHOLE = 0.95  # of the rows of a partition: a compaction of so many counts as one of all
_CLOCK_SKEW_MS = 60_000  # TableMetadata.ONE_MINUTE
_END_MS = 253_402_300_800_000  # of the year 9999, the last that dates can have
_VERSION_MIN = 2  # earlier ones have no sequence numbers


def read_history(table: Table, head: Snapshot | None, since_ms: int | None) -> TableHistory:
    """The commits that lead to `head`, from `since_ms` (epoch) on if it is given.

    Raises ScenarioError if there are none, or if the metadata contradict themselves.
    """
    version = table.metadata.format_version
    if version < _VERSION_MIN:
        raise ScenarioError(
            f"has format version {version}, which does not record when files were added: upgrade the table "
            f"to version {_VERSION_MIN}, and import what it commits from then on",
            code="wrong-version",
            path=table.metadata_location,
        )
    lineage = [s for s in _lineage(table, head) if s.sequence_number]  # without it, of format version 1
    snapshots = [s for s in lineage if since_ms is None or s.timestamp_ms >= since_ms]
    if not snapshots:
        newest_ms = lineage[-1].timestamp_ms if lineage else None
        raise no_commits(newest_ms, table.metadata_location)
    _check_times(snapshots, table)
    found = _found(table, snapshots)
    start, commits = _commits(snapshots, found)
    _check(start, commits, snapshots, table)
    commits = [commit for commit in commits if commit.added or commit.removed]
    hit_share = hit_share_of(start, commits)
    times_ms = [commit.at_ms for commit in commits] or [snapshots[0].timestamp_ms]
    facts = HistoryFacts(
        format="iceberg",
        table_keys={"format_version": version},
        columns_count=len(table.schema().fields),
        partition_columns=tuple(field.name for field in table.spec().fields),
        target_file_size_bytes=target_bytes_of(table.properties),
        from_ms=times_ms[0],
        until_ms=times_ms[-1],
        hit_share=hit_share,
        notes=tuple(
            _notes(commits, hit_share, found.specs_count, has_expired=bool(start) and snapshots == lineage)
        ),
    )
    return TableHistory(facts, tuple(start), tuple(commits))


def _check_times(snapshots: Sequence[Snapshot], table: Table) -> None:
    """Raises ScenarioError for a snapshot at an impossible time, or before the one that it follows.

    A writer's clock may be a minute behind that of the writer before, as Iceberg's readers allow.
    """
    earliest_ms = 0
    for snapshot in snapshots:
        if not earliest_ms <= snapshot.timestamp_ms < _END_MS:
            problem = (
                f"snapshot {snapshot.snapshot_id} has timestamp-ms = {snapshot.timestamp_ms}, not a time "
                "after the snapshot before it: the metadata is damaged, or the clock of a writer was wrong"
            )
            raise ScenarioError(problem, code="damaged", path=table.metadata_location)
        earliest_ms = max(snapshot.timestamp_ms - _CLOCK_SKEW_MS, 0)


def _lineage(table: Table, head: Snapshot | None) -> Iterator[Snapshot]:
    """The snapshots that lead to one, oldest first: those on other branches and rolled back ones are not."""
    known = {snapshot.snapshot_id: snapshot for snapshot in table.metadata.snapshots}
    chain = []
    while head is not None:
        chain.append(head)
        head = None if head.parent_snapshot_id is None else known.get(head.parent_snapshot_id)
    return reversed(chain)


@dataclass(frozen=True, slots=True)
class _Found:
    """The files that snapshots added, by their sequence numbers, and removed, by the ids of the snapshots."""

    added: Mapping[int, Sequence[RecordedFile]]
    removed: Mapping[int, Sequence[RecordedFile]]
    specs_count: int


def _found(table: Table, snapshots: Sequence[Snapshot]) -> _Found:
    manifests = list(_manifests(table, snapshots))
    deletes = (m for m, _ in manifests if m.content is ManifestContent.DELETES)
    compared = {entry.equality_ids for m in deletes for entry in _read(m, table) if entry.equality_ids}
    key = key_column(compared, table.schema()) if compared else None
    entries = [
        entry
        for manifest, deleted_by in manifests
        for entry in _read(manifest, table, key)
        if entry.deleted_by == deleted_by
    ]
    ranks, ids = _ranks(entries), dict[str, int]()
    added, removed = defaultdict[int, list[RecordedFile]](list), defaultdict[int, list[RecordedFile]](list)
    for entry in entries:
        file = _recorded(entry.file, ranks, ids)
        added[entry.added_number].append(file)
        if entry.deleted_by is not None:
            removed[entry.deleted_by].append(file)
    return _Found(added, removed, len({entry.file.spec_id for entry in entries}))


def _manifests(table: Table, snapshots: Sequence[Snapshot]) -> Iterator[tuple[ManifestFile, int | None]]:
    """The manifests to read, and the snapshot whose removals are wanted of each; None for the live files."""
    for snapshot in filter(_removes, snapshots):
        for manifest in manifests_of(snapshot, table.io):
            if manifest.added_snapshot_id == snapshot.snapshot_id and manifest.deleted_files_count != 0:
                yield manifest, snapshot.snapshot_id
    for manifest in manifests_of(snapshots[-1], table.io):
        yield manifest, None


def _read(manifest: ManifestFile, table: Table, key: NestedField | None = None) -> list[RecordedEntry]:
    with decoding(manifest.manifest_path):
        return list(entries_of(manifest, table, key))


def _recorded(file: LiveFile, ranks: Mapping[object, int], ids: dict[str, int]) -> RecordedFile:
    """`ids` are the numbers of files by their keys; a file that is new there gets the next one."""
    content, targets = Content.DATA, tuple[int, ...]()
    if isinstance(file, IcebergDeleteFile):
        content = _CONTENTS[file.kind]
        if file.referenced_data_file is not None:
            targets = (ids.setdefault(file.referenced_data_file, len(ids)),)
    bounds = file.key_bounds
    keys = None if bounds is None or bounds.lower is None else (ranks[bounds.lower], ranks[bounds.upper])
    return RecordedFile(
        ids.setdefault(file.key, len(ids)), content, file.size_bytes, file.rows, file.partition, targets,
        file.data_sequence_number, keys,
    )  # fmt: skip


def _ranks(entries: Iterable[RecordedEntry]) -> Mapping[object, int]:
    """The place of each key bound among all of them."""
    bounds = (entry.file.key_bounds for entry in entries)
    values = {value for b in bounds if b is not None and b.lower is not None for value in (b.lower, b.upper)}
    return {value: rank for rank, value in enumerate(sorted(values))}


def _removes(snapshot: Snapshot) -> bool:
    """Whether a snapshot removed files; its summary may leave out zeros."""
    summary = snapshot.summary.additional_properties if snapshot.summary else None
    counts = ("deleted-data-files", "removed-delete-files")
    return summary is None or any(summary.get(name, "0") != "0" for name in counts)


def _commits(snapshots: Iterable[Snapshot], found: _Found) -> tuple[list[RecordedFile], list[RecordedCommit]]:
    """The files before the first snapshot, and what each snapshot added and removed."""
    added, commits = dict(found.added), []
    for snapshot in snapshots:
        summary = snapshot.summary.additional_properties if snapshot.summary else {}
        operation = snapshot.summary.operation.value if snapshot.summary else "unknown"
        new = added.pop(snapshot.sequence_number or 0, [])
        commits.append(
            RecordedCommit(
                snapshot.timestamp_ms, str(snapshot.snapshot_id), operation,
                _is_compaction(operation, summary),
                tuple(new), tuple(found.removed.get(snapshot.snapshot_id, ())),
            )
        )  # fmt: skip
    return [file for files in added.values() for file in files], commits


def _is_compaction(operation: str, summary: Mapping[str, str]) -> bool:
    """Amoro marks its commits, of which those that add delete files are not replacing; so do our own."""
    tag = Tag.parse(summary.get(TAG_PROPERTY, ""))
    if tag is not None:
        return not tag.is_of_writer
    return operation == "replace" or summary.get("snapshot.producer") == "OPTIMIZE"


@dataclass(slots=True)
class _Pending:
    """Deletes of a partition since it was last compacted as a whole: keys, and rows by position.

    `is_known`: the hits of all of them are still in its data files.
    """

    keys: int = 0
    position_rows: int = 0
    is_known: bool = True


def hit_share_of(start: Iterable[RecordedFile], commits: Iterable[RecordedCommit]) -> float | None:
    """Which share of the keys in equality deletes deleted a row; None if no compaction tells.

    A compaction of nearly all rows of a partition drops those that its deletes since the last such compaction
    hit; which ones position deletes hit is known. A conversion writes the hits of equality deletes as
    position deletes.
    """
    rows, pending = Counter[str](), defaultdict[str, _Pending](_Pending)
    _count_rows(rows, start, 1)
    for file in start:
        pending[file.partition].is_known &= file.is_data
    hit_rows = keys_count = 0
    for commit in commits:
        if not commit.is_compaction:
            for file in commit.added:
                own = pending[file.partition]
                own.keys += file.rows * (file.content is Content.EQUALITY)
                own.position_rows += file.rows * (file.content in _BY_POSITION)
            for file in commit.removed:  # replaced by others that have its positions
                pending[file.partition].position_rows -= file.rows * (file.content in _BY_POSITION)
        elif any(file.content in _BY_POSITION for file in commit.added):
            came, went = _rows_by_content(commit.added), _rows_by_content(commit.removed)
            positions = sum(went[content] - came[content] for content in _BY_POSITION)
            hit_rows += went[Content.DATA] - came[Content.DATA] - positions
            keys_count += went[Content.EQUALITY]
        else:
            for partition, (read, written) in _rewritten_rows(commit).items():
                own, is_whole = pending[partition], read >= _WHOLE * rows[partition]
                if is_whole and own.is_known and own.keys:
                    hit_rows += read - written - own.position_rows
                    keys_count += own.keys
                if is_whole:
                    pending[partition] = _Pending()
                elif read != written:
                    own.is_known = False
        _count_rows(rows, commit.added, 1)
        _count_rows(rows, commit.removed, -1)
    return min(1.0, max(0.0, hit_rows / keys_count)) if keys_count else None


def _count_rows(rows: Counter[str], files: Iterable[RecordedFile], sign: int) -> None:
    for file in files:
        rows[file.partition] += sign * file.rows * file.is_data


def _rewritten_rows(commit: RecordedCommit) -> Mapping[str, tuple[int, int]]:
    """The rows of data files that a compaction read and wrote, by partition."""
    read, written = Counter[str](), Counter[str]()
    _count_rows(read, commit.removed, 1)
    _count_rows(written, commit.added, 1)
    return {partition: (read[partition], written[partition]) for partition in read}


def _rows_by_content(files: Iterable[RecordedFile]) -> Counter[Content]:
    rows = Counter[Content]()
    for file in files:
        rows[file.content] += file.rows
    return rows


def _check(
    start: Collection[RecordedFile],
    commits: Iterable[RecordedCommit],
    snapshots: Iterable[Snapshot],
    table: Table,
) -> None:
    """Compare the totals after each commit with those that its summary states. Raises ScenarioError."""
    counts, rows = Counter(file.is_data for file in start), sum(file.rows for file in start if file.is_data)
    for commit, snapshot in zip(commits, snapshots, strict=True):
        for sign, files in ((1, commit.added), (-1, commit.removed)):
            for file in files:
                counts[file.is_data] += sign
                rows += sign * file.rows * file.is_data
        summary = snapshot.summary.additional_properties if snapshot.summary else {}
        found = {"total-data-files": counts[True], "total-delete-files": counts[False], "total-records": rows}
        for name, value in found.items():
            if int(summary.get(name, value)) != value:
                raise ScenarioError(
                    f"snapshot {commit.version} states {name} = {summary[name]}, but the manifests add up to "
                    f"{value}: check the table with its own engine",
                    code="damaged",
                    path=table.metadata_location,
                )


def _notes(
    commits: Collection[RecordedCommit], hit_share: float | None, specs_count: int, *, has_expired: bool
) -> Iterator[str]:
    if has_expired:
        yield "older snapshots have expired: what they committed is part of the table at the start"
    if specs_count > 1:
        yield (
            f"files have {counted(specs_count, 'partition spec')}: simulated policies merge them "
            "as if all had the current one"
        )
    if any(file.content is Content.EQUALITY for commit in commits for file in commit.added):
        yield (
            "no compaction tells how many keys of equality deletes hit a row: hit_share says it"
            if hit_share is None
            else f"{hit_share:.0%} of the keys of equality deletes hit a row, by what compactions dropped"
        )
    same = [commit for commit in commits if _may_be_compaction(commit)]
    if same:
        yield (
            f"{counted(len(same), 'overwrite')} kept the number of rows in fewer files: if they are "
            "compactions by another name, they are replayed as commits of the stream"
        )


def _may_be_compaction(commit: RecordedCommit) -> bool:
    if commit.is_compaction or commit.operation != "overwrite" or not commit.removed:
        return False
    files = (*commit.added, *commit.removed)
    rows = [sum(file.rows for file in side) for side in (commit.added, commit.removed)]
    return all(f.is_data for f in files) and rows[0] == rows[1] and len(commit.added) < len(commit.removed)
