"""Whether a query does no more than read the table, judged by Spark's own parse of it.

A query can run programs (TRANSFORM ... USING), call any static method of Java (reflect) and read any file
(parquet.`/path`), and the analysis of a file relation already opens it. So it is judged before that.
"""

from collections.abc import Collection, Iterator
from typing import Any

from pyspark.sql import SparkSession

_TIME_TRAVEL = "RelationTimeTravel"
# Leaves of a parsed query that open nothing, or a table that is judged by its name.
_LEAVES = frozenset({
    "UnresolvedRelation", "UnresolvedTableValuedFunction", "OneRowRelation", "UnresolvedInlineTable",
    "LocalRelation", _TIME_TRAVEL,
})  # fmt: skip
_TABLE_FUNCTIONS = frozenset({
    "range", "explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer", "stack",
    "json_tuple",
})  # fmt: skip
_PLANS = "org.apache.spark.sql.catalyst.plans.logical"
_STATEMENTS = ("Command", "ParsedStatement")
_CALLS_JAVA = frozenset({"reflect", "java_method", "try_reflect"})
_TRANSFORM = "ScriptTransformation"


def more_than_reading(spark: SparkSession, sql: str, tables: Collection[str]) -> str | None:
    """What a query does beyond reading `tables`, in words; None if that is all.

    Tables of their metadata, such as orders.snapshots, count as theirs. Raises ParseException for what is no
    SQL.
    """
    parsed = spark._jsparkSession.sessionState().sqlParser().parsePlan(sql)
    jvm: Any = spark._jvm
    find = jvm.java.lang.Class.forName
    subquery = find("org.apache.spark.sql.catalyst.expressions.SubqueryExpression")
    nodes = list(_nodes(parsed, subquery))
    if any(find(f"{_PLANS}.{kind}").isInstance(node) for node in nodes for kind in _STATEMENTS):
        return "is a statement that writes"
    given = {name for node in nodes for name in _named_parts(node)}
    problems = (_problem(node, {name.lower() for name in tables}, given) for node in nodes)
    return next((problem for problem in problems if problem is not None), None)


def _problem(node: Any, tables: Collection[str], given: Collection[str]) -> str | None:
    """What is wrong with one node; `given` are names of the query's own parts, which have no dots."""
    kind = _kind(node)
    if kind == _TRANSFORM:
        return "runs a program (TRANSFORM)"
    if kind == "UnresolvedRelation":
        first, *more = parts = _items(node.multipartIdentifier())
        is_known = first.lower() in tables or (not more and first.lower() in given)
        return None if is_known else f"reads {'.'.join(parts)}, and the table is called orders"
    if kind == "UnresolvedTableValuedFunction":
        name = ".".join(_items(node.name()))
        return None if name.lower() in _TABLE_FUNCTIONS else f"calls the table function {name}"
    if not node.children().size() and kind not in _LEAVES:
        return f"is more than a query ({kind})"
    return next((problem for each in _expressions(node) if (problem := _call_problem(each))), None)


def _call_problem(expression: Any) -> str | None:
    kind = _kind(expression)
    if kind == "ExpressionWithUnresolvedIdentifier":
        return "calls a function by a computed name (IDENTIFIER)"
    if kind != "UnresolvedFunction":
        return None
    name = _items(expression.nameParts())[-1]
    return f"calls Java ({name})" if name.lower() in _CALLS_JAVA else None


def _nodes(plan: Any, subquery: Any) -> Iterator[Any]:
    """The nodes of a parsed query, those of its subqueries and of what WITH names included.

    `subquery` is the Java class of expressions that have a query of their own.
    """
    yield plan
    children = [*_items(plan.children()), *(_item(pair, 1) for pair in _pairs(plan))]
    children += [plan.relation()] if _kind(plan) == _TIME_TRAVEL else []
    children += [each.plan() for each in _expressions(plan) if subquery.isInstance(each)]
    for child in children:
        yield from _nodes(child, subquery)


def _named_parts(node: Any) -> Iterator[str]:
    """The names that a WITH gives to its parts."""
    return (str(_item(pair, 0)).lower() for pair in _pairs(node))


def _pairs(node: Any) -> list[Any]:
    return _items(node.cteRelations()) if _kind(node) == "UnresolvedWith" else []


def _expressions(node: Any) -> Iterator[Any]:
    """All expressions of one node. Those of a WINDOW clause are in a map, which Spark leaves out."""
    pending = _items(node.expressions())
    if _kind(node) == "WithWindowDefinition":
        pending += _items(node.windowDefinitions().values().toSeq())
    while pending:
        expression = pending.pop()
        yield expression
        pending += _items(expression.children())


def _kind(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _item(pair: Any, index: int) -> Any:
    return pair.productElement(index)


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(index) for index in range(sequence.size())]
