"""What an engine observed of a table, as the records have it."""

from bench.engines.contract import Change, Observation


def metadata_fields(change: Change) -> dict[str, int]:
    """What was written to the metadata."""
    return {"metadata_bytes": change.metadata_bytes, "metadata_files_count": change.metadata_files_count}


def table_fields(observed: Observation) -> dict[str, int | None]:
    """The table as it stands; None for what its format does not count."""
    return {
        "data_files_count": observed.data_files_count,
        "delete_files_count": observed.delete_files_count,
        "delete_rows": observed.delete_rows,
        "equality_files_count": observed.delete_counts.get("equality_files_count"),
        "live_bytes": observed.live_bytes,
        "rows": observed.rows,
        "storage_bytes": observed.storage_bytes,
        "metadata_storage_bytes": observed.metadata_storage_bytes,
    }


def compacted_fields(before: Observation, after: Observation) -> dict[str, int | None]:
    """The table around a compaction, what that took and what it wrote; data and delete files apart.

    None stands for what the format does not count.
    """
    change = after.change
    return {
        "files_before_count": before.data_files_count,
        "files_after_count": after.data_files_count,
        "delete_files_before_count": before.delete_files_count,
        "delete_files_after_count": after.delete_files_count,
        "delete_rows_after": after.delete_rows,
        "equality_files_after_count": after.delete_counts.get("equality_files_count"),
        "rows_before": before.rows,
        "rows_after": after.rows,
        "live_before_bytes": before.live_bytes,
        "live_after_bytes": after.live_bytes,
        "files_removed_count": change.files_removed_count,
        "files_added_count": change.files_added_count,
        "delete_files_removed_count": change.delete_files_removed_count,
        "delete_files_added_count": change.delete_files_added_count,
        "replaced_bytes": change.replaced_bytes,
        "added_bytes": change.added_bytes,
        **metadata_fields(change),
    }
