"""All there is to check of a simulated table: as many rows live as the commits leave."""

from collections.abc import Iterable
from typing import Any

from bench.engines.simulated.engine import SimulatedEngine
from bench.engines.simulated.live_rows import expected_live_rows
from workloads.commit import CommitSpec


def wrong_rows(engine: SimulatedEngine[Any], specs: Iterable[CommitSpec], is_cdc: bool) -> str | None:
    """How the table's rows differ from those that the commits `specs` leave; None where they do not.

    Where commits update and delete that is an expectation, and a file may be off by a row. Where they
    only add, every row of a file lives.
    """
    state = engine.state(0)
    expected = round(expected_live_rows(specs))
    found = engine.live_rows if is_cdc else sum(p.rows for p in state.partitions.values())
    if abs(found - expected) > (len(state.data_files) if is_cdc else 0):
        return f"the simulated table has {found} rows, not {expected}"
    return None
