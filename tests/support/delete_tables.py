"""Small tables with deletes of every kind, and the table spec's rule of what applies, pair by pair."""

from dataclasses import replace

import delete_rule
from hypothesis import strategies as st
from key_ranges import KEY_RANGES, may_meet

from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, IcebergState

EQUALITY, POSITION, VECTOR = DeleteKind.EQUALITY, DeleteKind.POSITION, DeleteKind.DELETION_VECTOR
SCOPES = ((0, ""), (1, "p=a"), (1, "p=b"))  # specs and partitions; the table was partitioned later


def applies(delete, file, state, meet=may_meet):
    """The plain rule for one pair of a table, with another rule of when the keys of two files meet."""
    if delete.kind is EQUALITY and not meet(delete.key_bounds, file.key_bounds):
        return False
    has_vector = any(d.kind is VECTOR and d.referenced_data_file == file.path for d in state.delete_files)
    return delete_rule.applies(replace(delete, key_bounds=None), file, has_vector)


def applying(state, file):
    """The delete files that apply to a file."""
    return [delete for delete in state.delete_files if applies(delete, file, state)]


@st.composite
def tables(draw):
    """Up to six data and nine delete files; some deletes name files that have gone."""
    scopes, numbers = st.sampled_from(SCOPES), st.integers(1, 5)
    files = []
    for path in draw(st.lists(st.sampled_from("fghijk"), unique=True)):
        spec_id, partition = draw(scopes)
        files.append(
            IcebergDataFile(path, 9, 9, partition, draw(numbers), spec_id, key_bounds=draw(KEY_RANGES))
        )
    deletes, vectors = [], set()
    for path in draw(st.lists(st.sampled_from("abcdeABCD"), unique=True)):
        kind, named = draw(st.sampled_from([EQUALITY, EQUALITY, POSITION, POSITION, VECTOR])), None
        (spec_id, partition), number = draw(scopes), draw(numbers)
        if kind is VECTOR or (kind is POSITION and draw(st.booleans())):
            named = draw(st.sampled_from("fghijkz"))
        if kind is VECTOR and named in vectors:
            continue
        if kind is VECTOR:
            vectors.add(named)
            number = 6  # no vector is older than its data file
        keys = draw(KEY_RANGES) if kind is EQUALITY else None
        deletes.append(IcebergDeleteFile(path, 3, 3, partition, number, spec_id, named, keys, kind=kind))
    return IcebergState(0, 100, data_files=tuple(files), delete_files=tuple(deletes), spec_id=1)


def converted(state, rewrite, as_kind, has_rows=lambda path: True):
    """The table once `rewrite`, which converts deletes alone, was carried out as one commit."""
    number = 1 + max(file.data_sequence_number for file in (*state.data_files, *state.delete_files))
    kept = [delete for delete in state.delete_files if delete.key not in rewrite.removed_deletes]
    chosen = {path for group in rewrite.groups for path in group.convert_paths}
    made = [
        IcebergDeleteFile(
            f"own-{number}-{f.path}", 1, 1, f.partition, number, f.spec_id, f.path, kind=as_kind
        )
        for f in state.data_files
        if f.path in chosen and has_rows(f.path)
    ]
    return replace(state, delete_files=(*kept, *made))
