"""Simulated tables of each format, from what its tests vary."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.engines.contract import Cores, EngineSettings, SparkSettings, TableSpec
from bench.engines.registry import FORMATS
from bench.engines.simulated.costs import Coefficients
from bench.engines.simulated.engine import SimulatedEngine


def simulated_table(
    model: Callable[[EngineSettings, Any], Any],
    spec: TableSpec,
    coefficients: Coefficients,
    cores: Cores | None = None,
    conf: Mapping[str, str] | None = None,
    *,
    has_real_clock: bool = False,
) -> SimulatedEngine[Any]:
    """An engine with the format's `model`; `conf` are settings of Spark."""
    engines = FORMATS[coefficients.format].engines
    settings = EngineSettings(
        Path(), spec, SparkSettings(conf=conf or {}), cores=cores or Cores(), has_real_clock=has_real_clock
    )
    kind = engines.simulated
    return SimulatedEngine(
        settings, coefficients, kind.capabilities, engines.planning, model, kind.executors,
        kind.table_amounts(spec.properties),
    )  # fmt: skip
