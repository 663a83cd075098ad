"""What a scenario sets of the catalog of its tables: by [catalog], and by Spark's own configuration."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from bench.engines.contract import CATALOG_KINDS, CatalogSettings
from bench.scenario.schema import Catalog
from bench.scenario.values import KeyPath

if TYPE_CHECKING:  # a scenario is checked with the functions below
    from bench.scenario.scenario import Scenario


def catalog_of(keys: Catalog | None) -> CatalogSettings:
    """The catalog as [catalog] describes it."""
    return CatalogSettings(keys.name, keys.namespace, keys.properties) if keys else CatalogSettings()


def catalog_properties(
    keys: Catalog | None, spark_settings: Mapping[str, str]
) -> dict[str, tuple[KeyPath, str]]:
    """Each property of the catalog, with the key that sets it; [spark] and `--conf` win."""
    catalog = catalog_of(keys)
    given: dict[str, tuple[KeyPath, str]] = {
        name: (("catalog", "properties", name), value) for name, value in catalog.properties.items()
    }
    prefix = f"spark.sql.catalog.{catalog.name}."
    for key, value in spark_settings.items():
        if key.startswith(prefix):
            given[key.removeprefix(prefix)] = ("spark", key), value
    return given


def configured_catalog(scenario: "Scenario") -> CatalogSettings:
    """The scenario's catalog with all that is set of it. Its `type`, in any case, is in lower case."""
    given = catalog_properties(scenario.catalog, scenario.spark.settings)
    properties = {name: value for name, (_, value) in given.items()}
    kind = {"type": properties["type"].lower()} if "type" in properties else {}
    return replace(catalog_of(scenario.catalog), properties={**properties, **kind})


def catalog_setting(scenario: "Scenario", name: str) -> tuple[KeyPath, str]:
    """The key that sets a property of the catalog, and its value as written. Raises KeyError if none does."""
    return catalog_properties(scenario.catalog, scenario.spark.settings)[name]


def has_shared_catalog(scenario: "Scenario") -> bool:
    """Whether a scenario names a catalog for its tables, which others may use and which outlives the runs."""
    catalog = configured_catalog(scenario)
    is_set = f"spark.sql.catalog.{catalog.name}" in scenario.spark.settings
    return is_set or not catalog.properties.keys().isdisjoint(CATALOG_KINDS)
