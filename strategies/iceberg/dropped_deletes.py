"""Delete files that no longer apply to any data file, which commits and compactions drop by themselves.

Source: ManifestFilterManager and RemoveDanglingDeletesSparkAction of Iceberg 1.11.0.
"""

from collections.abc import Iterable, Mapping

from strategies.iceberg.files import DeleteKind, IcebergDeleteFile, IcebergState
from strategies.java_values import parse_boolean
from strategies.preview import Preview
from strategies.state import Place


def below_oldest(data_numbers: Iterable[int], deletes: Iterable[IcebergDeleteFile]) -> list[str]:
    """Delete files older than all data files of the table, by sequence numbers: commits may drop them."""
    oldest = min(data_numbers, default=0)
    return [delete.key for delete in deletes if delete.data_sequence_number < oldest]


def dangling(data: Iterable[tuple[Place, int]], deletes: Iterable[IcebergDeleteFile]) -> list[str]:
    """Delete files that apply to nothing in their partition, given the places and numbers of data files.

    These are position deletes older than all data files of the same spec and partition, equality deletes not
    newer than the oldest of them, and all deletes of a partition without data files.
    """
    oldest: dict[Place, int] = {}
    for place, number in data:
        oldest[place] = min(number, oldest.get(place, number))

    def dangles(delete: IcebergDeleteFile) -> bool:
        number = oldest.get((delete.partition, delete.spec_id))
        if number is None or delete.data_sequence_number < number:
            return True
        return delete.kind is DeleteKind.EQUALITY and delete.data_sequence_number == number

    return [delete.key for delete in deletes if dangles(delete)]


def removes_dangling(options: Mapping[str, str]) -> bool:
    return parse_boolean(options.get("remove-dangling-deletes", "false"))


def keeps_age(options: Mapping[str, str]) -> bool:
    """Whether rewritten rows keep the sequence number of the snapshot that was planned on (the default).

    Otherwise they get that of the commit, so equality deletes committed in between would not apply to them.
    """
    return parse_boolean(options.get("use-starting-sequence-number", "true"))


def dropped_by(
    preview: Preview, options: Mapping[str, str], state: IcebergState, sequence_number: int
) -> frozenset[str]:
    """Keys of the delete files that a rewrite may drop at most; `sequence_number` is the snapshot's.

    How many of the deletes below the oldest data file a commit drops depends on its number of threads.
    """
    rewritten = {file.path for group in preview.groups for file in group.files}
    if not rewritten:
        return frozenset()
    new_number = sequence_number if keeps_age(options) else sequence_number + 1
    left = (file for file in state.data_files if file.path not in rewritten)
    after = [(file.place, file.data_sequence_number) for file in left]
    after += [((group.partition, state.spec_id), new_number) for group in preview.groups]
    dropped = below_oldest((number for _, number in after), state.delete_files)
    vectors = (delete for delete in state.delete_files if delete.kind is DeleteKind.DELETION_VECTOR)
    dropped += [vector.key for vector in vectors if vector.referenced_data_file in rewritten]
    if removes_dangling(options) and any(file.partition for file in state.data_files):
        dropped += dangling(after, state.delete_files)
    return frozenset(dropped)
