"""Notes of what a run has created outside its own folders, such as namespaces of a shared catalog."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Journal:
    """A folder with a file for each name, which may hold details. It survives a kill at any moment.

    A name is noted before the thing is created and crossed out after it is removed, so that after a kill a
    noted thing may not exist, but every existing one is noted.
    """

    folder: Path

    def file(self, name: str) -> Path:
        return self.folder / name

    def note(self, name: str, details: Sequence[str] = ()) -> None:
        """Note a name; the details, a line each, replace earlier ones.

        Raises OSError if it cannot be written: nothing may be created then.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file(name).write_text("".join(f"{line}\n" for line in details), encoding="utf-8")

    def details(self, name: str) -> tuple[str, ...]:
        file = self.file(name)
        return tuple(file.read_text(encoding="utf-8").splitlines()) if file.is_file() else ()

    def cross_out(self, name: str) -> None:
        """Remove a name, and the folder with its last name."""
        self.file(name).unlink(missing_ok=True)
        if self.folder.is_dir() and not self.names():
            self.folder.rmdir()

    def names(self) -> list[str]:
        return sorted(file.name for file in self.folder.iterdir()) if self.folder.is_dir() else []
