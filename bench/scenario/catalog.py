"""The catalog of a scenario's tables, as [catalog] and Spark's own configuration set it."""

from dataclasses import replace

from bench.engines.contract import CATALOG_KINDS, CatalogSettings
from bench.scenario.scenario import Scenario
from bench.scenario.schema import Catalog, ScenarioKeys
from bench.scenario.values import KeyPath


def catalog_of(keys: Catalog | None) -> CatalogSettings:
    """The catalog as [catalog] alone describes it."""
    return CatalogSettings(keys.name, keys.namespace, keys.properties) if keys else CatalogSettings()


def catalog_properties(tables: Scenario | ScenarioKeys) -> dict[str, tuple[KeyPath, str]]:
    """Each property of the catalog: the key that sets it, and its value as written; [spark] wins."""
    catalog = catalog_of(tables.catalog)
    properties: dict[str, tuple[KeyPath, str]] = {
        name: (("catalog", "properties", name), value) for name, value in catalog.properties.items()
    }
    prefix = f"spark.sql.catalog.{catalog.name}."
    for key, value in tables.spark.settings.items():
        if key.startswith(prefix):
            properties[key.removeprefix(prefix)] = ("spark", key), value
    return properties


def configured_catalog(tables: Scenario | ScenarioKeys) -> CatalogSettings:
    """The catalog with all its properties. Its `type` is in lower case, however it was written."""
    properties = {name: value for name, (_, value) in catalog_properties(tables).items()}
    kind = {"type": properties["type"].lower()} if "type" in properties else {}
    return replace(catalog_of(tables.catalog), properties={**properties, **kind})


def has_shared_catalog(tables: Scenario | ScenarioKeys) -> bool:
    """Whether the tables are in the user's own catalog, which others may use and which outlives the runs."""
    catalog = configured_catalog(tables)
    is_set = f"spark.sql.catalog.{catalog.name}" in tables.spark.settings
    return is_set or not catalog.properties.keys().isdisjoint(CATALOG_KINDS)
