"""What a scan of an Iceberg table had to open, by the metrics of Iceberg's SparkScan at 1.11.0."""

from bench.engines.contract import ScanWork
from bench.engines.spark.queries import Scan, ScanReader

_NODE = "BatchScanExec"  # of Spark's DataSource V2
# Leaves that read no table: of a query that cannot have an answer, and what was read elsewhere in the plan.
_READS_NOTHING = frozenset({"LocalTableScanExec", "EmptyRelationExec", "ReusedExchangeExec"})


def _list_files(scan: Scan) -> None:
    if scan.kind == _NODE:
        scan.node.inputPartitions()


def _work(scans: tuple[Scan, ...]) -> ScanWork:
    """Nothing is known of a query that reads by any other node, or by one without these metrics."""
    if any(scan.kind != _NODE and scan.kind not in _READS_NOTHING for scan in scans):
        return ScanWork()
    found = [scan.metrics for scan in scans if scan.kind == _NODE]

    def total(*names: str) -> int | None:
        if any(name not in metrics for metrics in found for name in names):
            return None
        return sum(metrics[name] for metrics in found for name in names)

    return ScanWork(
        files_count=total("resultDataFiles"),
        delete_files_count=total("resultDeleteFiles"),
        opened_bytes=total("totalDataFileSize", "totalDeleteFileSize"),
        metadata_files_count=total("scannedDataManifests", "scannedDeleteManifests"),
    )


READER = ScanReader(_list_files, _work)
