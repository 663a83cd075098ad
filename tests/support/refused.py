"""How tests name an expected error: by its code and path. Its text is in `tests/errors.txt`."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bench.errors import CompactbenchError

_PRINTED_CODE = re.compile(r" \[([a-z0-9-]+)\]$", re.MULTILINE)


@contextmanager
def refused(code: str, path: object | None = None) -> Iterator[pytest.ExceptionInfo[CompactbenchError]]:
    """The block must raise an error with this code, and with this path if one is given."""
    with pytest.raises(CompactbenchError) as caught:
        yield caught
    assert caught.value.code == code
    assert path is None or caught.value.path == str(path)


def printed_codes(stderr: str) -> list[str]:
    """The codes of the errors that a command has printed."""
    return _PRINTED_CODE.findall(stderr)
