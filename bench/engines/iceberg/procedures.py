"""Calls to Iceberg's own stored procedures, and their results."""

from collections import Counter
from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession

from bench.engines.iceberg.statements import call_statement
from bench.engines.spark.session import java_rows
from strategies.plan import Native


def call(spark: SparkSession, name: str, native: Native, older_than_ms: int | None = None) -> DataFrame:
    """Run a stored procedure on a table; its result, not yet fetched (see `call_statement`)."""
    return spark.sql(call_statement(name, native, older_than_ms))


def answer_of(answers: Iterable[DataFrame]) -> dict[str, int]:
    """The counts that procedures returned, summed by column."""
    counted: Counter[str] = Counter()
    for row in (row for answer in answers for row in java_rows(answer._jdf)):
        counted.update({name: value for name, value in row.items() if isinstance(value, int)})
    return dict(counted)
