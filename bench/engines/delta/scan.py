"""The files that a query of a Delta table opens, from Spark's file scans and Delta's plans for them."""

import json
from functools import partial
from typing import Any

from pyspark.sql import SparkSession

from bench.engines.spark.queries import READS_NOTHING, Scan, ScanReader
from bench.engines.spark.session import java_class
from bench.results.values import ScanWork

_NODE = "FileSourceScanExec"
_INDEX = "PreparedDeltaFileIndex"  # of a scan that Delta has planned


def reader(spark: SparkSession) -> ScanReader:
    mapper = java_class(spark, "org.apache.spark.sql.delta.util.JsonUtils").mapper()
    return ScanReader(_list_files, partial(_work, mapper))


def _list_files(scan: Scan) -> None:
    if scan.kind == _NODE:
        scan.node.selectedPartitions()


def _work(mapper: Any, scans: tuple[Scan, ...]) -> ScanWork:
    """Unknown if the query reads by another node, or by a scan that Delta has not planned."""
    files = list[dict[str, Any]]()
    for scan in scans:
        if scan.kind in READS_NOTHING:
            continue
        planned = _planned_files(scan, mapper)
        if planned is None:
            return ScanWork()
        files += planned
    vectors = [vector for file in files if (vector := file.get("deletionVector")) is not None]
    opened_bytes = sum(file["size"] for file in files) + sum(vector["sizeInBytes"] for vector in vectors)
    return ScanWork(len(files), len(vectors), opened_bytes)


def _planned_files(scan: Scan, mapper: Any) -> list[dict[str, Any]] | None:
    """The files of a scan as the log describes them; None if Delta did not plan it."""
    if scan.kind != _NODE:
        return None
    index = scan.node.relation().location()
    if index.getClass().getSimpleName() != _INDEX:
        return None
    # One call for all files, since each access to a single file takes several.
    files: list[dict[str, Any]] = json.loads(mapper.writeValueAsString(index.preparedScan().files()))
    return files
