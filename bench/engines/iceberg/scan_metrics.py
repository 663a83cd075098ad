"""What a scan of an Iceberg table had to open, from the metrics of Iceberg's SparkScan (1.11.0)."""

from bench.engines.spark.queries import READS_NOTHING, Scan, ScanReader
from bench.results.values import ScanWork

_NODE = "BatchScanExec"  # of Spark's DataSource V2


def _list_files(scan: Scan) -> None:
    if scan.kind == _NODE:
        scan.node.inputPartitions()


def _work(scans: tuple[Scan, ...]) -> ScanWork:
    """Unknown (None) if a query reads by any other node, or by one without these metrics."""
    if any(scan.kind != _NODE and scan.kind not in READS_NOTHING for scan in scans):
        return ScanWork()
    metrics_of_scans = [scan.metrics for scan in scans if scan.kind == _NODE]

    def total(*names: str) -> int | None:
        if any(name not in metrics for metrics in metrics_of_scans for name in names):
            return None
        return sum(metrics[name] for metrics in metrics_of_scans for name in names)

    return ScanWork(
        files_count=total("resultDataFiles"),
        delete_files_count=total("resultDeleteFiles"),
        opened_bytes=total("totalDataFileSize", "totalDeleteFileSize"),
        metadata_files_count=total("scannedDataManifests", "scannedDeleteManifests"),
    )


READER = ScanReader(_list_files, _work)
