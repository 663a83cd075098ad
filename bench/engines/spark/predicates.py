"""Partitions as predicates of Spark SQL."""

from bench.engines.sql import sql_text
from strategies.partitions import decoded, fields_of, is_null

_NUMBER_COLUMNS = frozenset({"partition_bucket"})  # of the columns a table can be partitioned by


def partitions_predicate(partitions: tuple[str, ...]) -> str:
    return " OR ".join(f"({_partition_predicate(partition)})" for partition in partitions)


def _partition_predicate(partition: str) -> str:
    """`city=Oslo/partition_bucket=3` as a predicate; the only partition of an unpartitioned table is ""."""
    fields = fields_of(partition).items()
    return " AND ".join(_matches(decoded(column), value) for column, value in fields) or "true"


def _matches(column: str, value: str) -> str:
    """`value` is still percent-encoded: null is `null`, the text "null" is `%6Eull`."""
    if is_null(value):
        return f"{column} IS NULL"
    text = decoded(value)
    return f"{column} = {text if column in _NUMBER_COLUMNS else sql_text(text)}"
