from hypothesis import given, settings
from hypothesis import strategies as st

from bench.engines.iceberg.ledger import iceberg_ledger
from bench.engines.iceberg.model.scan import Scan
from bench.engines.simulated.selection import Condition, Selection
from bench.results.values import ScanWork
from strategies.iceberg.deletes.index import delete_index
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, KeyBounds
from strategies.series import Files, Series

KEYS = st.tuples(st.integers(0, 20), st.integers(0, 20)).map(sorted).map(tuple)
BOUNDS = st.none() | KEYS.map(lambda keys: KeyBounds(*keys))
PARTITIONS = st.sampled_from(["p=1", "p=2"])
DELETE_PARTITIONS = st.sampled_from(["", "p=1", "p=2"])  # "" is everywhere
CONDITIONS = st.sampled_from([(), ((-1, Condition(values=(1,))),), ((-1, Condition(low=2)),)])
WANTED = st.builds(Selection, st.none() | KEYS, CONDITIONS)
RUNS = st.lists(st.tuples(BOUNDS, PARTITIONS, st.integers(1, 4), st.integers(0, 3)), max_size=4)
DELETES = st.lists(st.tuples(BOUNDS, DELETE_PARTITIONS, st.booleans()), max_size=3)


def counted(state, wanted):
    """File by file, by the rule of the format."""
    index, keys = delete_index(state), None if wanted.keys is None else KeyBounds(*wanted.keys)
    files = [
        file
        for file in state.data_files
        if wanted.admits(file.partition) and (keys is None or keys.meets(file.key_bounds))
    ]
    applied = [index.applying_to(file) for file in files]
    delete_bytes = sum(deletes.size_bytes for deletes in applied)
    return ScanWork(
        len(files), sum(deletes.files_count for deletes in applied),
        sum(file.size_bytes for file in files) + delete_bytes, delete_bytes=delete_bytes,
        metadata_files_count=0, read_rows=sum(file.rows for file in files),
    )  # fmt: skip


@settings(max_examples=150)
@given(wanted=WANTED, commits=st.lists(st.tuples(RUNS, DELETES), max_size=5), data=st.data())
def test_a_scan_kept_up_to_date_opens_what_it_would_open_file_by_file(wanted, commits, data):
    ledger, scan, number = iceberg_ledger(100, {}), None, 0
    for sequence_number, (runs, deletes) in enumerate(commits, 1):
        added = []
        for bounds, partition, count, step in runs:
            first = IcebergDataFile(f"d{number}-0", 7, 1, partition, sequence_number, key_bounds=bounds)
            added.append(Series(first, count, f"d{number}-{{}}", 0, step if bounds else 0))
            number += 1
        dropped = []
        for bounds, partition, is_position in deletes:
            number += 1
            kind = DeleteKind.POSITION if is_position and added else DeleteKind.EQUALITY
            named = added[0].first if kind is DeleteKind.POSITION else None
            dropped.append(
                IcebergDeleteFile(
                    f"x{number}",
                    3,
                    1,
                    named.partition if named else partition,
                    sequence_number,
                    referenced_data_file=named.path if named else None,
                    kind=kind,
                    key_bounds=None if named else bounds,
                )
            )  # fmt: skip
        if dropped and not ledger.delete_files:
            scan = None  # as the model does
        ledger.add([*added, *dropped], sequence_number)
        if scan is not None:
            scan.add(Files(added), dropped)
        elif data.draw(st.booleans()):
            scan = Scan(ledger.state(0), wanted)
        if scan is not None and not ledger.delete_files and added and data.draw(st.booleans()):
            begin = data.draw(st.integers(0, added[0].count - 1))
            gone = [added[0].slice(begin, added[0].count)]
            ledger.remove_data(gone)
            scan.remove(gone)
        if scan is not None:
            assert scan.work(0) == counted(ledger.state(0), wanted)
    assert Scan(ledger.state(0), wanted).work(0) == counted(ledger.state(0), wanted)
