"""Iceberg's own commands by the names that plans, records and an engine's capabilities give them."""

from enum import StrEnum


class Command(StrEnum):
    """A stored procedure of Iceberg's Spark extensions; what follows the dot is its name there."""

    EXPIRE_SNAPSHOTS = "iceberg.expire_snapshots"
    REWRITE_DATA_FILES = "iceberg.rewrite_data_files"
    REWRITE_MANIFESTS = "iceberg.rewrite_manifests"
    REWRITE_POSITION_DELETE_FILES = "iceberg.rewrite_position_delete_files"

    @property
    def procedure(self) -> str:
        """Its name in the `system` namespace of a catalog."""
        return self.value.partition(".")[2]
