"""The partition paths of our Hudi tables, with days in the form that Hudi's strategies read."""

from strategies.partitions import decoded, fields_of

DAY_COLUMN = "partition_day"


def path_of(partition: str) -> str:
    """The path of a partition of a workload: `partition_day=2026-01-01` is 2026/01/01, another its value."""
    for name, value in fields_of(partition).items():
        return decoded(value).replace("-", "/") if name == DAY_COLUMN else decoded(value)
    return ""
