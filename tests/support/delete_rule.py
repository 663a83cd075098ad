"""The rule of `strategies.iceberg.deletes` for one delete file and one data file."""

from strategies.iceberg.files import DeleteKind


def applies(delete, file, has_vector=False):
    """Whether a reader of `file` must apply `delete`; `has_vector`: whether `file` has a deletion vector."""
    referenced = delete.referenced_data_file
    is_same_partition = (delete.spec_id, delete.partition) == (file.spec_id, file.partition)
    match delete.kind:
        case DeleteKind.DELETION_VECTOR:
            return referenced == file.path
        case DeleteKind.POSITION:
            is_in_scope = is_same_partition if referenced is None else referenced == file.path
            is_not_older = delete.data_sequence_number >= file.data_sequence_number
            return is_in_scope and is_not_older and not has_vector
        case DeleteKind.EQUALITY:
            is_in_scope = is_same_partition or not delete.partition
            is_newer = delete.data_sequence_number > file.data_sequence_number
            may_share_key = delete.key_bounds is None or delete.key_bounds.meets(file.key_bounds)
            return is_in_scope and is_newer and may_share_key
