"""The files that a query of a Hudi table opens: base files of Spark's scans, log files of their slices."""

from functools import partial
from typing import Any

from pyspark.sql import SparkSession

from bench.engines.spark.queries import READS_NOTHING, Scan, ScanReader
from bench.engines.spark.session import java_class
from bench.results.values import ScanWork

_NODE = "FileSourceScanExec"
_INDEX = "HoodieFileIndex"
_WITH_SLICES = "HoodiePartitionFileSliceMapping"


def reader(spark: SparkSession) -> ScanReader:
    return ScanReader(_list_files, partial(_work, java_class(spark, "org.apache.hudi.common.fs.FSUtils")))


def _list_files(scan: Scan) -> None:
    if scan.kind == _NODE:
        scan.node.selectedPartitions()


def _work(names: Any, scans: tuple[Scan, ...]) -> ScanWork:
    """Unknown if the query reads by another node, or by a scan that Hudi has not planned."""
    bases, logs = list[int](), list[int]()
    for scan in scans:
        if scan.kind in READS_NOTHING:
            continue
        if scan.kind != _NODE or scan.node.relation().location().getClass().getSimpleName() != _INDEX:
            return ScanWork()
        for directory in scan.node.selectedPartitions():
            _add_files(directory, names, bases, logs)
    return ScanWork(len(bases), len(logs), sum(bases) + sum(logs))


def _add_files(directory: Any, names: Any, bases: list[int], logs: list[int]) -> None:
    """Add the bytes of the files of one partition. A file of a scan represents its slice."""
    slices = directory.values()
    has_slices = slices.getClass().getSimpleName().endswith(_WITH_SLICES)
    files = directory.files()
    for index in range(files.size()):
        file = files.apply(index)
        own = slices.getSlice(names.getFileId(file.getPath().getName())) if has_slices else None
        if own is None or not own.isDefined():
            bases.append(int(file.getLen()))
            continue
        merged = own.get()
        if merged.getBaseFile().isPresent():
            bases.append(int(merged.getBaseFile().get().getFileSize()))
        of_logs = merged.getLogFiles().iterator()
        while of_logs.hasNext():
            logs.append(int(of_logs.next().getFileSize()))
