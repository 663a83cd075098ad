"""Probes on Spark: planning and execution timed separately, and the scans of a physical plan.

Each format reports what its scans opened. A figure that its reader does not report is None.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pyspark.sql import SparkSession

from bench.engines.contract import QueryOutcome
from bench.engines.spark.meter import Meter
from bench.results.values import ScanWork

# Leaves that read no table: empty and constant relations, and exchanges that another part of the plan reads.
READS_NOTHING = frozenset({"LocalTableScanExec", "EmptyRelationExec", "ReusedExchangeExec"})

_FILE_SCAN = "FileSourceScanExec"

# Of Spark's parsed plans: commands, statements that become commands, and INSERT OVERWRITE DIRECTORY.
_COMMANDS_AND_WRITES = ("Command", "ParsedStatement", "InsertIntoDir")


@dataclass(frozen=True, slots=True)
class Scan:
    """A leaf of a physical plan, and the class name of its node."""

    node: Any
    kind: str

    @property
    def metrics(self) -> Mapping[str, int]:
        """SQL metrics by name; complete once the query has run."""
        values, entries = {}, self.node.metrics().iterator()
        while entries.hasNext():
            entry = entries.next()
            values[str(entry._1())] = int(entry._2().value())
        return values


@dataclass(frozen=True, slots=True)
class ScanReader:
    """How a format reads: `list_files` makes a scan list its files, `work` adds up what scans opened."""

    list_files: Callable[[Scan], None]
    work: Callable[[tuple[Scan, ...]], ScanWork]


def file_scan_reader(index: str, work: Callable[[list[Any]], ScanWork]) -> ScanReader:
    """For formats that Spark reads by its file scans, whose files a class `index` of the format chooses.

    `work` gets the nodes of these scans. The work is unknown if a query reads by another node, or by a scan
    that the format has not planned.
    """

    def list_files(scan: Scan) -> None:
        if scan.kind == _FILE_SCAN:
            scan.node.selectedPartitions()

    def is_planned(scan: Scan) -> bool:
        return scan.kind == _FILE_SCAN and scan.node.relation().location().getClass().getSimpleName() == index

    def opened(scans: tuple[Scan, ...]) -> ScanWork:
        reading = [scan for scan in scans if scan.kind not in READS_NOTHING]
        return work([scan.node for scan in reading]) if all(map(is_planned, reading)) else ScanWork()

    return ScanReader(list_files, opened)


@lru_cache(maxsize=100)
def is_query(spark: SparkSession, sql: str) -> bool:
    """Whether Spark's parser sees a query, without a command or a write.

    Nothing is analysed or run. Cached, so that a probe is parsed once, in the warm-up, which is not measured.
    Raises ParseException for invalid SQL.
    """
    jvm: Any = spark._jvm
    package = "org.apache.spark.sql.catalyst.plans.logical"
    refused = [jvm.java.lang.Class.forName(f"{package}.{name}") for name in _COMMANDS_AND_WRITES]
    pending = [spark._jsparkSession.sessionState().sqlParser().parsePlan(sql)]
    while pending:
        node = pending.pop()
        if any(kind.isInstance(node) for kind in refused):
            return False
        pending += [node.children().apply(index) for index in range(node.children().size())]
    return True


def run_query(spark: SparkSession, meter: Meter, sql: str, reader: ScanReader) -> QueryOutcome:
    """Run `sql` and fetch its whole result into the driver.

    Planning is everything up to a physical plan whose scans have listed their files; execution is the rest.
    The result stays in the JVM, so that Python's cost of decoding rows is not measured.
    """
    with meter.step() as measured:
        started_s = time.perf_counter()
        frame = spark.sql(sql)._jdf
        plan = frame.queryExecution().executedPlan()
        for scan in scans(plan):
            reader.list_files(scan)
        planned_s = time.perf_counter()
        frame.collectAsList()
        ended_s = time.perf_counter()
    work = reader.work(tuple(scans(plan)))
    return QueryOutcome(measured.cost, planned_s - started_s, ended_s - planned_s, work)


def scans(plan: Any, *, with_subqueries: bool = False) -> Iterator[Scan]:
    """The leaves of a physical plan, including those behind adaptive query stages."""
    kind = str(plan.getClass().getSimpleName())
    if kind == "AdaptiveSparkPlanExec":
        yield from scans(plan.executedPlan(), with_subqueries=with_subqueries)
    elif kind.endswith("QueryStageExec"):
        yield from scans(plan.plan(), with_subqueries=with_subqueries)
    else:
        children = plan.children()
        inner = [children, plan.subqueries()] if with_subqueries else [children]
        for plans in inner:
            for index in range(plans.size()):
                yield from scans(plans.apply(index), with_subqueries=with_subqueries)
        if not children.size():
            yield Scan(plan, kind)


def rows_and_columns(nodes: Sequence[Any]) -> tuple[int, int]:
    """What Spark's file scans read: rows, and columns of the table without those of the format's own."""
    rows = sum(Scan(node, _FILE_SCAN).metrics["numOutputRows"] for node in nodes)
    names = (name for node in nodes for name in node.requiredSchema().fieldNames())
    return rows, sum(not name.startswith("_") for name in names)
