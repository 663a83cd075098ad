"""The effect of a rewrite on the files of a simulated table."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bench.engines.iceberg.ledger import IcebergLedger
from bench.engines.iceberg.model.delete_bytes import position_bytes
from bench.engines.simulated.costs import Coefficients, Work
from bench.engines.simulated.live_rows import LiveRows, rows_of_outputs
from bench.results.values import Cost
from strategies.iceberg.deletes.index import delete_index
from strategies.iceberg.files import IcebergDataFile, IcebergDeleteFile
from strategies.plan import Action, Rewrite
from strategies.preview import Preview, RewriteGroup
from workloads.schema import Schema


@dataclass(frozen=True, slots=True)
class Replacement:
    """Data files of one partition, and the rows of each file that replaces them."""

    files: tuple[IcebergDataFile, ...]
    partition: str
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A rewrite planned at the snapshot `sequence_number`, not committed yet.

    `converted` are data files that stay, each with the number of its deleted rows, for which it gets one
    position delete file. `removed_deletes` are removed in the same commit.
    """

    sequence_number: int
    replaced: tuple[Replacement, ...]
    converted: tuple[tuple[IcebergDataFile, int], ...]
    removed_deletes: tuple[str, ...]
    cost: Cost

    @property
    def replaced_files(self) -> Iterator[IcebergDataFile]:
        return (file for each in self.replaced for file in each.files)


def prepare(
    action: Action, preview: Preview, ledger: IcebergLedger, rows: LiveRows, sequence_number: int,
    schema: Schema, coefficients: Coefficients, cores: int,
) -> Prepared:  # fmt: skip
    """Read and write the files of an action for the table as it is now; commits nothing.

    The live rows of a group are distributed over its tasks in the preview, in proportion to their rows.
    """
    replaced = tuple(
        _replacement(group, [ledger.data_files[file.path] for file in group.files], rows)
        for group in preview.groups
    )
    converted = _converted(action, ledger, rows) if isinstance(action, Rewrite) else ()
    counts = (count for each in replaced for count in each.rows if count)
    written_bytes = sum(coefficients.table_bytes(schema, count) for count in counts)
    cost = _cost(action, ledger, preview, converted, written_bytes, coefficients, cores)
    removed = action.removed_deletes if isinstance(action, Rewrite) else ()
    return Prepared(sequence_number, replaced, converted, removed, cost)


def conflict(
    prepared: Prepared,
    data: Mapping[str, IcebergDataFile],
    deletes: Mapping[str, IcebergDeleteFile],
    sequence_number: int,
) -> str | None:
    """Why a rewrite cannot be committed after the commits since it was prepared, in Iceberg's words.

    Equality deletes are no conflict: they also apply to the new files, which keep the older sequence number.
    """
    named = [*prepared.replaced_files, *(file for file, _ in prepared.converted)]
    gone = [file.path for file in named if file.path not in data]
    gone += [key for key in prepared.removed_deletes if key not in deletes]
    if gone:
        return f"missing required files to delete: {gone[0]}"
    if sequence_number == prepared.sequence_number:
        return None
    replaced = {file.path for file in prepared.replaced_files}
    for delete in deletes.values():
        if delete.data_sequence_number > prepared.sequence_number and delete.referenced_data_file in replaced:
            return f"found new position delete for replaced data file: {delete.referenced_data_file}"
    return None


def _replacement(group: RewriteGroup, files: Iterable[IcebergDataFile], rows: LiveRows) -> Replacement:
    """`files` are the files of the group as the ledger has them."""
    live = rows.kept(file.path for file in group.files)
    return Replacement(tuple(files), group.partition, rows_of_outputs(group, live))


def _converted(
    action: Rewrite, ledger: IcebergLedger, rows: LiveRows
) -> tuple[tuple[IcebergDataFile, int], ...]:
    named = {path for group in action.groups for path in group.convert_paths}
    files = ledger.data_files.values()
    return tuple((file, rows.dead(file.path)) for file in files if file.path in named)


def _cost(
    action: Action, ledger: IcebergLedger, preview: Preview,
    converted: tuple[tuple[IcebergDataFile, int], ...], written_bytes: int,
    coefficients: Coefficients, cores: int,
) -> Cost:  # fmt: skip
    """An explicit rewrite has the cost of a rewrite, even if it only drops delete files."""
    if not isinstance(action, Rewrite):
        return coefficients.rewrite_cost(preview, cores, written_bytes)
    conversion = _conversion(action, ledger, converted, coefficients)
    return coefficients.rewrite_cost(preview, cores, written_bytes, conversion)


def _conversion(
    action: Rewrite,
    ledger: IcebergLedger,
    converted: tuple[tuple[IcebergDataFile, int], ...],
    coefficients: Coefficients,
) -> Work:
    """The work of reading the keys and the deletes of each file, and writing its positions."""
    state = ledger.state(0)
    applied = [delete_index(state).applying_to(file) for file, _ in converted]
    deletes_bytes = sum(each.size_bytes for each in applied)
    data_bytes = sum(file.size_bytes for file, _ in converted)
    return Work(
        files_count=len(converted),
        delete_files_count=sum(each.files_count for each in applied),
        read_bytes=round(data_bytes * coefficients.data.key_column_ratio) + deletes_bytes,
        delete_bytes=deletes_bytes,
        written_bytes=sum(round(position_bytes(dead)) for _, dead in converted if dead),
        tasks_count=sum(bool(group.convert_paths) for group in action.groups),
    )
