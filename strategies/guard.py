"""Calls into the user's code, which may neither end the process nor keep it for ever."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

CALL_LIMIT_S = 300.0  # a planner takes some seconds for a table of a million files


_AGAIN_S = 1.0


class _TooLong(BaseException):
    """No Exception, so that the user's code does not handle it by accident."""


@contextmanager
def guarded(whose: str, error_type: type[Exception]) -> Iterator[None]:
    """Within the block, the code of a planner or trigger (`whose`) runs.

    Raises `error_type` if it ends the process, if it raises an error whose text cannot be read or what is no
    Exception, such as a cancellation of asyncio, or if it takes longer than `CALL_LIMIT_S`, as far as Python
    can interrupt it: between two of its own instructions, in the main thread, on systems that have timers.
    """
    try:
        with _limited(CALL_LIMIT_S):
            yield
    except SystemExit as error:
        code = "" if error.code is None else repr(error.code)
        raise error_type(f"the {whose} called sys.exit({code})") from error
    except _TooLong as error:
        raise error_type(f"the {whose} took longer than {CALL_LIMIT_S:g} s") from error
    except Exception as error:
        if not _has_text(error):
            name = type(error).__name__
            raise error_type(f"the {whose} raised {name}, whose text cannot be read") from error
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise error_type(f"the {whose} raised {type(error).__name__}") from error


def _has_text(error: Exception) -> bool:
    """Whether `error` can be told: its `__str__` is code of the user's too."""
    try:
        str(error)
    except (Exception, SystemExit):
        return False
    return True


@contextmanager
def _limited(limit_s: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    handler = signal.signal(signal.SIGALRM, _stop)
    # Again and again: code that handles every exception may have handled the first one.
    delay_s, interval_s = signal.setitimer(signal.ITIMER_REAL, limit_s, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, delay_s, interval_s)
        signal.signal(signal.SIGALRM, handler)


def _stop(signum: int, frame: FrameType | None) -> NoReturn:
    raise _TooLong
