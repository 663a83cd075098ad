"""Coefficients in round numbers, so that costs can be worked out by hand."""

import json
from pathlib import Path
from typing import Any

from bench.engines.iceberg.model.coefficients import IcebergCoefficients
from bench.engines.simulated.costs import shipped_file

OPERATION = {
    "serial_s": 1.0, "serial_s_per_file": 0.25, "task_s_per_file": 0.5, "task_s_per_delete_file": 2.0,
    "task_s_per_mib_read": 4.0, "task_s_per_mib_written": 8.0,
}  # fmt: skip
OPERATIONS = ("commit", "noop_compaction", "rewrite", "query_planning", "query_execution", "maintenance")
METADATA = {
    "table_metadata_bytes": 1_000, "table_metadata_bytes_per_snapshot": 100, "manifest_list_bytes": 500,
    "manifest_list_bytes_per_manifest": 10, "manifest_bytes": 50, "manifest_bytes_per_file": 1,
}  # fmt: skip


def coefficients(**changes: Any) -> IcebergCoefficients:
    """Every operation costs 1 + files/4 s on one core and files/2 + 2 deletes + 4 and 8 a MiB of tasks."""
    fields: dict[str, Any] = {
        "format": "iceberg", "calibrated": False, "origin": "a test", "cpu_per_serial_s": 1.5,
        **dict.fromkeys(OPERATIONS, OPERATION), "metadata": METADATA, "data": {"file_bytes": 0},
    }  # fmt: skip
    return IcebergCoefficients.model_validate({**fields, **changes})


def shipped_with(folder: Path, old: str, new: str) -> Path:
    """The shipped Iceberg file with one text replaced, in `folder`."""
    text = shipped_file("iceberg").read_text()
    if old not in text:
        raise ValueError(f"{json.dumps(old)} is not in the shipped file")
    file = folder / "mine.toml"
    file.write_text(text.replace(old, new, 1))
    return file
