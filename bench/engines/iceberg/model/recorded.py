"""The files of a recorded commit in a simulated Iceberg table, which other compactions may have changed."""

from collections import defaultdict
from dataclasses import dataclass, field, replace

from bench.engines.iceberg.ledger import IcebergLedger
from bench.engines.iceberg.model.coefficients import IcebergCoefficients
from bench.engines.iceberg.model.files import KINDS, FileMaker, span_of
from bench.engines.simulated.recorded_files import rewritten, size_ratio
from bench.engines.simulated.recorded_rows import RecordedRows, is_recorded, recorded_path
from strategies.iceberg.files import IcebergDataFile, IcebergDeleteFile
from strategies.series import Run
from workloads.commit import CommitSpec
from workloads.recorded import Content, RecordedChange, RecordedFile
from workloads.schema import Schema


@dataclass(slots=True)
class RecordedSnapshot:
    """The files that a snapshot adds and removes."""

    data: list[IcebergDataFile] = field(default_factory=list)
    deletes: list[IcebergDeleteFile] = field(default_factory=list)
    removed: list[Run[IcebergDataFile]] = field(default_factory=list)
    removed_deletes: list[str] = field(default_factory=list)


class RecordedCommits:
    """Applies recorded commits to the live rows of a table; the ledger follows with the snapshot."""

    def __init__(
        self, ledger: IcebergLedger, rows: RecordedRows, maker: FileMaker, schema: Schema,
        coefficients: IcebergCoefficients,
    ) -> None:  # fmt: skip
        self._ledger, self._rows, self._maker = ledger, rows, maker
        self._schema, self._coefficients = schema, coefficients

    def snapshot(self, spec: CommitSpec, change: RecordedChange, number: int) -> RecordedSnapshot:
        """The files at the start keep their sequence numbers; all others have that of the commit."""
        self._rows.commit(spec)
        made = RecordedSnapshot()
        self._rewrite(change, number, made, is_initial=spec.is_initial)
        self._delete(change, number, made, is_initial=spec.is_initial)
        if spec.is_initial:
            self._rows.hit_partitions()
        return made

    def _rewrite(
        self, change: RecordedChange, number: int, made: RecordedSnapshot, *, is_initial: bool
    ) -> None:
        live = self._ledger.data_files
        runs = [live.at(origin, 0) for origin in self._rows.holders(file.id for file in change.removed)]
        gone = [(run, self._rows.kept([run])) for run in runs]
        data = [file for file in change.added if file.is_data]
        for part in rewritten(gone, data, self._schema, self._coefficients):
            new = [
                self._maker.recorded(file, file.sequence_number if is_initial else number)
                for file in part.added
            ]
            if part.left_rows and not part.added_rows:
                ratio, keys = size_ratio(part.gone, self._schema, self._coefficients), span_of(part.gone)
                new.append(self._maker.data_file(part.left_rows, part.partition, keys, number, ratio))
            self._rows.replace(part.gone, new, part.added_rows)
            made.data += new
            made.removed += part.gone

    def _delete(
        self, change: RecordedChange, number: int, made: RecordedSnapshot, *, is_initial: bool
    ) -> None:
        """Delete files, and those that they replace.

        Deletes of a recorded data file whose rows are in another file now are for that file instead; they go
        with that file, while what happens to recorded ones is recorded.
        """
        live, gone = self._ledger.delete_files, {run.origin for run in made.removed}
        removed = dict.fromkeys(key for key in map(_key, change.removed_deletes) if key in live)
        for key, delete in live.items() if gone else ():
            if delete.referenced_data_file in gone and not is_recorded(delete.path):
                removed[key] = None
        moved = defaultdict[str, list[RecordedFile]](list)  # by the file that they are for now
        for file in change.added:
            if file.is_data:
                continue
            holders = self._rows.holders(file.targets)
            if file.targets and holders != [recorded_path(file.targets[0])]:
                for holder in holders:
                    moved[holder].append(file)
                continue
            own = holders[0] if holders else None
            own_number = file.sequence_number if is_initial else number
            made.deletes.append(self._maker.recorded_deletes(file, own_number, own))
        is_merging = any(file.targets for file in change.removed_deletes)
        for holder, files in moved.items():
            is_replacing = is_merging or files[0].content is Content.VECTOR
            old = [
                delete for delete in live.values() if delete.referenced_data_file == holder and is_replacing
            ]
            rows = round(self._rows.lost.get(holder, 0)) + sum(delete.rows for delete in old)
            if rows:
                deletes = self._maker.position_deletes(self._ledger.data_files[holder], rows, number)
                made.deletes.append(replace(deletes, kind=KINDS[files[0].content]))
                removed |= dict.fromkeys(delete.key for delete in old)
        made.removed_deletes += removed


def _key(file: RecordedFile) -> str:
    """The key of a delete file that the stream wrote."""
    path = recorded_path(file.id)
    if file.content is not Content.VECTOR:
        return path
    return f"{path}#{recorded_path(file.targets[0])}" if file.targets else path
