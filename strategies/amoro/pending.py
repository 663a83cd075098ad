"""Which files Amoro means to plan: those that may be in a partition found pending.

An evaluation keeps the partitions to optimize, up to a maximum, as "pending input". The plan scans the table
again with one filter, that a file is in any of them; at 96a4d78 it is lost before (see `planner`). Iceberg
applies a condition on partition columns of one spec to the files of another as far as that has the same
columns, so files of specs without them pass.

Which fields of two specs are the same is told here by their names, which say what a field is made of unless
somebody named it otherwise.

Source: upstream `IcebergTableUtil.createOptimizingPlanner` and
`ExpressionUtil.convertPartitionDataToDataFilter` at 96a4d78; `Projections.inclusive` and
`ProjectionUtil.projectTransformPredicate` of Iceberg 1.7.2.
"""

from collections.abc import Iterable, Mapping
from urllib.parse import quote_plus

from strategies.partitions import decoded, fields_of


def partition_path(partition: str) -> str:
    """The text by which Amoro groups files: Iceberg's `PartitionSpec.partitionToPath`.

    It is encoded for URLs, and null and the text "null" look the same in it.
    """
    pairs = fields_of(partition).items()
    return "/".join(f"{_encoded(name)}={_encoded(value)}" for name, value in pairs)


def _encoded(text: str) -> str:
    """`URLEncoder.encode`."""
    return quote_plus(decoded(text), safe="*").replace("~", "%7E")


class PendingInput:
    """The partitions that an evaluation found pending."""

    def __init__(self, partitions: Iterable[str]) -> None:
        self._partitions: list[Mapping[str, str]] = [fields_of(partition) for partition in partitions]

    @property
    def is_everything(self) -> bool:
        """Whether one of them is a whole table: that of a spec without fields."""
        return any(not fields for fields in self._partitions)

    def admits(self, partition: str) -> bool:
        """Whether files of a partition are planned."""
        own = fields_of(partition)
        return any(
            all(own.get(name, value) == value for name, value in pending.items())
            for pending in self._partitions
        )
