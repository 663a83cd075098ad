"""Errors, classified by who must act.

CompactbenchError
├── ScenarioError         the user: a scenario, option or file asks for the impossible     exit 2
├── MissingRuntimeError   the machine: Java, a jar, disk or permissions are missing         exit 3
├── EngineError           the format or Spark failed at one step of a run                   exit 1
└── ResultSchemaError     the user: a result folder is damaged or of another version        exit 2

`strategies.PlanError` is separate: a planner broke its contract, which fails the run. Exit 4 is no error: no
limit of `compare --fail-if` is broken, but the runs do not prove that all of them hold.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from pydantic import ValidationError

EXIT_INCONCLUSIVE = 4


class CompactbenchError(Exception):
    """Printed without a traceback, as "path: problem [code]".

    `code` names the kind of error for programs and tests, in lower case with hyphens. `path` is where the
    error is: a key as `--set` takes it, an option, a file. The problem says what is wrong and what to do.
    """

    exit_code = 1

    def __init__(self, problem: str, *, code: str, path: object = "") -> None:
        self.code = code
        self.path = str(path)
        super().__init__(f"{path}: {problem}" if self.path else problem)

    def within(self, place: object, hide: Callable[[str], str] = str) -> Self:
        """The error with `place` before its text, such as the file of its key; `hide` hides secrets in it.

        Code and path stay. Raise it `from` this error.
        """
        return self.worded(f"{hide(str(place))}: {self.hidden(hide)}")

    def hidden(self, hide: Callable[[str], str]) -> str:
        """The text after `hide`, which does not take a path such as "my-token" for the key of a secret."""
        place, mark, problem = str(self).partition(f"{self.path}: ")
        is_shown = self.path and hide(self.path) == self.path
        return f"{hide(place)}{mark}{hide(problem)}" if is_shown else hide(str(self))

    def coded(self, hide: Callable[[str], str]) -> str:
        """The text after `hide` with the code at the end of its first line, which a traceback may follow."""
        first, newline, rest = self.hidden(hide).partition("\n")
        return f"{first} [{self.code}]{newline}{rest}"

    def worded(self, text: str) -> Self:
        """The same error with another text."""
        worded = type(self).__new__(type(self), text)
        worded.__dict__ |= self.__dict__
        return worded


class ScenarioError(CompactbenchError):
    """A scenario, option or input file the user must change."""

    exit_code = 2


class MissingRuntimeError(CompactbenchError):
    """Something that this machine lacks; the message has the command or setting that provides it."""

    exit_code = 3


class EngineError(CompactbenchError):
    """An engine failed at a step; the original error is its cause."""


class ResultSchemaError(CompactbenchError):
    """A result folder that cannot be read; the message names the file and line."""

    exit_code = 2


@contextmanager
def writing_report(folder: object) -> Iterator[None]:
    """Raises ScenarioError if the report cannot be written into the folder."""
    try:
        yield
    except OSError as error:
        problem = f"cannot write the report ({error.strerror}): choose another folder"
        raise ScenarioError(problem, code="not-writable", path=folder) from error


def first_error(error: Exception) -> str:
    """The first problem of a validation error, on one line."""
    if isinstance(error, ValidationError):
        detail = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in detail["loc"])
        text = detail["msg"].removeprefix("Value error, ")
        return f"{where}: {text}" if where else text
    return str(error).splitlines()[0] if str(error) else type(error).__name__
