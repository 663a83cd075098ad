"""Folders of Hudi tables written by hand: files of any bytes, and a timeline that names them.

Records have the names of Hudi's own, so that its classes read the folders too.
"""

import io
import json
from collections.abc import Mapping
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

MINUTE = 100_000  # of a time written as yyyyMMddHHmmssSSS
EPOCH = 20260101000000000

_MODEL = "org.apache.hudi.avro.model"
_TEXTS = {"type": "map", "values": "string"}
_STAT = {
    "type": "record", "name": f"{_MODEL}.HoodieWriteStat",
    "fields": [
        {"name": "fileId", "type": "string"}, {"name": "path", "type": "string"},
        {"name": "numWrites", "type": "long"}, {"name": "numDeletes", "type": "long"},
        {"name": "fileSizeInBytes", "type": "long"}, {"name": "partitionPath", "type": "string"},
        *(
            {"name": name, "type": ["null", kind], "default": None}
            for name, kind in (
                ("numInserts", "long"), ("numUpdateWrites", "long"), ("prevBaseFile", "string"),
                ("totalLogFilesCompacted", "long"),
            )
        ),
    ],
}  # fmt: skip
_STATS = {"type": "array", "items": _STAT}
_NAMES_BY_PARTITION = {"type": "map", "values": {"type": "array", "items": "string"}}
_COMMIT = {
    "type": "record", "name": f"{_MODEL}.HoodieCommitMetadata",
    "fields": [
        {"name": "partitionToWriteStats", "type": {"type": "map", "values": _STATS}},
        {"name": "partitionToReplaceFileIds", "type": _NAMES_BY_PARTITION, "default": {}},
        {"name": "extraMetadata", "type": _TEXTS},
        {"name": "operationType", "type": "string"},
    ],
}  # fmt: skip
_REPLACE_COMMIT = {**_COMMIT, "name": f"{_MODEL}.HoodieReplaceCommitMetadata"}
_SLICE_FIELDS = [
    {"name": "partitionPath", "type": "string"}, {"name": "fileId", "type": "string"},
    {"name": "deltaFilePaths", "type": {"type": "array", "items": "string"}, "default": []},
]  # fmt: skip
_OPERATION = {
    "type": "record", "name": f"{_MODEL}.HoodieCompactionOperation",
    "fields": [{"name": "baseInstantTime", "type": ["null", "string"], "default": None}, *_SLICE_FIELDS],
}  # fmt: skip
_SLICE = {"type": "record", "name": f"{_MODEL}.HoodieSliceInfo", "fields": _SLICE_FIELDS}
_MISSING = {
    "name": "missingSchedulePartitions", "type": ["null", {"type": "array", "items": "string"}],
    "default": None,
}  # fmt: skip
_COMPACTION = {
    "type": "record", "name": f"{_MODEL}.HoodieCompactionPlan",
    "fields": [{"name": "operations", "type": {"type": "array", "items": _OPERATION}}, _MISSING],
}  # fmt: skip
_GROUP = {
    "type": "record", "name": f"{_MODEL}.HoodieClusteringGroup",
    "fields": [{"name": "slices", "type": {"type": "array", "items": _SLICE}}],
}  # fmt: skip
_CLUSTERING_PLAN = {
    "type": "record", "name": f"{_MODEL}.HoodieClusteringPlan",
    "fields": [{"name": "inputGroups", "type": {"type": "array", "items": _GROUP}}, _MISSING],
}  # fmt: skip
_CLUSTERING = {
    "type": "record", "name": f"{_MODEL}.HoodieRequestedReplaceMetadata",
    "fields": [
        {"name": "operationType", "type": "string", "default": "CLUSTER"},
        {"name": "clusteringPlan", "type": _CLUSTERING_PLAN},
    ],
}  # fmt: skip

PROPERTIES = {
    "hoodie.table.name": "orders", "hoodie.table.type": "MERGE_ON_READ", "hoodie.table.version": "9",
    "hoodie.table.partition.fields": "day",
}  # fmt: skip
SCHEMA = {"type": "record", "name": "orders", "fields": [{"name": "order_id", "type": "long"}]}


def minute(number):
    return str(EPOCH + number * MINUTE)


class HudiFolder:
    """A table written step by step. A write completes a minute after its request."""

    def __init__(self, path: Path, properties: Mapping[str, str] = PROPERTIES):
        self.path, self.is_early = path, properties["hoodie.table.version"] == "6"
        self._bases = {}  # the name of the latest base file, by partition and file id
        self.timeline = path / ".hoodie" / ("" if self.is_early else "timeline")
        self.timeline.mkdir(parents=True)
        lines = [f"{name}={text}" for name, text in properties.items()]
        (self.path / ".hoodie" / "hoodie.properties").write_text("# of a test\n" + "\n".join(lines))

    def base(self, at, file_id, partition="a", size_bytes=100):
        """Write a base file; returns its path."""
        return self._file(f"{file_id}_0-1-2_{minute(at)}.parquet", partition, size_bytes)

    def log(self, at, file_id, partition="a", size_bytes=10):
        """Write a log file; returns its path. In version 6, `at` is the write of its base file."""
        return self._file(f".{file_id}_{minute(at)}.log.1_0-1-2", partition, size_bytes)

    def _file(self, name, partition, size_bytes):
        folder = self.path / partition
        folder.mkdir(exist_ok=True)
        (folder / ".hoodie_partition_metadata").touch()
        (folder / name).write_bytes(bytes(size_bytes))
        return f"{partition}/{name}" if partition else name

    def commit(
        self, at, *paths, action="deltacommit", operation="UPSERT", replaced=None, until=None, counts=None,
        tag=None,
    ):  # fmt: skip
        """Complete a write of these files, with 7 rows each, and 2 deletes in log files.

        `counts` are other numbers by path: of inserts, updates, deletes, and of all rows in a base file.
        """
        content = self._metadata(paths, operation, replaced or {}, counts or {})
        content["extraMetadata"] |= {} if tag is None else {"compactbench": tag}
        if self.is_early:
            (self.timeline / f"{minute(at)}.{action}").write_text(json.dumps(content))
            return
        name = f"{minute(at)}_{minute(at + 1 if until is None else until)}.{action}"
        schema = _REPLACE_COMMIT if action == "replacecommit" else _COMMIT
        (self.timeline / name).write_bytes(_avro(schema, content))

    def _metadata(self, paths, operation, replaced, counts):
        stats = {}
        for path in paths:
            partition, _, name = path.rpartition("/")
            size_bytes = (self.path / path).stat().st_size
            file_id, is_base = name.lstrip(".").split("_")[0], name.endswith(".parquet")
            inserts, updates, deletes, *rows = counts.get(path, (7, 0, 0 if is_base else 2, 7))
            stats.setdefault(partition, []).append({
                "fileId": file_id, "path": path, "numWrites": rows[0] if rows else inserts + updates,
                "numDeletes": deletes, "fileSizeInBytes": size_bytes, "partitionPath": partition,
                "numInserts": inserts, "numUpdateWrites": updates, "totalLogFilesCompacted": None,
                "prevBaseFile": self._bases.get((partition, file_id)) if is_base else None,
            })  # fmt: skip
            if is_base:
                self._bases[partition, file_id] = name
        return {
            "partitionToWriteStats": stats, "partitionToReplaceFileIds": replaced,
            "extraMetadata": {"schema": json.dumps(SCHEMA)}, "operationType": operation,
        }  # fmt: skip

    def plan(self, at, *groups, missing=None, service="compaction"):
        """Schedule a service; `groups` are partitions and file ids."""
        slices = [{"partitionPath": partition, "fileId": file_id} for partition, file_id in groups]
        noted = {"missingSchedulePartitions": missing}
        if service == "clustering":
            content = _avro(_CLUSTERING, {"clusteringPlan": {"inputGroups": [{"slices": slices}], **noted}})
        else:
            content = _avro(_COMPACTION, {"operations": slices, **noted})
        (self.timeline / f"{minute(at)}.{service}.requested").write_bytes(content)

    def archive(self, *ats):
        history, rows = self.timeline / "history", []
        for at in ats:
            (file,) = self.timeline.glob(f"{minute(at)}_*")
            times, action = file.name.split(".")
            instant = dict(zip(("instantTime", "completionTime"), times.split("_"), strict=True))
            rows.append({**instant, "action": action, "metadata": file.read_bytes(), "plan": None})
            file.unlink()
        history.mkdir()
        pq.write_table(pa.Table.from_pylist(rows), history / "first_last_0.parquet")
        (history / "manifest_1").write_text(json.dumps({"files": [{"fileName": "first_last_0.parquet"}]}))
        (history / "_version_").write_text("1")


def _avro(schema, record):
    content = io.BytesIO()
    fastavro.writer(content, schema, [record])
    return content.getvalue()
