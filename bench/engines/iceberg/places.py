"""Paths of an Iceberg table that properties set, the owner of a folder, and Java modules for catalogs."""

from collections.abc import Mapping

from bench.engines.contract import TableSpec

DATA_PATH, METADATA_PATH = "write.data.path", "write.metadata.path"
# Deprecated, but Iceberg's LocationProviders use them if DATA_PATH is not set.
_OLD_DATA_PATHS = ("write.object-storage.path", "write.folder-storage.path")
_OF_TABLES = ("table-default.", "table-override.")  # of new tables; source: Iceberg's CatalogProperties
HTTP_OPTIONS = "jdk.net"  # a module of Java: Iceberg's REST client sets its socket options


def property_problem(spec: TableSpec) -> tuple[str, str] | None:
    """Refuses properties that move files to where nobody looks for them."""
    old = next((key for key in _OLD_DATA_PATHS if key in spec.properties), None)
    return (old, f"is a deprecated name of {DATA_PATH}: set that instead") if old else None


def catalog_problem(catalog: Mapping[str, str]) -> tuple[str, str] | None:
    """Refuses properties that put the files of all tables of a catalog into one folder."""
    paths = (DATA_PATH, METADATA_PATH, *_OLD_DATA_PATHS)
    keys = (f"{prefix}{path}" for prefix in _OF_TABLES for path in paths)
    shared = next((key for key in keys if key in catalog), None)
    if shared is None:
        return None
    instead = METADATA_PATH if shared.endswith(METADATA_PATH) else DATA_PATH
    return (
        shared,
        "is one folder for the tables of all runs, and would be deleted with one of them: set "
        f'"{instead}" in table.properties instead, where each table gets a folder of its own',
    )


def needed_java_modules(catalog: Mapping[str, str]) -> tuple[str, ...]:
    implementation = catalog.get("catalog-impl", "").rpartition(".")[2]
    is_rest = catalog.get("type") == "rest" or implementation == "RESTCatalog"
    return (HTTP_OPTIONS,) if is_rest else ()


def is_below(location: str, folder: str) -> bool:
    """Whether `folder` is `location` or lies in it."""
    return f"{folder}/".startswith(f"{location.rstrip('/')}/") and ".." not in folder.split("/")


def is_named_after(namespace: str, folder: str) -> bool:
    """Whether a folder in the path has the name that catalogs derive from the namespace."""
    parts = folder.split("/")
    return not {namespace, f"{namespace}.db"}.isdisjoint(parts) and ".." not in parts
