"""A fixed piece of work of this process, which shows how fast the machine is at that moment.

Neither the table nor the JVM has a part in it, so no policy can make it faster or slower.
"""

import random
import time
from functools import cache

from bench.results.values import Cost

_LENGTH = 2**17  # objects in the cycle: about 5 MB, more than a core's own caches hold
_STEPS = 2**19  # about 30 ms


def fixed_work() -> Cost:
    """Walk a random cycle of objects, whose every step waits for memory, as most of the work of a JVM does.

    The wall time shows neighbours in the same system, which keep the thread waiting, as well as neighbours on
    the host of a virtual machine. The CPU is that of the calling thread and shows the latter alone.
    """
    successors = _cycle()
    wall_s, cpu_s = time.perf_counter(), time.thread_time()
    at = 0
    for _ in range(_STEPS):
        at = successors[at]
    return Cost(time.perf_counter() - wall_s, time.thread_time() - cpu_s)


@cache
def _cycle() -> list[int]:
    """For each place the next one, on one cycle through all of them."""
    places = list(range(_LENGTH))
    random.Random(_LENGTH).shuffle(places)  # noqa: S311  not for security
    successors = [0] * _LENGTH
    for place, successor in zip(places, [*places[1:], places[0]], strict=True):
        successors[place] = successor
    return successors
