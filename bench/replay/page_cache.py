"""Cold reads: before a query the kernel forgets the contents of a table's files. No privileges are needed."""

import os
from contextlib import suppress
from pathlib import Path


def drop_page_cache(folder: Path) -> None:
    """Drop the pages of all files below a folder from the page cache (Linux).

    Pages that are not on the disk yet cannot be dropped, so each file is synced first.
    """
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                _drop(Path(parent, name))


def _drop(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fdatasync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
