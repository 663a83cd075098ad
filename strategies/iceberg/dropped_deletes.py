"""Delete files that no longer apply to any data file, which commits and compactions drop by themselves.

Source: ManifestFilterManager and RemoveDanglingDeletesSparkAction of Iceberg 1.11.0.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, IcebergState
from strategies.java_values import parse_boolean
from strategies.preview import Preview


class Aged(NamedTuple):
    partition: str
    data_sequence_number: int


def aged(file: IcebergDataFile) -> Aged:
    return Aged(file.partition, file.data_sequence_number)


def below_oldest(data: Iterable[Aged], deletes: Iterable[IcebergDeleteFile]) -> list[str]:
    """Delete files older than all data files of the table: commits may drop them."""
    oldest = min((file.data_sequence_number for file in data), default=0)
    return [delete.key for delete in deletes if delete.data_sequence_number < oldest]


def dangling(data: Iterable[Aged], deletes: Iterable[IcebergDeleteFile]) -> list[str]:
    """Delete files that apply to nothing in their partition.

    These are position deletes older than all data files of the partition, equality deletes not newer than
    the oldest of them, and all deletes of a partition without data files.
    """
    oldest: dict[str, int] = {}
    for file in data:
        number = file.data_sequence_number
        oldest[file.partition] = min(number, oldest.get(file.partition, number))

    def dangles(delete: IcebergDeleteFile) -> bool:
        number = oldest.get(delete.partition)
        if number is None or delete.data_sequence_number < number:
            return True
        return delete.kind is DeleteKind.EQUALITY and delete.data_sequence_number == number

    return [delete.key for delete in deletes if dangles(delete)]


def removes_dangling(options: Mapping[str, str]) -> bool:
    return parse_boolean(options.get("remove-dangling-deletes", "false"))


def dropped_by(
    preview: Preview, options: Mapping[str, str], state: IcebergState, sequence_number: int
) -> frozenset[str]:
    """Keys of the delete files that a rewrite may drop at most; `sequence_number` is the snapshot's.

    How many of the deletes below the oldest data file a commit drops depends on its number of threads.
    """
    rewritten = {file.path for group in preview.groups for file in group.files}
    if not rewritten:
        return frozenset()
    keeps_age = parse_boolean(options.get("use-starting-sequence-number", "true"))
    new_number = sequence_number if keeps_age else sequence_number + 1
    after = [aged(file) for file in state.data_files if file.path not in rewritten]
    after += [Aged(group.partition, new_number) for group in preview.groups]
    dropped = below_oldest(after, state.delete_files)
    vectors = (delete for delete in state.delete_files if delete.kind is DeleteKind.DELETION_VECTOR)
    dropped += [vector.key for vector in vectors if vector.referenced_data_file in rewritten]
    if removes_dangling(options) and any(file.partition for file in state.data_files):
        dropped += dangling(after, state.delete_files)
    return frozenset(dropped)
