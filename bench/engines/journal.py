"""What a run has made outside its own folders and not removed yet, such as namespaces of a shared catalog."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Journal:
    """A folder with a file for each name, which may hold details. It survives a kill at any moment.

    A name is noted before the thing is made and crossed out after it is gone, so that at the worst one is
    noted that does not exist.
    """

    folder: Path

    def file(self, name: str) -> Path:
        """Where a name is noted, whether it is now or not."""
        return self.folder / name

    def note(self, name: str, details: Sequence[str] = ()) -> None:
        """Note it, with these details instead of earlier ones, a line each.

        Raises OSError if it cannot be written: nothing may be made then.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file(name).write_text("".join(f"{line}\n" for line in details), encoding="utf-8")

    def details(self, name: str) -> tuple[str, ...]:
        """Those of a name that is noted; none of another."""
        file = self.file(name)
        return tuple(file.read_text(encoding="utf-8").splitlines()) if file.is_file() else ()

    def cross_out(self, name: str) -> None:
        """The folder goes with its last name."""
        self.file(name).unlink(missing_ok=True)
        if self.folder.is_dir() and not self.names():
            self.folder.rmdir()

    def names(self) -> list[str]:
        """What is noted, in order."""
        return sorted(file.name for file in self.folder.iterdir()) if self.folder.is_dir() else []
