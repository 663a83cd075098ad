"""The ledger of a Delta table, and the rules for its plans."""

from collections.abc import Mapping
from functools import partial

from bench.engines.ledger import Ledger
from bench.engines.tickets import Planning
from strategies.delta.files import DeletionVector, DeltaDataFile, DeltaState
from strategies.delta.preview import preview_action

# No command of Delta drops a deletion vector without rewriting or removing its data file.
PLANNING = Planning(preview_action)
DeltaLedger = Ledger[DeltaDataFile, DeletionVector, DeltaState]


def delta_ledger(
    target_file_size_bytes: int,
    properties: Mapping[str, str],
    clustering_columns: tuple[str, ...] = (),
    stream_epoch_ms: int | None = None,
) -> DeltaLedger:
    return Ledger(
        partial(DeltaState, clustering_columns=clustering_columns), target_file_size_bytes, properties,
        stream_epoch_ms=stream_epoch_ms,
    )  # fmt: skip
