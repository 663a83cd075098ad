"""Iceberg tables made by PyIceberg alone, in a catalog on SQLite below a folder."""

import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "city", StringType()))
BY_CITY = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "city"))
NOT_PARTITIONED = PartitionSpec()


def catalog_properties(folder):
    return {"type": "sql", "uri": f"sqlite:///{folder / 'catalog.db'}", "warehouse": f"file://{folder}"}


def make_table(folder, commits, spec=BY_CITY, name="shop.visits", **properties):
    """A table with a commit for each of `commits`, which are {city: rows}; a file a city."""
    catalog = load_catalog("lake", **catalog_properties(folder))
    catalog.create_namespace_if_not_exists(name.split(".")[0])
    table = catalog.create_table(name, SCHEMA, partition_spec=spec, properties=properties)
    for commit in commits:
        cities = [city for city, rows in commit.items() for _ in range(rows)]
        arrow = pa.table(
            {"id": pa.array(range(len(cities)), pa.int64()), "city": pa.array(cities, pa.string())}
        )
        table.append(arrow)
    return table
