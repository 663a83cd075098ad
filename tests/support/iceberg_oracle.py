"""Iceberg's own planner as an oracle: a table of made-up files, planned by the Java classes themselves.

No file exists but the manifests, and those lie in memory. Each spec has one data manifest and at most
one delete manifest, with the files in the state's order and the sequence numbers the state gives them.
No write of Iceberg makes such a manifest at once; so as many placeholders are appended first, and a
rewrite of manifests, which checks only that the number of files stays, puts the made-up ones in place.
"""

import itertools
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from planner_cases import Case
from pyspark.sql import SparkSession

from strategies.expansion import RewriteGroup
from strategies.read_tasks import lookback_of
from strategies.state import DataFile, DeltaFile, DeltaKind

_COLUMNS = [("id", "long"), ("p", "string"), ("q", "string")]
_SCHEMA = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": number, "name": name, "type": type_, "required": False}
        for number, (name, type_) in enumerate(_COLUMNS, start=1)
    ],
}
_PARTITION_FIELD_IDS = {"p": "1000", "q": "1001"}  # given in the order the fields were added
_SHUFFLING_PLANNER = "org.apache.iceberg.spark.actions.SparkShufflingDataRewritePlanner"


@dataclass(frozen=True)
class JavaGroup:
    """A group as Java plans it. `task_bytes` are None of a sort, whose tasks Spark's shuffle makes."""

    partition: str
    paths: tuple[str, ...]
    input_bytes: int
    delta_bytes: int
    split_bytes: int
    max_output_file_bytes: int
    expected_output_files: int
    task_bytes: tuple[int, ...] | None


def as_java_group(group: RewriteGroup, is_shuffled: bool) -> JavaGroup:
    return JavaGroup(
        group.partition,
        tuple(f.path for f in group.files),
        group.input_bytes,
        group.delta_bytes,
        group.split_bytes,
        group.max_output_file_bytes,
        group.expected_output_files,
        None if is_shuffled else tuple(task.input_bytes for task in group.tasks),
    )


class IcebergOracle:
    """Plans cases with the Java classes. Class lookups through py4j are slow, so they are kept."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        iceberg = jvm.org.apache.iceberg
        guava = iceberg.relocated.com.google.common
        self._gateway: Any = spark.sparkContext._gateway
        self._jvm, self._iceberg = jvm, iceberg
        self._list = guava.collect.Lists.newArrayList
        # Iceberg's own pool is polled every 10 ms.
        self._same_thread = guava.util.concurrent.MoreExecutors.newDirectExecutorService()
        self._read_json = iceberg.util.JsonUtil.mapper().readTree
        self._content_file = iceberg.ContentFileParser.fromJson
        self._write_data = iceberg.ManifestFiles.write
        self._write_deletes = iceberg.ManifestFiles.writeDeleteManifest
        self._task_groups = iceberg.util.TableScanUtil.planTaskGroups
        self._planner = iceberg.actions.BinPackRewriteFilePlanner
        self._table_name = iceberg.catalog.TableIdentifier.parse
        self._schema = iceberg.SchemaParser.fromJson(json.dumps(_SCHEMA))
        self._numbers = itertools.count()
        self._catalog = iceberg.inmemory.InMemoryCatalog()
        self._catalog.initialize("oracle", {})
        self._catalog.createNamespace(self._table_name("n.t").namespace())

    def plan(self, case: Case) -> tuple[list[JavaGroup], int]:
        """The groups in the order they would run, and the planner's count of groups before truncation."""
        name = self._table_name(f"n.t{next(self._numbers)}")
        table = self._create_table(name, case)
        try:
            self._fill(table, case)
            planner = self._shuffling_planner(table) if case.is_shuffled else self._planner(table)
            planner.init(case.options)
            plan = planner.plan()
            groups = [self._group(table, group, case) for group in self._list(plan.groups())]
            return groups, plan.totalGroupCount()
        finally:
            self._catalog.dropTable(name, False)

    def _group(self, table: Any, group: Any, case: Case) -> JavaGroup:
        tasks = group.fileScanTasks()
        packed = self._task_groups(tasks, group.inputSplitSize(), lookback_of(case.state.properties), 0)
        input_bytes = group.inputFilesSizeInBytes()
        path = table.spec().partitionToPath(group.info().partition())
        return JavaGroup(
            partition="" if all(pair.endswith("=null") for pair in path.split("/")) else path,
            paths=tuple(re.findall(r"FileScanTask\{file=([^,]+),", tasks.toString())),
            input_bytes=input_bytes,
            delta_bytes=sum(task.sizeBytes() for task in tasks) - input_bytes,
            split_bytes=group.inputSplitSize(),
            max_output_file_bytes=group.maxOutputFileSize(),
            expected_output_files=group.expectedOutputFiles(),
            task_bytes=None if case.is_shuffled else tuple(self._length(bin_) for bin_ in packed),
        )

    def _length(self, task_group: Any) -> int:
        return sum(task.length() for task in self._list(task_group.tasks()))

    def _create_table(self, name: Any, case: Case) -> Any:
        properties = {
            "format-version": str(case.format_version),
            "write.target-file-size-bytes": str(case.state.target_file_size_bytes),
            **case.state.properties,
        }
        first, *later = case.layout
        builder = self._iceberg.PartitionSpec.builderFor(self._schema)
        for column in first:
            builder = builder.identity(column)
        table = self._catalog.createTable(name, self._schema, builder.build(), properties)
        for before, after in itertools.pairwise([first, *later]):
            update = table.updateSpec()
            for column in set(after) - set(before):
                update = update.addField(column)
            for column in set(before) - set(after):
                update = update.removeField(column)
            update.commit()
        return table

    def _fill(self, table: Any, case: Case) -> None:
        files, deltas = case.state.data_files, case.state.delta_files
        placeholders = [DataFile(f"placeholder{n}", 1, 1) for n in range(len(files) + len(deltas))]
        layout_of_none = [()] if () in case.layout else [case.layout[0]]
        append = table.newFastAppend().scanManifestsWith(self._same_thread)
        spec_id = case.layout.index(layout_of_none[0])
        documents = [_document(f, case.layout[spec_id], spec_id) for f in placeholders]
        append.appendManifest(
            self._manifest(table, self._write_data, case, spec_id, documents, None)
        ).commit()
        rewrite = table.rewriteManifests().scanManifestsWith(self._same_thread)
        for manifest in table.currentSnapshot().allManifests(table.io()):
            rewrite.deleteManifest(manifest)
        for write, content in ((self._write_data, files), (self._write_deletes, deltas)):
            for spec_id, columns in enumerate(case.layout):
                own = [f for f in content if f.spec_id == spec_id]
                if own:
                    documents = [_document(f, columns, spec_id) for f in own]
                    numbers = [f.sequence_number for f in own]
                    rewrite.addManifest(self._manifest(table, write, case, spec_id, documents, numbers))
        rewrite.commit()

    def _manifest(
        self,
        table: Any,
        write: Any,
        case: Case,
        spec_id: int,
        documents: Iterable[dict[str, Any]],
        sequence_numbers: Sequence[int] | None,
    ) -> Any:
        """A manifest of existing files, or of added ones where no sequence numbers are given."""
        output = table.io().newOutputFile(f"memory://manifest{next(self._numbers)}.avro")
        specs = table.specs()
        writer = write(case.format_version, specs.get(spec_id), output, None)
        for index, document in enumerate(documents):
            file = self._content_file(self._read_json(json.dumps(document)), specs)
            if sequence_numbers is None:
                writer.add(file)
            else:
                writer.existing(file, 1, sequence_numbers[index], sequence_numbers[index])
        writer.close()
        return writer.toManifestFile()

    def _shuffling_planner(self, table: Any) -> Any:
        """The planner of sorts, whose class is closed to other packages."""
        loader = table.getClass().getClassLoader()
        (constructor,) = self._jvm.java.lang.Class.forName(
            _SHUFFLING_PLANNER, True, loader
        ).getDeclaredConstructors()
        constructor.setAccessible(True)
        arguments = self._gateway.new_array(self._jvm.java.lang.Object, 4)
        arguments[0] = table
        arguments[1] = self._iceberg.expressions.Expressions.alwaysTrue()
        arguments[2] = self._jvm.java.lang.Long.valueOf(table.currentSnapshot().snapshotId())
        arguments[3] = False
        return constructor.newInstance(arguments)


def _document(file: DataFile | DeltaFile, columns: Sequence[str], spec_id: int) -> dict[str, Any]:
    """A content file as Iceberg's ContentFileParser reads it."""
    values = dict(pair.split("=") for pair in file.partition.split("/") if pair)
    document: dict[str, Any] = {
        "spec-id": spec_id,
        "content": "DATA",
        "file-path": file.path,
        "file-format": "PARQUET",
        "partition": {_PARTITION_FIELD_IDS[name]: values.get(name) for name in columns},
        "file-size-in-bytes": file.size_bytes,
        "record-count": file.rows,
    }
    if isinstance(file, DataFile):
        return document | ({"split-offsets": list(file.split_offsets)} if file.split_offsets else {})
    if file.kind is DeltaKind.EQUALITY:
        return document | {"content": "EQUALITY_DELETES", "equality-ids": [1]}
    document["content"] = "POSITION_DELETES"
    if file.referenced_data_file is not None:
        document["referenced-data-file"] = file.referenced_data_file
    if file.kind is DeltaKind.DELETION_VECTOR:
        # The state counts the vector's blob; the file around it is larger.
        blob = {"content-offset": 4, "content-size-in-bytes": file.size_bytes}
        document |= blob | {"file-format": "PUFFIN", "file-size-in-bytes": file.size_bytes + 400}
    return document
