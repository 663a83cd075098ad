"""Files that commands write where the user wants them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.errors import ScenarioError


def check_folder(file: Path, option: str = "--file") -> None:
    """Raises ScenarioError, which names the option of the file, if its folder does not exist."""
    if not file.absolute().parent.is_dir():
        problem = f"its folder does not exist: create it, or choose another file with {option}"
        raise ScenarioError(problem, code="unwritable", path=file)


@contextmanager
def writing(file: Path, option: str = "--file") -> Iterator[None]:
    """Raises ScenarioError, which names the option of the file, if it cannot be written in this block."""
    try:
        yield
    except OSError as error:
        problem = f"cannot be written ({error.strerror}); choose another place with {option}"
        raise ScenarioError(problem, code="unwritable", path=file) from error
