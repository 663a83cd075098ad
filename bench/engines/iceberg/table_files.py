"""The folders of an Iceberg table, with all files in them, whether a snapshot lists them or not."""

from collections.abc import Iterable
from typing import Any

from py4j.java_gateway import is_instance_of
from pyarrow.fs import FileSelector
from pyiceberg.io import FileIO
from pyiceberg.io.pyarrow import PyArrowFileIO

from bench.engines.iceberg.places import DATA_PATH, METADATA_PATH
from bench.errors import EngineError


def data_folder(location: str, properties: Any) -> str:
    """`properties` is a mapping of Python or Java. Source: Iceberg's LocationProviders."""
    return str(properties.get(DATA_PATH) or f"{location}/data")


def metadata_folder(location: str, properties: Any) -> str:
    """`properties` as for `data_folder`. Source: BaseMetastoreTableOperations.metadataFileLocation."""
    return str(properties.get(METADATA_PATH) or f"{location}/metadata")


def listed_bytes(io: FileIO, folder: str) -> int:
    """The bytes of all files below a folder, listed by PyIceberg; 0 if there is none.

    Raises EngineError for a FileIO that cannot list.
    """
    if not isinstance(io, PyArrowFileIO):
        raise EngineError(f"PyIceberg's {type(io).__name__} cannot list {folder}", code="unsupported")
    scheme, host, path = PyArrowFileIO.parse_location(folder)
    selector = FileSelector(path, recursive=True, allow_not_found=True)
    return sum(info.size or 0 for info in io.fs_by_scheme(scheme, host).get_file_info(selector))


def folders_of(table: Any) -> tuple[str, ...]:
    """All folders with files of a (Java) table."""
    location, properties = str(table.location()), table.properties()
    folders = (data_folder(location, properties), metadata_folder(location, properties), location)
    return tuple(dict.fromkeys(folders))


def delete_below(gateway: Any, io: Any, folders: Iterable[str]) -> None:
    """Delete all files in folders with a (Java) FileIO, if it can list by prefix.

    A purge only deletes files that the table's metadata lists; the files of failed steps remain.
    """
    if is_instance_of(gateway, io, "org.apache.iceberg.io.SupportsPrefixOperations"):
        for folder in folders:
            io.deletePrefix(f"{folder.rstrip('/')}/")  # the slash excludes folders with longer names
