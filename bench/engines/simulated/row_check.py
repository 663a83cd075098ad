"""The one check of a simulated table's content: it has as many live rows as its commits leave."""

from collections.abc import Iterable
from typing import Any

from bench.engines.simulated.engine import SimulatedEngine
from bench.engines.simulated.live_rows import expected_live_rows
from workloads.commit import CommitSpec


def wrong_rows(engine: SimulatedEngine[Any], specs: Iterable[CommitSpec], is_cdc: bool) -> str | None:
    """How the table's rows differ from those that the commits `specs` leave; None if they do not.

    If commits update and delete, the number is an expectation, and each file may be off by one row. If they
    only append, every row of every file is live.
    """
    state = engine.state(0)
    expected = round(expected_live_rows(specs))
    actual = engine.live_rows if is_cdc else engine.physical_rows
    if abs(actual - expected) > (len(state.data_files) + len(state.delete_files) if is_cdc else 0):
        return f"the simulated table has {actual} rows, not {expected}"
    return None
