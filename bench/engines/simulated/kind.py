"""What the simulated engines of all formats declare alike."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path

from pydantic import JsonValue

from bench.engines.contract import Engine, EngineSettings
from bench.engines.format import EngineKind, SettingProblem, lazy
from bench.engines.simulated.costs import Coefficients

_Read = Callable[[Path | None], Coefficients]  # the coefficients in a file, None for the shipped ones


def simulated_kind(
    open_engine: Callable[[EngineSettings], AbstractContextManager[Engine]],
    capabilities: frozenset[str],
    read: _Read,
    setting_problem: SettingProblem = lambda name: None,
    heeded_settings: frozenset[str] = frozenset(),
) -> EngineKind:
    """How a format's tables are simulated; results show the cores and the coefficients."""

    def options(settings: EngineSettings) -> Mapping[str, JsonValue]:
        coefficients = read(settings.coefficients)
        return {"cores": asdict(settings.cores), "coefficients": coefficients.model_dump(mode="json")}

    return EngineKind(
        open_engine,
        capabilities,
        False,
        options,
        setting_problem,
        heeded_settings,
        wrong_rows=lazy("bench.engines.simulated.row_check:wrong_rows"),
        content_bytes=lambda engine: engine.content_bytes,
        estimates=read,
    )
