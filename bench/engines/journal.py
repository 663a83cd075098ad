"""What a run has made outside its own folders and not removed yet, such as namespaces of a shared catalog."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Journal:
    """A folder with an empty file for each name. It survives a kill at any moment.

    A name is noted before the thing is made and crossed out after it is gone, so that at the worst one is
    noted that does not exist.
    """

    folder: Path

    def note(self, name: str) -> None:
        """Raises OSError if it cannot be written: nothing may be made then."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / name).touch()

    def cross_out(self, name: str) -> None:
        """The folder goes with its last name."""
        (self.folder / name).unlink(missing_ok=True)
        if self.folder.is_dir() and not self.names():
            self.folder.rmdir()

    def names(self) -> list[str]:
        """What is noted, in order."""
        return sorted(file.name for file in self.folder.iterdir()) if self.folder.is_dir() else []
