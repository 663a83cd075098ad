"""A simulated table to which a stream is committed, without a replay: for what is asked of it in between."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from bench.engines.contract import Batch, CommitOutcome
from bench.engines.registry import engine_kind
from bench.engines.simulated.engine import SimulatedEngine
from bench.runs.settings import engine_settings
from bench.scenario.kept_back import kept_back
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec


def committed(
    scenario: Scenario, spec: StrategySpec, coefficients: Path | None = None
) -> Iterator[tuple[SimulatedEngine[Any], Batch, CommitOutcome]]:
    """The table after each commit of the strategy's writer, which may be compacted before the next one."""
    settings = engine_settings(scenario, spec.label, Path(), coefficients)
    with engine_kind(scenario.table.format, "simulated").open(settings) as opened:
        engine = cast("SimulatedEngine[Any]", opened)
        engine.create()
        for batch in kept_back(map(Batch, scenario.shape()), spec.writer.commit_every_ms):
            yield engine, batch, engine.commit(batch, batch.spec.at_ms)
