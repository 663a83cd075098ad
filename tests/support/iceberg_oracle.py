"""Iceberg's own planner as an oracle: a table of made-up files, planned by the Java classes themselves.

No file exists but the manifests, and those lie in memory. Each spec has one data manifest and at most
one delete manifest, with the files in the state's order and the sequence numbers the state gives them.
No write of Iceberg makes such a manifest at once; so as many placeholders are appended first, and a
rewrite of manifests, which checks only that the number of files stays, puts the made-up ones in place.
"""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from key_metrics import KeyColumn, KeyMetrics
from planner_cases import Case
from pyspark.sql import SparkSession

from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile
from strategies.iceberg.rewrite_options import RewriteOptions
from strategies.iceberg.scan_tasks import lookback_of
from strategies.partitions import fields_of, is_null
from strategies.preview import RewriteGroup

_PATH_ID = 2147483546  # of the column file_path in position delete files
_PARTITION_FIELD_IDS = {"p": "1000", "q": "1001"}  # given in the order the fields were added


def _schema(key: KeyColumn) -> str:
    columns = [("id", key.type_name, key.is_required), ("p", "string", False), ("q", "string", False)]
    fields = [
        {"id": number, "name": name, "type": type_, "required": is_required}
        for number, (name, type_, is_required) in enumerate(columns, start=1)
    ]
    return json.dumps({"type": "struct", "schema-id": 0, "fields": fields})


@dataclass(frozen=True)
class JavaGroup:
    """A group as Java plans it. `task_bytes` are None of a sort, whose tasks Spark's shuffle makes."""

    partition: str
    paths: tuple[str, ...]
    input_bytes: int
    delete_bytes: int
    split_bytes: int
    max_output_file_bytes: int
    expected_output_files: int
    task_bytes: tuple[int, ...] | None


def as_java_group(group: RewriteGroup, options: RewriteOptions) -> JavaGroup:
    return JavaGroup(
        group.partition,
        tuple(f.path for f in group.files),
        group.input_bytes,
        group.delete_bytes,
        options.split_bytes(group.input_bytes),
        group.max_output_file_bytes,
        group.expected_output_files,
        None if options.is_shuffled else tuple(task.input_bytes for task in group.tasks),
    )


@dataclass(frozen=True)
class JavaPlan:
    """The groups in the order they would run, and their count before truncation.

    `applied` are the number of delete files that a scan applies to each data file, and their bytes; nothing
    where the table has none.
    """

    groups: tuple[JavaGroup, ...]
    planned_groups_count: int
    applied: Mapping[str, tuple[int, int]]


class IcebergOracle:
    """Plans cases with the Java classes. Class lookups through py4j are slow, so they are kept."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        iceberg = jvm.org.apache.iceberg
        self._java = _compiled(jvm)
        self._table_name = iceberg.catalog.TableIdentifier.parse
        self._read_schema = iceberg.SchemaParser.fromJson
        self._schemas: dict[KeyColumn, Any] = {}
        self._numbers = itertools.count()
        self._known_placeholders: dict[tuple[int, tuple[str, ...], int, int], Any] = {}
        self._catalog = iceberg.inmemory.InMemoryCatalog()
        self._catalog.initialize("oracle", {})
        self._catalog.createNamespace(self._table_name("n.t").namespace())

    def plan(self, case: Case) -> JavaPlan:
        """What the real classes make of a case."""
        with self._filled(case) as table:
            lookback = lookback_of(case.state.properties)
            count, *lines = self._java.plan(table, case.options, case.is_shuffled, lookback).split("\n")
            groups = tuple(_java_group(line, case.is_shuffled) for line in lines)
            told = self._java.deletes(table) if case.state.delete_files else ""
            applied = dict(map(_applied, told.splitlines()))
        return JavaPlan(groups, int(count), applied)

    def plan_deletes(self, case: Case) -> JavaPlan:
        """The same of a rewrite of position delete files, which have no tasks yet."""
        with self._filled(case) as table:
            count, *lines = self._java.planDeletes(table, case.options).split("\n")
        groups = (replace(_java_group(f"{line}0", True), partition=line.split("\t")[0]) for line in lines)
        return JavaPlan(tuple(groups), int(count), {})

    @contextmanager
    def _filled(self, case: Case) -> Iterator[Any]:
        """The table of a case, for as long as it is asked."""
        name = self._table_name(f"n.t{next(self._numbers)}")
        table = self._create_table(name, case)
        try:
            self._fill(table, case)
            yield table
        finally:
            self._catalog.dropTable(name, False)

    def _create_table(self, name: Any, case: Case) -> Any:
        properties = {
            "format-version": str(case.format_version),
            "write.target-file-size-bytes": str(case.state.target_file_size_bytes),
            **case.state.properties,
        }
        if case.key not in self._schemas:
            self._schemas[case.key] = self._read_schema(_schema(case.key))
        schema, layout = self._schemas[case.key], json.dumps(case.layout)
        return self._java.create(self._catalog, name, schema, layout, properties)

    def _fill(self, table: Any, case: Case) -> None:
        files, deletes = case.state.data_files, case.state.delete_files
        manifests = []
        for spec_id in range(len(case.layout)):
            for content in (files, deletes):
                own = [file for file in content if file.spec_id == spec_id]
                if own:
                    manifests.append(self._manifest(case, own, has_numbers=True))
        placeholders = self._placeholders(table, case, len(files) + len(deletes))
        self._java.fill(table, placeholders, json.dumps(manifests))

    def _placeholders(self, table: Any, case: Case, count: int) -> Any:
        """A manifest of `count` files, the same for every table alike: the catalog's memory is one."""
        last = len(case.layout) - 1
        key = (case.format_version, tuple(case.layout[last]), last, count)
        if key not in self._known_placeholders:
            files = [IcebergDataFile(f"placeholder{number}", 1, 1, spec_id=last) for number in range(count)]
            manifest = self._manifest(case, files, has_numbers=False)
            self._known_placeholders[key] = self._java.manifest(table, json.dumps(manifest))
        return self._known_placeholders[key]

    def _manifest(
        self, case: Case, files: Sequence[IcebergDataFile | IcebergDeleteFile], has_numbers: bool
    ) -> dict[str, Any]:
        """A manifest of files of one spec: existing ones, or added ones that have no sequence number yet."""
        spec_id = files[0].spec_id
        entries = [
            {
                "file": _document(file, case.layout[spec_id]) | _metrics(file, case),
                "sequence-number": file.data_sequence_number if has_numbers else None,
            }
            for file in files
        ]
        return {
            "path": f"memory://manifest{next(self._numbers)}.avro",
            "format-version": case.format_version,
            "spec-id": spec_id,
            "deletes": isinstance(files[0], IcebergDeleteFile),
            "entries": entries,
        }


def _compiled(jvm: Any) -> Any:
    """An instance of the class in PlannerOracle.java."""
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(Path(__file__).with_name("PlannerOracle.java").read_text())
    loaded = compiler.getClassLoader().loadClass("PlannerOracle")
    return loaded.getDeclaredConstructors()[0].newInstance(None)


def _java_group(line: str, is_shuffled: bool) -> JavaGroup:
    partition, paths, *numbers, tasks = line.split("\t")
    is_bucket = all(map(is_null, fields_of(partition).values()))
    return JavaGroup(
        "" if is_bucket else unquote_plus(partition),
        tuple(paths.split(",")),
        *map(int, numbers),
        task_bytes=None if is_shuffled else tuple(map(int, tasks.split(","))),
    )


def _applied(line: str) -> tuple[str, tuple[int, int]]:
    path, count, size_bytes = line.split("\t")
    return path, (int(count), int(size_bytes))


def _metrics(file: IcebergDataFile | IcebergDeleteFile, case: Case) -> dict[str, Any]:
    """Metrics as ContentFileParser reads them: of the key, or of the paths in position deletes.

    Every other position delete file names its data file by equal bounds. Bounds of several paths, here of
    none that exists, tell Iceberg nothing.
    """
    if isinstance(file, IcebergDeleteFile) and file.kind is DeleteKind.POSITION and int(file.path[1:]) % 2:
        named = file.referenced_data_file
        low, high = (named, named) if named else ("x", "y")
        return {"lower-bounds": _map(_PATH_ID, low.encode()), "upper-bounds": _map(_PATH_ID, high.encode())}
    told = case.metrics.get(file.path, KeyMetrics())
    written = {
        "lower-bounds": told.low,
        "upper-bounds": told.high,
        "null-value-counts": told.null_count,
        "value-counts": told.value_count,
    }
    return {name: _map(1, value) for name, value in written.items() if value is not None}


def _map(field_id: int, value: bytes | int) -> dict[str, Any]:
    return {"keys": [field_id], "values": [value.hex() if isinstance(value, bytes) else value]}


def _document(file: IcebergDataFile | IcebergDeleteFile, columns: Sequence[str]) -> dict[str, Any]:
    """A content file as Iceberg's ContentFileParser reads it."""
    values = {name: value for name, value in fields_of(file.partition).items() if not is_null(value)}
    document: dict[str, Any] = {
        "spec-id": file.spec_id,
        "content": "DATA",
        "file-path": file.path,
        "file-format": "PARQUET",
        "partition": {_PARTITION_FIELD_IDS[name]: values.get(name) for name in columns},
        "file-size-in-bytes": file.size_bytes,
        "record-count": file.rows,
    }
    if isinstance(file, IcebergDataFile):
        return document | ({"split-offsets": list(file.split_offsets)} if file.split_offsets else {})
    if file.kind is DeleteKind.EQUALITY:
        return document | {"content": "EQUALITY_DELETES", "equality-ids": [1]}
    document["content"] = "POSITION_DELETES"
    is_vector = file.kind is DeleteKind.DELETION_VECTOR
    if file.referenced_data_file is not None and (is_vector or int(file.path[1:]) % 2 == 0):
        document["referenced-data-file"] = file.referenced_data_file
    if is_vector:
        # The state counts the vector's blob; the file around it is larger.
        blob = {"content-offset": 4, "content-size-in-bytes": file.size_bytes}
        document |= blob | {"file-format": "PUFFIN", "file-size-in-bytes": file.size_bytes + 400}
    return document
