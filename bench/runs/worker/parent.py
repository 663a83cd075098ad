"""A worker process ends when its parent says so, or when the parent is gone."""

import os
import signal
import sys
import threading
import time
from types import FrameType

PARENT_CHECK_S = 1.0


def obey_parent() -> None:
    """The process id of the parent is the second argument of the command."""
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides, and sends SIGTERM
    threading.Thread(target=_end_with_parent, args=(int(sys.argv[2]),), daemon=True).start()


def _stop(signum: int, frame: FrameType | None) -> None:
    """End at once, JVM included: an exception during a call to it would look like a failed run."""
    os.killpg(0, signal.SIGKILL)


def _end_with_parent(parent: int) -> None:
    """Kill this process group, JVM included, once the parent is gone."""
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_S)
    os.killpg(os.getpgid(0), signal.SIGKILL)
