"""Which delete files apply to which data files.

`applies` states the rule for one delete file and one data file. The modules of this folder answer the same
question for whole tables without visiting pairs, and the tests compare their answers with `applies`.
"""

from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile


def applies(delete: IcebergDeleteFile, file: IcebergDataFile, has_vector: bool = False) -> bool:
    """Whether a reader of `file` must apply `delete`; `has_vector` says whether `file` has a deletion vector.

    - A deletion vector applies to the data file it references.
    - A position delete file applies if the data file has no deletion vector, and the delete's data sequence
      number is greater than or equal to the data file's: a commit may delete rows that it adds. It must also
      reference the data file or, if it references none, have the same partition spec and partition.
    - An equality delete file applies if its data sequence number is strictly greater: it never deletes rows
      of its own commit. Its partition spec and partition must be the same, or its spec unpartitioned: such a
      delete is global. Readers also skip it if the bounds of the key column exclude a common key.

    Source: Iceberg table spec, "Scan Planning"; `DeleteFileIndex` at 1.11.0 for the bounds.
    """
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
