"""How the processes of a run agree on its beginning and its end: by files in a folder that they share."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

_POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Barrier:
    """Marks in a folder. Waiting ends with an error of `check`, which may say that a process has died."""

    folder: Path

    def mark(self, name: str, text: str = "") -> None:
        """Set a mark, which others see with its whole text or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f".{name}"
        part.write_text(text, encoding="utf-8")
        part.replace(self.folder / name)

    def wait(self, names: Iterable[str], check: Callable[[], None] = lambda: None) -> list[str]:
        """Wait for all of these marks; returns their texts."""
        files = [self.folder / name for name in names]
        while not all(file.exists() for file in files):
            check()
            time.sleep(_POLL_S)
        return [file.read_text(encoding="utf-8") for file in files]

    def clear(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def has(self, name: str) -> bool:
        return (self.folder / name).exists()

    def text(self, name: str) -> str:
        """The text of a mark; empty if it is not set."""
        file = self.folder / name
        return file.read_text(encoding="utf-8") if file.exists() else ""
