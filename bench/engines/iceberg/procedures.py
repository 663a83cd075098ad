"""Calls to Iceberg's own stored procedures, and their results."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from pyspark.sql import DataFrame, SparkSession

from bench.engines.spark.predicates import partitions_predicate
from bench.engines.spark.session import java_rows, sql_text
from strategies.iceberg.commands import Command
from strategies.plan import Compact, Native


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
    arguments = {} if action.partitions is None else {"where": partitions_predicate(action.partitions)}
    return Native(Command.REWRITE_DATA_FILES, arguments, action.options)
