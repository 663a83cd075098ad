"""Calls to Iceberg's own stored procedures, and their results."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from pyspark.sql import DataFrame, SparkSession

from bench.engines.spark.session import java_rows, sql_text
from strategies.iceberg.commands import Command
from strategies.partitions import decoded, fields_of, is_null
from strategies.plan import Compact, Native

_NUMBER_COLUMNS = frozenset({"partition_bucket"})  # of the columns a table can be partitioned by


def call(spark: SparkSession, name: str, native: Native, older_than_ms: int | None = None) -> DataFrame:
    """Run a stored procedure on table `name` ("catalog.namespace.table"); its result, not yet fetched.

    `older_than_ms` (epoch) replaces the `older_than_at_ms` of `expire_snapshots`, which is scenario time.
    Raises ValueError if the command is not one of Iceberg's.
    """
    catalog = name.split(".", 1)[0]
    arguments = [f"table => {sql_text(name)}", *_arguments(native, older_than_ms)]
    if native.options:
        pairs = ", ".join(f"{sql_text(key)}, {sql_text(value)}" for key, value in native.options.items())
        arguments.append(f"options => map({pairs})")
    procedure = Command(native.command).procedure
    return spark.sql(f"CALL {catalog}.system.{procedure}({', '.join(arguments)})")


def answer_of(answers: Iterable[DataFrame]) -> dict[str, int]:
    """The counts that procedures returned, summed by column."""
    counted: Counter[str] = Counter()
    for row in (row for answer in answers for row in java_rows(answer._jdf)):
        counted.update({name: value for name, value in row.items() if isinstance(value, int)})
    return dict(counted)


def _arguments(native: Native, older_than_ms: int | None) -> Iterable[str]:
    for key, value in native.arguments.items():
        if key == "older_than_at_ms" and older_than_ms is not None:
            moment = datetime.fromtimestamp(older_than_ms / 1000, UTC)
            yield f"older_than => TIMESTAMP '{moment:%Y-%m-%d %H:%M:%S.%f}'"
        elif value.isdigit() or value in ("true", "false"):
            yield f"{key} => {value}"
        else:
            yield f"{key} => {sql_text(value)}"


def scoped(action: Compact) -> Native:
    """The procedure call that compacts only the partitions of `action`."""
    arguments = {} if action.partitions is None else {"where": _partitions_filter(action.partitions)}
    return Native(Command.REWRITE_DATA_FILES, arguments, action.options)


def _partitions_filter(partitions: tuple[str, ...]) -> str:
    return " OR ".join(f"({_partition_filter(partition)})" for partition in partitions)


def _partition_filter(partition: str) -> str:
    """`city=Oslo/partition_bucket=3` as a predicate; the only partition of an unpartitioned table is ""."""
    fields = fields_of(partition).items()
    return " AND ".join(_matches(decoded(column), value) for column, value in fields) or "true"


def _matches(column: str, value: str) -> str:
    """`value` is still percent-encoded: null is `null`, the text "null" is `%6Eull`."""
    if is_null(value):
        return f"{column} IS NULL"
    text = decoded(value)
    return f"{column} = {text if column in _NUMBER_COLUMNS else sql_text(text)}"
