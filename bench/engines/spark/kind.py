"""The kind of engine that all formats have on Spark."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import partial

from pydantic import JsonValue

from bench.engines.contract import Engine, EngineSettings
from bench.engines.format import EngineKind, SettingProblem
from bench.engines.spark.conf import DEFAULT_CONF


def real_kind(
    open_engine: Callable[[EngineSettings], AbstractContextManager[Engine]],
    capabilities: frozenset[str],
    options: Callable[[EngineSettings], Mapping[str, JsonValue]],
    setting_problem: SettingProblem = lambda name: None,
    drop_tables: Callable[[EngineSettings], None] | None = None,
    executors: Mapping[str, frozenset[str]] | None = None,
) -> EngineKind:
    """An engine of real tables; see `EngineKind`.

    `drop_tables` drops what the journal of a shared catalog notes; None if tables end with their run.
    """
    return EngineKind(
        open_engine,
        capabilities,
        is_measured=True,
        options=options,
        setting_problem=setting_problem,
        drop_left=partial(_drop_left, drop_tables),
        executors=executors or {},
        executors_memory_bytes=lambda engine: engine.executors_memory_bytes,
    )


def spark_options(settings: EngineSettings, of_format: Mapping[str, str]) -> dict[str, JsonValue]:
    """The master and the configuration; the scenario's settings override the format's and ours."""
    return {
        "spark.master": settings.spark.master,
        "spark": {**DEFAULT_CONF, **of_format, **settings.spark.conf},
    }


def _drop_left(drop_tables: Callable[[EngineSettings], None] | None, settings: EngineSettings) -> None:
    """Removes staged files even if dropping tables fails. Raises EngineError."""
    with ExitStack() as stack:
        staged = settings.spark.staging_journal
        if staged is not None and staged.names():
            from bench.engines.spark.measured_session import remove_staged

            stack.callback(remove_staged, settings)
        in_catalog = settings.catalog.journal
        if drop_tables is not None and in_catalog is not None and in_catalog.names():
            drop_tables(settings)
