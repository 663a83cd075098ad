"""Logs of Delta tables, written by hand: actions, and the files that hold them."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.engines.contract import Tag
from bench.engines.delta.log import LOG_FOLDER

TAG = Tag("writer", "commit-1", 60_000, 80)


def add(path, size=100, rows=10, day="2026-01-05", vector=None, **more):
    stats = None if rows is None else json.dumps({"numRecords": rows, "tightBounds": vector is None})
    values = {"day": day}
    fields = {"path": path, "partitionValues": values, "size": size, "stats": stats, "deletionVector": vector}
    return {"add": {"modificationTime": 1, "dataChange": True, **fields, **more}}


def remove(path, vector=None, at_ms=5):
    fields = {"path": path, "deletionTimestamp": at_ms, "dataChange": True, "deletionVector": vector}
    return {"remove": fields}


def dv(name="u", rows=3, size=40):
    stored = {"storageType": "u", "pathOrInlineDv": name, "offset": 1}
    return {**stored, "sizeInBytes": size, "cardinality": rows}


def info(operation="WRITE", tag=TAG, **parameters):
    fields = {"timestamp": 7, "operation": operation, "operationParameters": parameters}
    return {"commitInfo": fields if tag is None else {**fields, "userMetadata": str(tag)}}


def described(*columns, by=(), **properties):
    """The actions that describe a table with these columns, partitioned `by` some of them."""
    fields = [{"name": name, "type": "string", "metadata": {}} for name in columns]
    schema = json.dumps({"type": "struct", "fields": fields})
    metadata = {"schemaString": schema, "partitionColumns": list(by), "configuration": properties or None}
    return {"protocol": {"minReaderVersion": 1}}, {"metaData": metadata}


def write_commit(place, version, *actions):
    text = "".join(json.dumps(action) + "\n" for action in actions)
    (Path(place) / LOG_FOLDER / f"{version:020}.json").write_text(text)


def write_checkpoint(place, version, *actions):
    names = dict.fromkeys(name for action in actions for name in action)
    columns = {name: [action.get(name) for action in actions] for name in names}
    pq.write_table(pa.table(columns), Path(place) / LOG_FOLDER / f"{version:020}.checkpoint.parquet")


def clean_up(place, version):
    """Delete the commits before a version."""
    for path in (Path(place) / LOG_FOLDER).glob("*.json"):
        if int(path.stem) < version:
            path.unlink()
