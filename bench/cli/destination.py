"""Where a command writes, as given on the command line."""

from pathlib import Path

import typer


def destination_path(given: str | Path) -> Path:
    """The path of an option. An empty one, such as an unset shell variable, would mean the current folder."""
    if not str(given).strip():
        raise typer.BadParameter("the path is empty; name a folder or file, or . for the current folder")
    return Path(given)
