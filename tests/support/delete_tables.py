"""Small tables with deletes of every kind, and the table spec's rule of what applies, pair by pair."""

from dataclasses import replace

from hypothesis import strategies as st
from key_ranges import KEY_RANGES, may_meet

from strategies.state import DataFile, DeltaFile, DeltaKind, TableState, key_of

EQUALITY, POSITION, VECTOR = DeltaKind.EQUALITY, DeltaKind.POSITION, DeltaKind.DELETION_VECTOR
SCOPES = ((0, ""), (1, "p=a"), (1, "p=b"))  # specs and partitions; the table was partitioned later


def applies(delta, file, state, meet=may_meet):
    """The table spec, "Scan Planning"."""
    same_scope = (delta.spec_id, delta.partition) == (file.spec_id, file.partition)
    if delta.kind is EQUALITY:
        is_newer = delta.sequence_number > file.sequence_number
        return is_newer and (same_scope or not delta.partition) and meet(delta.keys, file.keys)
    if delta.kind is VECTOR:
        return delta.referenced_data_file == file.path
    if any(d.kind is VECTOR and d.referenced_data_file == file.path for d in state.delta_files):
        return False
    is_not_older = delta.sequence_number >= file.sequence_number
    named = delta.referenced_data_file
    return is_not_older and (same_scope if named is None else named == file.path)


def applying(state, file):
    """The delete files that apply to a file."""
    return [delta for delta in state.delta_files if applies(delta, file, state)]


@st.composite
def tables(draw):
    """Up to six data and nine delete files; some deletes name files that have gone."""
    scopes, numbers = st.sampled_from(SCOPES), st.integers(1, 5)
    files = []
    for path in draw(st.lists(st.sampled_from("fghijk"), unique=True)):
        spec_id, partition = draw(scopes)
        files.append(DataFile(path, 9, 9, partition, draw(numbers), spec_id, keys=draw(KEY_RANGES)))
    deltas, vectors = [], set()
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
        deltas.append(DeltaFile(path, kind, 3, 3, partition, number, spec_id, named, keys))
    return TableState(0.0, 100, data_files=tuple(files), delta_files=tuple(deltas), spec_id=1)


def converted(state, rewrite, as_kind, has_rows=lambda path: True):
    """The table once `rewrite`, which converts deletes alone, was carried out as one commit."""
    number = 1 + max(file.sequence_number for file in (*state.data_files, *state.delta_files))
    kept = [delta for delta in state.delta_files if key_of(delta) not in rewrite.removed_deletes]
    chosen = {path for group in rewrite.groups for path in group.convert_paths}
    made = [
        DeltaFile(f"own-{number}-{f.path}", as_kind, 1, 1, f.partition, number, f.spec_id, f.path)
        for f in state.data_files
        if f.path in chosen and has_rows(f.path)
    ]
    return replace(state, delta_files=(*kept, *made))
