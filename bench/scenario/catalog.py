"""What a scenario sets of the catalog of its tables: by [catalog], and by Spark's own configuration."""

from collections.abc import Mapping

from bench.engines.contract import CatalogSettings
from bench.scenario.schema import Catalog
from bench.scenario.values import KeyPath


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
