"""The effect of a rewrite on the files of a simulated table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.engines.iceberg.conflicts import Effect, Kind, conflict_between
from bench.engines.iceberg.ledger import IcebergLedger
from bench.engines.live_files import LiveFiles
from bench.engines.simulated.live_rows import rows_of_outputs
from bench.engines.simulated.recorded_rows import FileRows
from strategies.iceberg.dropped_deletes import keeps_age
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile
from strategies.plan import Action, Rewrite
from strategies.preview import Preview
from strategies.series import Run

_Converted = tuple[tuple[IcebergDataFile, int], ...]  # with the number of deleted rows


@dataclass(frozen=True, slots=True)
class Replacement:
    """Data files of one partition, the rows that each task writes instead, and the limit of its files."""

    files: tuple[Run[IcebergDataFile], ...]
    partition: str
    rows: tuple[int, ...]
    max_file_bytes: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """A rewrite planned at the snapshot `sequence_number`, not committed yet.

    Each of the `converted` data files stays and gets one position delete file for its deleted rows.
    `removed_deletes` are removed in the same commit. If it `keeps_age`, new data files get that sequence
    number, otherwise that of the commit.
    """

    sequence_number: int
    replaced: tuple[Replacement, ...]
    converted: _Converted
    removed_deletes: tuple[str, ...]
    keeps_age: bool = True

    @property
    def replaced_files(self) -> Iterator[Run[IcebergDataFile]]:
        return (file for replacement in self.replaced for file in replacement.files)


def prepare(
    action: Action, preview: Preview, ledger: IcebergLedger, rows: FileRows, sequence_number: int
) -> Prepared:
    """Read and write the files of an action for the table as it is now; commits nothing.

    The live rows of a group are distributed over its tasks in the preview, in proportion to their rows.
    """
    live = [(group, ledger.data_files.located(group.files)) for group in preview.groups]
    replaced = tuple(
        Replacement(
            tuple(runs), group.partition, rows_of_outputs(group, rows.kept(runs)), group.max_output_file_bytes
        )
        for group, runs in live
    )
    if not isinstance(action, Rewrite):
        return Prepared(sequence_number, replaced, (), (), keeps_age(action.options))
    return Prepared(sequence_number, replaced, _converted(action, ledger, rows), action.removed_deletes)


def conflict(
    prepared: Prepared,
    data: LiveFiles[IcebergDataFile],
    deletes: Mapping[str, IcebergDeleteFile],
    sequence_number: int,
) -> str | None:
    """Why a rewrite cannot be committed after the commits since it was prepared, in Iceberg's words."""
    if sequence_number == prepared.sequence_number:
        return None
    return conflict_between(effect_of(prepared), [_landed(prepared, data, deletes)])


def effect_of(prepared: Prepared) -> Effect:
    """What it does to the files of the table, by which it and other commits are validated."""
    removed = frozenset(file.path for run in prepared.replaced_files for file in run.files())
    marked = frozenset(file.path for file, rows in prepared.converted if rows)
    kind = Kind.REWRITE if prepared.keeps_age else Kind.RENEWAL
    return Effect(kind, removed.union(prepared.removed_deletes), marked)


def _landed(
    prepared: Prepared, data: LiveFiles[IcebergDataFile], deletes: Mapping[str, IcebergDeleteFile]
) -> Effect:
    """What all commits since then did to files of the rewrite, as the table tells; their kinds do not matter.

    A run that has lost any of its files is there by its first path.
    """
    gone = [run.first.path for run in prepared.replaced_files if not data.holds(run)]
    gone += [file.path for file, _ in prepared.converted if file.path not in data]
    gone += [key for key in prepared.removed_deletes if key not in deletes]
    newer = [d for d in deletes.values() if d.data_sequence_number > prepared.sequence_number]
    named = frozenset(delete.referenced_data_file for delete in newer if delete.referenced_data_file)
    deleted_from = {delete.partition for delete in newer if delete.kind is DeleteKind.EQUALITY}
    groups = [group for group in prepared.replaced if group.partition in deleted_from]
    hit = frozenset(run.first.path for group in groups for run in group.files)
    return Effect(Kind.REWRITE, frozenset(gone), named, hit)


def _converted(action: Rewrite, ledger: IcebergLedger, rows: FileRows) -> _Converted:
    named = {path for group in action.groups for path in group.convert_paths}
    live = ledger.data_files
    if not named:
        return ()
    files = [file for file in live.values() if file.path in named]
    return tuple((file, rows.dead(*live.place(file.path))) for file in files)
