"""Coefficients in round numbers, so that costs can be worked out by hand."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.engines.iceberg.model.coefficients import IcebergCoefficients
from bench.engines.simulated.costs import shipped_file
from bench.engines.simulated.steps import COEFFICIENTS, Operation

OPERATION = {
    "tasks": {"s_per_file": 0.5, "s_per_delete_file": 2.0, "s_per_mib": 4.0},
    "driver": {"s": 1.5, "s_per_file": 0.375},
    "wall": {"s": 1.0, "s_per_file": 0.25},
}
METADATA = {
    "table_metadata_bytes": 1_000, "table_metadata_bytes_per_snapshot": 100, "manifest_list_bytes": 500,
    "manifest_list_bytes_per_manifest": 10, "manifest_bytes": 50, "manifest_bytes_per_file": 1,
}  # fmt: skip


def operations(names: Iterable[Operation], **changes: Any) -> dict[str, Any]:
    """`OPERATION` for all of them, as far as they have its amounts, or the given one in its place."""
    return {name.value: changes.get(name, _of(name, OPERATION)) for name in names}


def _of(name: Operation, parts: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    known = COEFFICIENTS[name]
    return {part: {key: value for key, value in own.items() if key in known} for part, own in parts.items()}


def coefficients(data: dict[str, Any] | None = None, **changes: Any) -> IcebergCoefficients:
    """Every operation takes 1 + files/4 s beside its tasks, which take files/2 + 2 deletes + 4 a MiB."""
    return IcebergCoefficients.model_validate(
        {
            "format": "iceberg", "origin": "a test",
            "operations": operations(
                {*IcebergCoefficients.needed, Operation.SINGLE_NODE, *map(Operation, changes)}, **changes
            ),
            "metadata": METADATA, "data": data or {"file_bytes": 0},
        }
    )  # fmt: skip


def shipped_with(folder: Path, old: str, new: str) -> Path:
    """The shipped Iceberg file with one text replaced, in `folder`."""
    text = shipped_file("iceberg").read_text()
    if old not in text:
        raise ValueError(f"{json.dumps(old)} is not in the shipped file")
    file = folder / "mine.toml"
    file.write_text(text.replace(old, new, 1))
    return file
