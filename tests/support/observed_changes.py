"""Observations of a table against what its versions say they changed."""

from bench.engines.contract import Observation
from bench.results.values import Change


def data_bytes(observed: Observation) -> int:
    """Bytes of data and delete files on storage."""
    return observed.table.storage_bytes - observed.table.metadata_storage_bytes


def check_grown(before: Observation, after: Observation, change: Change) -> None:
    """Files, live bytes and rows differ by what was changed between the two observations."""
    deletes = change.delete_files_added_count - change.delete_files_removed_count
    assert after.table.delete_files_count == before.table.delete_files_count + deletes
    files = change.files_added_count - change.files_removed_count
    assert after.table.data_files_count == before.table.data_files_count + files
    assert after.table.live_bytes == before.table.live_bytes + change.added_bytes - change.replaced_bytes
    assert after.table.rows == before.table.rows + change.added_rows - change.replaced_rows
