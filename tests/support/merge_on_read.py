"""Iceberg tables with deletes made by PyIceberg alone, their rows by the spec, and rewrites of them."""

import itertools
import uuid
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog import load_catalog
from pyiceberg.conversions import to_bytes
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.typedef import Record
from pyiceberg.types import LongType, NestedField, StringType

from bench.engines.contract import Tag
from bench.engines.iceberg.single_node.executor import SingleNode
from bench.engines.iceberg.single_node.live_entries import EntryReader
from bench.engines.iceberg.single_node.replace_files import Replacement, commit_replacement
from bench.engines.iceberg.single_node.rows import POSITION_COLUMNS
from bench.engines.iceberg.state import table_state
from strategies.plan import FileGroup, Rewrite
from strategies.state import MIB

SCHEMA = Schema(
    NestedField(1, "id", LongType()), NestedField(2, "city", StringType()), NestedField(3, "n", LongType())
)
BY_CITY = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "city"))
NOT_PARTITIONED = PartitionSpec()
TAG = Tag("compactor", "compaction-1", 60_000)


class Lake:
    """A table in a catalog on SQLite below `folder`, made unless it is there, and an executor of rewrites."""

    def __init__(
        self, folder, schema=SCHEMA, spec=BY_CITY, place="table", memory_bytes=2**28, namespace="shop",
        **properties,
    ):  # fmt: skip
        self.folder, self.name = folder, f"{namespace}.orders"
        warehouse = f"file://{folder / 'warehouse'}"
        self._catalog = load_catalog(
            "lake", type="sql", uri=f"sqlite:///{folder / 'catalog.db'}", warehouse=warehouse
        )
        self._catalog.create_namespace_if_not_exists(namespace)
        # PyIceberg numbers the columns of a new table itself, from 1 in their order.
        self._catalog.create_table_if_not_exists(
            self.name, schema, location=f"{warehouse}/{namespace}/{place}", partition_spec=spec,
            properties=properties,
        )  # fmt: skip
        self.executor = SingleNode(self.load, folder / "scratch", 1, memory_bytes)

    def close(self):
        self.executor.close()
        self._catalog.close()

    def load(self):
        return self._catalog.load_table(self.name)

    def append(self, *rows, **parquet):
        """A commit of rows, each a dict; a file for each partition."""
        table = self.load()
        table.append(pa.Table.from_pylist(list(rows), table.schema().as_arrow()))
        return table.current_snapshot()

    def add_file(self, arrow, partition=None, **writing):
        """Commit a data file as Arrow writes it with these options; its columns have their field ids."""
        location = f"{self.load().location()}/data/{uuid.uuid4()}.parquet"
        file = self._stored(location, arrow, DataFileContent.DATA, partition, writing=writing)
        transaction = self.load().transaction()
        with transaction, transaction.update_snapshot().fast_append() as commit:
            commit.append_data_file(file)
        return location

    def upsert(self, rows, names, keys, positions, partition=None):
        """Commit a data file, an equality delete, and a position delete of the new rows at these positions.

        As Flink does: the equality delete spares the rows of its own commit.
        """
        table = self.load()
        location = f"{table.location()}/data/{uuid.uuid4()}.parquet"
        arrow = pa.Table.from_pylist(rows, table.schema().as_arrow())
        self._commit(
            self._stored(location, arrow, DataFileContent.DATA, partition),
            self._equality(names, keys, partition),
            *([self._positions([(location, one) for one in positions], partition)] if positions else []),
            number=table.metadata.next_sequence_number(),
        )

    def delete_equal(self, names, keys, partition=None, spec_id=None):
        """Commit an equality delete of keys, each a tuple of the values of columns, in a partition."""
        file = self._equality(names, keys, partition, spec_id)
        self._commit(file)
        return file.file_path

    def _equality(self, names, keys, partition, spec_id=None):
        fields = [self.load().schema().find_field(name) for name in names]
        columns = {f.name: [key[place] for key in keys] for place, f in enumerate(fields)}
        arrow = pa.table(columns, schema=schema_to_pyarrow(Schema(*fields)))
        location = f"{self.load().location()}/data/equality-{uuid.uuid4()}.parquet"
        ids = [field.field_id for field in fields]
        kind = DataFileContent.EQUALITY_DELETES
        return self._stored(location, arrow, kind, partition, spec_id, equality_ids=ids)

    def delete_positions(self, positions, partition=None, with_bounds=True, spec_id=None):
        """Commit a position delete of pairs of a data file and a position, in a partition."""
        file = self._positions(positions, partition, with_bounds, spec_id)
        self._commit(file)
        return file.file_path

    def _positions(self, positions, partition, with_bounds=True, spec_id=None):
        chosen = sorted(positions)
        columns = {"file_path": [path for path, _ in chosen], "pos": [pos for _, pos in chosen]}
        arrow = pa.table(columns, schema=schema_to_pyarrow(Schema(*POSITION_COLUMNS)))
        location = f"{self.load().location()}/data/position-{uuid.uuid4()}.parquet"
        path_id = POSITION_COLUMNS[0].field_id
        bounds = {
            "lower_bounds": {path_id: to_bytes(StringType(), chosen[0][0])},
            "upper_bounds": {path_id: to_bytes(StringType(), chosen[-1][0])},
        }
        kind = DataFileContent.POSITION_DELETES
        return self._stored(location, arrow, kind, partition, spec_id, **bounds if with_bounds else {})

    def _stored(self, location, arrow, content, partition, spec_id=None, writing=None, **figures):
        path = Path(location.removeprefix("file://"))
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(arrow, path, **writing or {})
        partition = partition if isinstance(partition, Record) else Record(*(partition or ()))
        file = DataFile.from_args(
            content=content, file_path=location, file_format=FileFormat.PARQUET, partition=partition,
            record_count=arrow.num_rows, file_size_in_bytes=path.stat().st_size, **figures,
        )  # fmt: skip
        file.spec_id = self.load().spec().spec_id if spec_id is None else spec_id
        return file

    def _commit(self, *files, number=None):
        """By the code under test, which is the only one that can: content is tested apart from it.

        Data files get this sequence number.
        """
        table = self.load()
        planned = table.current_snapshot().model_copy(update={"sequence_number": number})
        commit_replacement(Replacement(table, planned, frozenset(), files), EntryReader(), TAG)

    def entries(self):
        """The live entries of the current snapshot."""
        table = self.load()
        manifests = table.current_snapshot().manifests(table.io)
        return [e for m in manifests for e in m.fetch_manifest_entry(table.io, discard_deleted=True)]

    def data_files(self):
        """The live data files in the order of their commits, then of their content: paths are random."""

        def order(entry):
            file = entry.data_file
            bounds = sorted((file.lower_bounds or {}).items())
            return entry.sequence_number, str(file.partition), bounds, file.record_count, file.file_path

        of_data = (e for e in self.entries() if e.data_file.content == DataFileContent.DATA)
        return [e.data_file for e in sorted(of_data, key=order)]

    def state(self):
        table = self.load()
        return table_state(table, table.current_snapshot(), now_ms=0)

    def rewrite(self, action, tag=TAG):
        """Execute a rewrite at once."""
        self.executor.execute(action, self.executor.stage(action, 0), tag)

    def rewrite_all(self, target_bytes=8 * MIB, removed_deletes=()):
        """Rewrite all data files, a group for each partition."""
        self.rewrite(rewrite_of(self.data_files(), target_bytes, removed_deletes))

    def convert_all(self, removed_deletes=()):
        """Convert the deletes of all data files, a group for each partition."""
        action = rewrite_of(self.data_files(), removed_deletes=removed_deletes)
        groups = tuple(FileGroup((), group.partition, group.paths) for group in action.groups)
        self.rewrite(replace(action, groups=groups))

    def stored(self):
        """All files of the table's folder."""
        return {path for path in (self.folder / "warehouse").rglob("*") if path.is_file()}

    def rows(self):
        """The rows of the current snapshot, counted; see `rows_of`."""
        return rows_of(self.load())


def rewrite_of(files, target_bytes=8 * MIB, removed_deletes=()):
    by_partition = {}
    for file in files:
        by_partition.setdefault(repr(file.partition), []).append(file.file_path)
    groups = tuple(FileGroup(tuple(paths)) for paths in by_partition.values())
    return Rewrite(groups, target_bytes, tuple(removed_deletes))


def rows_of(table):
    """The rows of the current snapshot and how often each is there, by the table spec, "Scan Planning".

    Without any code of the executor: entry by entry, row by row.
    """
    snapshot, schema = table.current_snapshot(), table.schema()
    entries = [
        e
        for m in snapshot.manifests(table.io)
        for e in m.fetch_manifest_entry(table.io, discard_deleted=True)
    ]
    deletes = [e for e in entries if e.data_file.content != DataFileContent.DATA]
    columns = {field.field_id: field.name for field in schema.fields}
    found = Counter()
    for entry in entries:
        if entry.data_file.content != DataFileContent.DATA:
            continue
        gone, keys = _deletes_of(entry, deletes, table)
        for position, row in enumerate(values_of(entry.data_file.file_path, columns)):
            is_deleted = any(tuple(row[i] for i in ids) in deleted for ids, deleted in keys)
            if position not in gone and not is_deleted:
                found[tuple(plain(row[field_id]) for field_id in columns)] += 1
    return found


def _deletes_of(data, deletes, table):
    """Positions that are deleted, and pairs of field ids and keys."""
    gone, keys = set(), []
    for delete in deletes:
        file = delete.data_file
        is_same = (file.spec_id, file.partition) == (data.data_file.spec_id, data.data_file.partition)
        if file.content == DataFileContent.POSITION_DELETES:
            if is_same and data.sequence_number <= delete.sequence_number:
                pairs = values_of(file.file_path, {c.field_id: c.name for c in POSITION_COLUMNS})
                path_id, position_id = (column.field_id for column in POSITION_COLUMNS)
                gone |= {row[position_id] for row in pairs if row[path_id] == data.data_file.file_path}
        elif data.sequence_number < delete.sequence_number and (
            is_same or not table.specs()[file.spec_id].fields
        ):
            ids = tuple(file.equality_ids)
            rows = values_of(file.file_path, dict.fromkeys(ids))
            keys.append((ids, {tuple(row[i] for i in ids) for row in rows}))
    return gone, keys


def values_of(location, field_ids):
    """The rows of a Parquet file, each {field id: value}; None for a column that it lacks."""
    arrow = pq.ParquetFile(location.removeprefix("file:").replace("///", "/", 1)).read()  # Spark: file:/tmp
    places = {int(field.metadata[b"PARQUET:field_id"]): n for n, field in enumerate(arrow.schema)}
    values = {i: arrow.column(places[i]).to_pylist() if i in places else None for i in field_ids}
    for row in range(arrow.num_rows):
        yield {i: None if column is None else column[row] for i, column in values.items()}


def plain(value):
    """A value that equals itself, and -0.0 is not 0.0."""
    return repr(value) if isinstance(value, float) else value


def row(number, city="Oslo", n=0):
    return {"id": number, "city": city, "n": n}


def numbers(*counts):
    """Rows with new ids, as many commits of them as there are counts."""
    ids = itertools.count()
    return [[row(next(ids)) for _ in range(count)] for count in counts]
