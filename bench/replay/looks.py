"""When a compactor looks at the table with a real clock: once in each commit interval, at a random moment.

If it were the moment of the commit, each compaction would begin just before or after a commit ends, and
always lose or never.
"""

import itertools
import random
from collections.abc import Iterator

from bench.scenario.scenario import Scenario


def looks_ms(scenario: Scenario, role: str, repetition: int) -> Iterator[int]:
    """The moments in scenario time, endless: look n (from 0) is in the interval that begins n intervals in.

    They are the same for a real run and its simulation.
    """
    rng = random.Random(f"{scenario.seed}/looks/{role}/{repetition}")  # noqa: S311 - reproducible, no secret
    for number in itertools.count():
        yield int((number + rng.random()) * scenario.commit_interval_ms)
