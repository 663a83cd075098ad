"""The engines the contract suite runs over, one line each, and markers for what one of them lacks."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from bench.engines.contract import Cores, Engine, SparkSettings, TableSpec
from bench.engines.iceberg.catalog import Catalog
from bench.engines.iceberg.engine import IcebergEngine
from bench.engines.iceberg.format import IcebergKeys
from bench.engines.iceberg.model.coefficients import iceberg_coefficients
from bench.engines.iceberg.simulation import simulated_table
from bench.engines.simulated.engine import SimulatedEngine
from bench.engines.spark.meter import Meter
from strategies.state import MIB

EngineKey = tuple[str, str]


@dataclass(frozen=True)
class Workshop:
    """What one test makes its engine with: the warm session, a namespace of its own, a scratch folder."""

    spark: Callable[[], SparkSession]
    settings: SparkSettings
    catalog_folder: Path
    namespace: str
    scratch: Path

    @property
    def warehouse(self) -> Path:
        """Where the test's Iceberg tables lie."""
        return self.catalog_folder / "warehouse" / self.namespace

    def simulated(self, **table: Any) -> SimulatedEngine[Any]:
        """A simulated Iceberg engine; `table` are fields of its TableSpec."""
        spec = TableSpec(**{"target_file_size_bytes": 8 * MIB, **table})
        return simulated_table(spec, iceberg_coefficients(), Cores())

    def iceberg(self, **table: Any) -> IcebergEngine:
        """An Iceberg engine; `table` are fields of its TableSpec, or its `format_version`."""
        catalog = Catalog(self.catalog_folder, "lake", self.namespace, {})
        spark = self.spark()
        version = {key: table.pop(key) for key in ("format_version",) if key in table}
        keys = IcebergKeys.model_validate({"format": "iceberg", "target_file_size": "8MiB", **version})
        spec = TableSpec(**{"target_file_size_bytes": 8 * MIB, "keys": keys, **table})
        return IcebergEngine(spark, Meter(spark, self.settings), catalog, spec)


@dataclass(frozen=True)
class EngineFactory:
    """How a test gets an engine, and whether that is real: on Spark, with rows in its tables."""

    make: Callable[..., Engine]
    is_real: bool


FACTORIES: Mapping[EngineKey, EngineFactory] = {
    ("iceberg", "real"): EngineFactory(Workshop.iceberg, is_real=True),
    ("iceberg", "simulated"): EngineFactory(Workshop.simulated, is_real=False),
}


def engine_params() -> list[Any]:
    """Every factory's key as a parameter of the contract suite."""
    return [
        pytest.param(key, id="-".join(key), marks=[pytest.mark.spark] if factory.is_real else [])
        for key, factory in FACTORIES.items()
    ]


def notimpl(*engines: EngineKey, reason: str, raises: type[BaseException]) -> pytest.MarkDecorator:
    """The engine could do it, and we have not built it."""
    return _gap("notimpl", engines, reason, raises)


def notyet(*engines: EngineKey, reason: str, raises: type[BaseException]) -> pytest.MarkDecorator:
    """The format, or its release we use, does not do it yet."""
    return _gap("notyet", engines, reason, raises)


def never(*engines: EngineKey, reason: str, raises: type[BaseException]) -> pytest.MarkDecorator:
    """The format cannot do it by its nature."""
    return _gap("never", engines, reason, raises)


def _gap(
    kind: str, engines: tuple[EngineKey, ...], reason: str, raises: type[BaseException]
) -> pytest.MarkDecorator:
    if not reason or not engines:
        raise ValueError(f"{kind} needs engines and a reason")
    return pytest.mark.gap(engines=engines, reason=f"{kind}: {reason}", raises=raises)


def expected_failures(marks: Iterator[pytest.Mark], key: EngineKey) -> list[pytest.MarkDecorator]:
    """The strict xfail of each gap that concerns `key`: it fails as soon as the gap is closed."""
    return [
        pytest.mark.xfail(reason=mark.kwargs["reason"], raises=mark.kwargs["raises"], strict=True)
        for mark in marks
        if key in mark.kwargs["engines"]
    ]
