"""Which files Amoro means to plan: the files that may be in a pending partition.

An evaluation keeps the partitions to optimize, up to a maximum, as "pending input". The plan scans the table
again for files in any of them; at 96a4d78 this filter is lost (see `planner`). Iceberg applies a condition on
partition columns of one spec to the files of another as far as that has the same columns, so files of specs
without these columns pass. Here fields of two specs are the same if they have the same name.

Source: upstream `IcebergTableUtil.createOptimizingPlanner` and
`ExpressionUtil.convertPartitionDataToDataFilter` at 96a4d78; `Projections.inclusive` and
`ProjectionUtil.projectTransformPredicate` of Iceberg 1.7.2.
"""

from collections.abc import Iterable, Mapping
from urllib.parse import quote_plus

from strategies.partitions import decoded, fields_of


def partition_path(partition: str) -> str:
    """Iceberg's `PartitionSpec.partitionToPath`, by which Amoro groups files.

    It is encoded for URLs, and does not distinguish null from the text "null".
    """
    pairs = fields_of(partition).items()
    return "/".join(f"{_encoded(name)}={_encoded(value)}" for name, value in pairs)


def _encoded(text: str) -> str:
    return quote_plus(decoded(text), safe="*").replace("~", "%7E")  # URLEncoder.encode


class PendingInput:
    def __init__(self, partitions: Iterable[str]) -> None:
        self._partitions: list[Mapping[str, str]] = [fields_of(partition) for partition in partitions]

    @property
    def is_everything(self) -> bool:
        """Whether one of them is a whole table, which a spec without fields makes."""
        return any(not fields for fields in self._partitions)

    def admits(self, partition: str) -> bool:
        own = fields_of(partition)
        return any(
            all(own.get(name, value) == value for name, value in pending.items())
            for pending in self._partitions
        )
