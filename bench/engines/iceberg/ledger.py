"""The ledger of an Iceberg table."""

from collections.abc import Mapping
from functools import partial

from bench.engines.ledger import Ledger
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, IcebergState

IcebergLedger = Ledger[IcebergDataFile, IcebergDeleteFile, IcebergState]


def iceberg_ledger(
    target_file_size_bytes: int,
    properties: Mapping[str, str],
    spec_id: int = 0,
    stream_epoch_ms: int | None = None,
) -> IcebergLedger:
    """An empty ledger; `spec_id` is the partition spec new files are written with."""
    return Ledger(
        partial(IcebergState, spec_id=spec_id), target_file_size_bytes, properties,
        {"equality_files_count": _is_equality}, stream_epoch_ms,
    )  # fmt: skip


def _is_equality(delete: IcebergDeleteFile) -> bool:
    return delete.kind is DeleteKind.EQUALITY
