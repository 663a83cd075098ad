"""Which partitions the `where` of a command selects, found by DuckDB.

Only boolean expressions of partition columns and literals are evaluated. DuckDB accepts more, such as numbers
and queries, which Spark refuses or evaluates differently.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import duckdb

from strategies.partitions import decoded, fields_of, is_null

_TYPES = {
    "string": "VARCHAR", "long": "BIGINT", "integer": "INTEGER", "short": "SMALLINT", "byte": "TINYINT",
    "double": "DOUBLE", "float": "FLOAT", "boolean": "BOOLEAN", "date": "DATE", "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP", "binary": "BLOB",
}  # fmt: skip
_DECIMAL = re.compile(r"decimal\((?:[1-9]|[12]\d|3[0-8]), ?(?:\d|[12]\d|3[0-8])\)", re.ASCII)

_PATH = "_compactbench_partition"
_NULL_SAFE_EQUALITY = 'CREATE MACRO "<=>"(a, b) AS (a IS NOT DISTINCT FROM b)'
_REFUSED = {"SUBQUERY": "it contains a query", "STAR": "it contains *"}  # classes of DuckDB's expressions


class PredicateError(ValueError):
    """The partitions that an expression selects cannot be determined."""


def comparable_type(column_type: object) -> str | None:
    """DuckDB's type for a column type of the log; None if its values cannot be compared here."""
    if not isinstance(column_type, str):
        return None
    return column_type if _DECIMAL.fullmatch(column_type) else _TYPES.get(column_type)


def matching_partitions(partitions: Iterable[str], types: Mapping[str, str], where: str) -> list[str]:
    """The partitions that match a predicate; `types` are DuckDB's types of the partition columns.

    Raises PredicateError if the predicate cannot be evaluated.
    """
    try:
        with duckdb.connect() as database:
            database.execute("SET enable_external_access = false")
            database.execute("SET TimeZone = 'UTC'")
            predicate = where.replace("`", '"')
            database.execute(_NULL_SAFE_EQUALITY)
            _check_expression(database, predicate)
            _fill(database, partitions, types)
            # The line end closes a comment, and the result of a subquery has no rowid.
            query = f"SELECT {_PATH}, ({predicate}\n) FROM (FROM partitions) WHERE ({predicate}\n)"  # noqa: S608
            selected = database.sql(query)
            result_type = selected.types[1]
            if result_type != "BOOLEAN":
                raise PredicateError(f"its type is {result_type} instead of BOOLEAN")
            return [path for path, _ in selected.fetchall()]
    except duckdb.Error as error:
        raise PredicateError(str(error).splitlines()[0]) from error


def _check_expression(database: duckdb.DuckDBPyConnection, predicate: str) -> None:
    """Raises PredicateError or duckdb.Error unless the text is a single expression without a query."""
    query = f"SELECT 1 WHERE {predicate}"
    if len(database.extract_statements(query)) != 1:
        raise PredicateError("it is more than a predicate")

    def check(node: dict[str, Any]) -> dict[str, Any]:
        kind = node.get("class")
        if kind in _REFUSED:
            raise PredicateError(_REFUSED[kind])
        if kind == "COMPARISON" and node["right"].get("function_name") == "<=>":
            # Spark reads a = b <=> c from left to right; in DuckDB the comparison binds less tightly.
            raise PredicateError("it compares with the result of <=>, which has to be on the left")
        return node

    ((parsed,),) = database.execute("SELECT json_serialize_sql(?)", [query]).fetchall()
    json.loads(parsed, object_hook=check)


def _fill(database: duckdb.DuckDBPyConnection, partitions: Iterable[str], types: Mapping[str, str]) -> None:
    columns = "".join(f", {_quoted(name)} {type_}" for name, type_ in types.items())
    database.execute(f"CREATE TABLE partitions ({_PATH} VARCHAR{columns})")
    marks = ", ".join("?" * (1 + len(types)))
    rows = [(path, *_values(path, types)) for path in partitions]
    if rows:
        database.executemany(f"INSERT INTO partitions VALUES ({marks})", rows)  # noqa: S608  own names


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _values(path: str, types: Mapping[str, str]) -> Iterator[str | None]:
    values = fields_of(path)
    for name in types:
        value = values.get(name, "null")
        yield None if is_null(value) else decoded(value)
