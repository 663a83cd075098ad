"""Iceberg's maintenance commands, by the names used in plans, in records and as engine capabilities."""

from enum import StrEnum


class Command(StrEnum):
    """A stored procedure of Iceberg's Spark extensions; the part after the dot is its name there."""

    EXPIRE_SNAPSHOTS = "iceberg.expire_snapshots"
    REWRITE_DATA_FILES = "iceberg.rewrite_data_files"
    REWRITE_MANIFESTS = "iceberg.rewrite_manifests"
    REWRITE_POSITION_DELETE_FILES = "iceberg.rewrite_position_delete_files"

    @property
    def procedure(self) -> str:
        return self.value.partition(".")[2]


METADATA_COMMANDS = frozenset({Command.EXPIRE_SNAPSHOTS, Command.REWRITE_MANIFESTS})  # write no data file
