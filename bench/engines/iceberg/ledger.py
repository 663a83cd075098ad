"""The ledger of an Iceberg table, and the rules by which its plans are judged."""

from collections.abc import Mapping
from functools import partial

from bench.engines.ledger import Ledger
from bench.engines.tickets import Planning
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, IcebergState
from strategies.iceberg.preview import preview_action
from strategies.iceberg.resurrection import resurrection

PLANNING = Planning(preview_action, resurrection)
IcebergLedger = Ledger[IcebergDataFile, IcebergDeleteFile, IcebergState]


def iceberg_ledger(
    target_file_size_bytes: int,
    properties: Mapping[str, str],
    spec_id: int = 0,
    stream_epoch_ms: int | None = None,
) -> IcebergLedger:
    """`spec_id` is the partition spec of new files."""
    return Ledger(
        partial(IcebergState, spec_id=spec_id), target_file_size_bytes, properties,
        {"equality_files_count": lambda delete: delete.kind is DeleteKind.EQUALITY}, stream_epoch_ms,
    )  # fmt: skip
