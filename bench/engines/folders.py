"""Tables that are found by their folders, on any file system that PyArrow can open."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from pyarrow.fs import FileSelector, FileSystem, FileType, LocalFileSystem

from bench.engines.existing import TableAddress
from bench.errors import ScenarioError, first_error
from strategies.plan import Action
from strategies.preview import Preview


class FolderTable:
    """What existing tables of these formats have in common: each delete applies to one data file."""

    __slots__ = ()

    def dropped_deletes(self, action: Action, preview: Preview) -> Collection[str]:
        """None: deletes are only dropped with the data files or slices that are rewritten."""
        return ()

    def is_files_out_exact(self, preview: Preview) -> bool:
        """Not if rows are sorted or clustered into several files: their sizes are only targets."""
        return all(len(group.tasks) == 1 for group in preview.groups)

    def is_deletes_exact(self) -> bool:
        return True


def file_system(location: str) -> tuple[FileSystem, str]:
    """The file system of a local path or a URI, and the path in it."""
    if "://" not in location:
        return LocalFileSystem(), location
    system, path = FileSystem.from_uri(location)
    return system, str(path)


def file_sizes(system: FileSystem, root: str) -> dict[str, int]:
    """The bytes of all files below a folder by their path within it; none without the folder.

    Checksum files do not count: only Hadoop's local file system writes them, and hides them.
    """
    prefix = f"{root.rstrip('/')}/"
    files = system.get_file_info(FileSelector(root, recursive=True, allow_not_found=True))
    return {
        info.path.removeprefix(prefix): info.size
        for info in files
        if info.type is FileType.File
        and not (info.base_name.startswith(".") and info.base_name.endswith(".crc"))
    }


def is_table_in(metadata_folder: str, name: str) -> bool:
    """Whether there is a table with such metadata, even a damaged one; False if that cannot be found out."""
    try:
        location = _resolved(name)
        return metadata_folder in location.split("/") or _has_folder(location, metadata_folder)
    except (OSError, ValueError):
        return False


@contextmanager
def opened_folder(
    address: TableAddress, metadata_folder: str, title: str, damaged: type[Exception]
) -> Iterator[str]:
    """The folder of a table, which the block reads. Raises ScenarioError for whatever prevents that.

    The text of a `damaged` error names the damaged file.
    """
    location = _table_folder(address, metadata_folder, title)
    try:
        if not _has_folder(location, metadata_folder):
            raise ScenarioError(
                f"is not a {title} table, it has no folder {metadata_folder}: give the table's folder",
                code="not-a-table",
                path=location,
            )
        yield location
    except damaged as error:
        raise ScenarioError(f"{error}; check the table with its own engine", code="damaged") from error
    except (OSError, ValueError) as error:
        raise ScenarioError(
            f"cannot be read: {first_error(error)}; check the path and the credentials",
            code="unreadable",
            path=location,
        ) from error


def _table_folder(address: TableAddress, metadata_folder: str, title: str) -> str:
    """Raises ScenarioError for an address with a catalog or branch, and for one within the metadata."""
    if address.branch is not None:
        raise ScenarioError(
            f"{title} tables have no branches; leave it out", code="no-effect", path="--branch"
        )
    if address.catalog is not None or address.properties:
        path = "--catalog" if address.catalog is not None else "--catalog-property"
        raise ScenarioError(
            f"{title} tables are found by their folders; give the path or URI", code="no-effect", path=path
        )
    location = _resolved(address.name)
    folder, within, _ = location.partition(f"/{metadata_folder}")
    if within:
        raise ScenarioError(
            f"is in the metadata of a table; give the table's folder, {folder}",
            code="not-a-table",
            path=location,
        )
    return location


def _resolved(name: str) -> str:
    """A URI as it is, a path made absolute."""
    return name if "://" in name else str(Path(name).expanduser().absolute())


def _has_folder(location: str, name: str) -> bool:
    system, root = file_system(location)
    return bool(system.get_file_info(f"{root.rstrip('/')}/{name}").type is FileType.Directory)
