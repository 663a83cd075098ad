"""The properties that say where the files of an Iceberg table lie, and whose a folder is."""

from collections.abc import Iterator, Mapping

from bench.engines.contract import TableSpec

DATA_PATH, METADATA_PATH = "write.data.path", "write.metadata.path"
# Where DATA_PATH is not set, Iceberg's LocationProviders heed these, which are deprecated.
_OLD_DATA_PATHS = ("write.object-storage.path", "write.folder-storage.path")
# Those of tables that a catalog makes. Source: Iceberg's CatalogProperties.
_OF_TABLES = ("table-default.", "table-override.")
_SERVERS = frozenset({"hive", "nessie", "rest"})  # types of catalogs


def property_problem(spec: TableSpec) -> tuple[str, str] | None:
    """A property by which files would lie where none are looked for."""
    given = next((key for key in _OLD_DATA_PATHS if key in spec.properties), None)
    return (given, f"is a deprecated name of {DATA_PATH}: set that instead") if given else None


def catalog_problem(catalog: Mapping[str, str]) -> tuple[str, str] | None:
    """A property of a catalog by which the files of all its tables would lie in one folder."""
    paths = (DATA_PATH, METADATA_PATH, *_OLD_DATA_PATHS)
    keys = (f"{prefix}{path}" for prefix in _OF_TABLES for path in paths)
    given = next((key for key in keys if key in catalog), None)
    if given is None:
        return None
    instead = METADATA_PATH if given.endswith(METADATA_PATH) else DATA_PATH
    return (
        given,
        "is one folder for the tables of all runs, with which it would be deleted: set "
        f'"{instead}" in table.properties instead, below which each table gets a folder of its own',
    )


def catalog_servers(catalog: Mapping[str, str]) -> Iterator[str]:
    """The properties of a catalog that name servers. Of other types `uri` may mean anything, as of jdbc."""
    if "uri" in catalog and catalog.get("type") in _SERVERS:
        yield "uri"
    if "s3.endpoint" in catalog:
        yield "s3.endpoint"


def is_below(location: str, folder: str) -> bool:
    """Whether a folder is a location or lies in it."""
    return f"{folder}/".startswith(f"{location.rstrip('/')}/") and ".." not in folder.split("/")


def is_named_after(namespace: str, folder: str) -> bool:
    """Whether a folder, or one that it lies in, has the name that catalogs give to that of a namespace."""
    parts = folder.split("/")
    return not {namespace, f"{namespace}.db"}.isdisjoint(parts) and ".." not in parts
