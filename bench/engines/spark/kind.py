"""The kind of engine that all formats have on Spark."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from pydantic import JsonValue

from bench.engines.contract import Engine, EngineSettings
from bench.engines.format import EngineKind, SettingProblem


def real_kind(
    open_engine: Callable[[EngineSettings], AbstractContextManager[Engine]],
    capabilities: frozenset[str],
    options: Callable[[EngineSettings], Mapping[str, JsonValue]],
    setting_problem: SettingProblem = lambda name: None,
    drop_tables: Callable[[EngineSettings], None] | None = None,
) -> EngineKind:
    """An engine of real tables; see `EngineKind`."""
    return EngineKind(
        open_engine,
        capabilities,
        is_measured=True,
        options=options,
        setting_problem=setting_problem,
        drop_tables=drop_tables,
        executors_memory_bytes=lambda engine: engine.executors_memory_bytes,
    )
