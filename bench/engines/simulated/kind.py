"""What the simulated engines of all formats declare alike."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import JsonValue

from bench.engines.calibrating import Calibrating
from bench.engines.contract import EngineSettings
from bench.engines.format import SettingProblem, SimulatedKind, TableAmounts
from bench.engines.simulated.costs import Coefficients
from bench.engines.simulated.engine import SimulatedEngine
from bench.engines.simulated.live_rows import expected_live_rows
from bench.engines.simulated.model import FormatModel
from bench.engines.simulated.selection import selection_of
from bench.engines.tickets import Planning
from workloads.commit import CommitSpec
from workloads.partitioning import Partitioning


def simulated_kind(
    model: Callable[[EngineSettings, Any], FormatModel[Any]],
    capabilities: frozenset[str],
    planning: Planning,
    read: Callable[[Path | None], Coefficients],
    calibrating: Calibrating,
    setting_problem: SettingProblem = lambda name: None,
    heeded_settings: frozenset[str] = frozenset(),
    executors: Mapping[str, frozenset[str]] = MappingProxyType({}),
    table_amounts: TableAmounts = lambda properties: {},
) -> SimulatedKind:
    @contextmanager
    def open_engine(settings: EngineSettings) -> Iterator[SimulatedEngine[Any]]:
        coefficients, amounts = read(settings.coefficients), table_amounts(settings.table.properties)
        yield SimulatedEngine(settings, coefficients, capabilities, planning, model, executors, amounts)

    def options(settings: EngineSettings) -> Mapping[str, JsonValue]:
        coefficients = read(settings.coefficients)
        cores: dict[str, JsonValue] = {"cores": asdict(settings.cores)}
        if settings.core_speed != 1:
            cores["core_speed"] = settings.core_speed
        return {**cores, "coefficients": coefficients.to_json()}

    return SimulatedKind(
        open=open_engine,
        capabilities=capabilities,
        is_measured=False,
        options=options,
        setting_problem=setting_problem,
        probe_problem=probe_problem,
        heeded_settings=heeded_settings,
        executors=executors,
        wrong_rows=wrong_rows,
        beyond_fit=lambda engine: engine.beyond_fit,
        table_amounts=table_amounts,
        content_bytes=lambda engine: engine.model.content_bytes,
        estimates=read,
        calibrating=calibrating,
    )


def probe_problem(sql: str, partitioning: Partitioning) -> str | None:
    try:
        selection_of(sql, partitioning)
    except ValueError as error:
        return str(error)
    return None


def wrong_rows(engine: Any, specs: Iterable[CommitSpec], is_cdc: bool) -> str | None:
    """How the table's rows differ from those that the commits `specs` leave; None if they do not.

    If commits update and delete, the number is an expectation, and each file may be off by one row. If they
    only append, every row of every file is live. The commits of an imported table do not say how many rows
    were live; what they add and remove was compared with the table's own totals at its import.
    """
    specs = list(specs)
    if any(spec.recorded for spec in specs):
        return None
    state = engine.state(0)
    expected = round(expected_live_rows(specs))
    actual = engine.model.live_rows if is_cdc else engine.model.physical_rows
    if abs(actual - expected) > (len(state.data_files) + len(state.delete_files) if is_cdc else 0):
        return f"the simulated table has {actual} rows, not {expected}"
    return None
