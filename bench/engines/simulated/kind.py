"""What the simulated engines of all formats declare alike."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from bench.engines.contract import Engine, EngineSettings
from bench.engines.format import EngineKind, SettingProblem
from bench.engines.simulated.costs import Coefficients
from workloads.commit import CommitSpec

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
        wrong_rows=_wrong_rows,
        content_bytes=lambda engine: engine.content_bytes,
    )


def _wrong_rows(engine: Any, specs: Iterable[CommitSpec], is_cdc: bool) -> str | None:
    from bench.engines.simulated.row_check import wrong_rows

    return wrong_rows(engine, specs, is_cdc)
