"""What a scan of a Delta table had to open: Spark's own file scan, over the files that Delta did not skip."""

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
    """How Delta's tables are read in a session."""
    mapper = java_class(spark, "org.apache.spark.sql.delta.util.JsonUtils").mapper()
    return ScanReader(_list_files, partial(_work, mapper))


def _list_files(scan: Scan) -> None:
    if scan.kind == _NODE:
        scan.node.selectedPartitions()


def _work(mapper: Any, scans: tuple[Scan, ...]) -> ScanWork:
    """The work of a query; unknown (None) if it reads by another node, or by a scan not planned by Delta."""
    files = list[dict[str, Any]]()
    for scan in scans:
        if scan.kind in READS_NOTHING:
            continue
        found = _planned_files(scan, mapper)
        if found is None:
            return ScanWork()
        files += found
    vectors = [vector for file in files if (vector := file.get("deletionVector")) is not None]
    opened_bytes = sum(file["size"] for file in files) + sum(vector["sizeInBytes"] for vector in vectors)
    return ScanWork(len(files), len(vectors), opened_bytes)


def _planned_files(scan: Scan, mapper: Any) -> list[dict[str, Any]] | None:
    """The files of a scan as the log describes them, by Delta's own JSON; None if Delta did not plan it."""
    if scan.kind != _NODE:
        return None
    index = scan.node.relation().location()
    if index.getClass().getSimpleName() != _INDEX:
        return None
    # One call for all files: each access to one of them would be several.
    found: list[dict[str, Any]] = json.loads(mapper.writeValueAsString(index.preparedScan().files()))
    return found
