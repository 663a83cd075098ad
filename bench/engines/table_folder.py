"""Existing tables that are found by their folders, in which their format has a folder of metadata."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.engines.existing import TableAddress
from bench.errors import ScenarioError, first_error


def resolved(name: str) -> str:
    """The absolute path of a folder, or its URI. Raises ScenarioError for a user without a home."""
    if "://" in name:
        return name
    try:
        return str(Path(name).expanduser().absolute())
    except RuntimeError as error:
        raise ScenarioError(f"{name}: {error}: give the table's folder by its path") from error


def table_folder(address: TableAddress, metadata_folder: str, tables: str) -> str:
    """The folder of a table; `tables` is what messages call its kind.

    Raises ScenarioError for an address by a catalog or branch, and for one within the metadata.
    """
    if address.branch is not None:
        raise ScenarioError(f"--branch {address.branch}: {tables} have no branches; leave it out")
    if address.catalog is not None or address.properties:
        raise ScenarioError(
            f"--catalog, --catalog-property: {tables} are found by their folders; give the path or URI"
        )
    location = resolved(address.name)
    folder, within, _ = location.partition(f"/{metadata_folder}")
    if within:
        raise ScenarioError(f"{location}: is in the metadata of a table; give the table's folder, {folder}")
    return location


@contextmanager
def reading(location: str, damaged: type[Exception]) -> Iterator[None]:
    """Turn what reading a table raises into a ScenarioError; `damaged` names the damaged file itself."""
    try:
        yield
    except damaged as error:
        raise ScenarioError(f"{error}; check the table with its own engine") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(
            f"{location}: cannot be read: the name of a file in it is not UTF-8; rename or remove that file"
        ) from error
    except (OSError, ValueError) as error:
        raise ScenarioError(
            f"{location}: cannot be read: {first_error(error)}; check the path and the credentials"
        ) from error
