"""Whether a folder holds an Iceberg table. This needs no PyIceberg, which takes long to import."""

from pathlib import Path

from pyarrow.fs import FileSelector

from bench.engines.folders import file_system

METADATA_SUFFIX = ".metadata.json"


def is_table_at(name: str) -> bool:
    """Whether there is table metadata; False if it cannot be read, e.g. without credentials."""
    try:
        system, folder = file_system(name if "://" in name else str(Path(name).expanduser()))
        selector = FileSelector(f"{folder.rstrip('/')}/metadata", allow_not_found=True)
        return any(info.base_name.endswith(METADATA_SUFFIX) for info in system.get_file_info(selector))
    except (OSError, ValueError):
        return False
