"""Steps as a cost model sees them: what kind of operation it is, and how much work of each sort it does.

The amounts come from the values that records hold, so the model can be fitted to the records of a simulated
run and the costs of the real one. Each amount has the name of its coefficient: what one unit of it costs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from bench.engines.rewrite_work import finds_nothing
from bench.results.values import Change, CommitWork, MaintenanceWork, RewriteWork, ScanWork, Session
from strategies.plan import Plan, describe_action
from strategies.preview import NoPreview, Preview
from strategies.state import MIB

_MILLION = 1e6


class Operation(StrEnum):
    """A kind of step with coefficients of its own."""

    COMMIT = "commit"  # adds rows, and looks at no row of the table
    UPSERT = "upsert"  # writes delete files, or looks up keys in an index
    MERGE = "merge"  # scans the table for the rows that it changes
    REWRITE = "rewrite"  # merges data files and applies their deletes
    CLUSTER = "cluster"  # a rewrite without deletes, in Hudi, whose other rewrites merge log files
    SORT = "sort"  # a rewrite that orders rows by value
    CONVERT = "convert"  # converts deletes of data files, which stay; may rewrite others in the same commit
    SINGLE_NODE = "single_node"  # any of these rewrites and conversions by an executor without Spark
    NOOP = "noop"  # a compaction that finds nothing to do
    QUERY = "query"  # by a new session
    PLANNING = "planning"  # the part of such a query's wall time before its first task
    LONG_LIVED_QUERY = "long_lived_query"
    LONG_LIVED_PLANNING = "long_lived_planning"
    MAINTENANCE = "maintenance"


# By the session that runs it.
QUERIES: Mapping[Session, Operation] = {"new": Operation.QUERY, "long-lived": Operation.LONG_LIVED_QUERY}
PLANNING_OF = {
    Operation.QUERY: Operation.PLANNING,
    Operation.LONG_LIVED_QUERY: Operation.LONG_LIVED_PLANNING,
}

OF_COMMITS = (
    "s", "s_per_file", "s_per_delete_file", "s_per_mib", "s_per_replaced_file", "s_per_million_replaced_rows",
    "s_per_scanned_file", "s_per_million_scanned_rows", "s_per_looked_up_file", "s_per_checkpoint",
    "s_per_checkpointed_file", "s_per_partition",
)  # fmt: skip
OF_REWRITES = (
    "s", "s_per_live_file", "s_per_task", "s_per_file", "s_per_mib", "s_per_million_rows",
    "s_per_delete_file", "s_per_million_delete_rows", "s_per_delete_mib", "s_per_converted_file",
    "s_per_million_converted_rows",
)  # fmt: skip
OF_QUERIES = (
    "s", "s_per_file", "s_per_mib", "s_per_million_rows", "s_with_deletes", "s_per_delete_file",
    "s_per_delete_mib", "s_per_merged_mib",
)  # fmt: skip
OF_MAINTENANCE = ("s", "s_per_deleted_file", "s_per_expired_version")
OF_TABLES = ("s_with_metadata_table",)  # of every step of a table
COEFFICIENTS: Mapping[Operation, tuple[str, ...]] = {
    **dict.fromkeys((Operation.COMMIT, Operation.UPSERT, Operation.MERGE), (*OF_COMMITS, *OF_TABLES)),
    **dict.fromkeys(
        (
            Operation.REWRITE,
            Operation.CLUSTER,
            Operation.SORT,
            Operation.CONVERT,
            Operation.SINGLE_NODE,
            Operation.NOOP,
        ),
        (*OF_REWRITES, *OF_TABLES),
    ),
    **dict.fromkeys((*QUERIES.values(), *PLANNING_OF.values()), (*OF_QUERIES, *OF_TABLES)),
    Operation.MAINTENANCE: (*OF_MAINTENANCE, *OF_TABLES),
}


@dataclass(frozen=True, slots=True)
class Step:
    """An operation, its amounts by the name of their coefficient, and how many tasks share its work.

    An amount that is not known is left out, and one that a step of this kind does not have is 0.
    """

    operation: Operation
    amounts: Mapping[str, float]
    tasks_count: int = 1

    def on_table(self, amounts: Mapping[str, float]) -> "Step":
        """The step on a table that adds these amounts to each of its steps."""
        return replace(self, amounts={**self.amounts, **amounts}) if amounts else self


def commit_step(change: Change, work: CommitWork) -> Step:
    if work.scanned_files_count is not None:
        operation, tasks_count = Operation.MERGE, work.scanned_files_count
    elif change.delete_files_added_count or work.looked_up_files_count or change.files_removed_count:
        operation, tasks_count = Operation.UPSERT, change.files_added_count + change.delete_files_added_count
    else:
        operation, tasks_count = Operation.COMMIT, change.files_added_count
    checkpointed_count = work.checkpointed_files_count or 0
    amounts = _known(
        OF_COMMITS,
        1, change.files_added_count, change.delete_files_added_count, change.added_bytes / MIB,
        change.files_removed_count, _millions(change.replaced_rows or 0), work.scanned_files_count or 0,
        _millions(work.scanned_rows or 0), work.looked_up_files_count or 0, bool(checkpointed_count),
        checkpointed_count, work.partitions_count,
    )  # fmt: skip
    return Step(operation, amounts, max(1, tasks_count))


def plan_step(
    plan: Plan, work: RewriteWork, previews: Iterable[Preview | NoPreview], live_files_count: int,
    executor: str | None,
) -> Step:  # fmt: skip
    """A plan with this work, which is one step, as its record is."""
    operation = rewrite_operation(
        work,
        describe_action(plan.actions[0]),
        is_sorted=any(isinstance(preview, Preview) and preview.is_sorted for preview in previews),
        is_noop=finds_nothing(plan, work),
        executor=executor,
    )
    return rewrite_step(operation, work, live_files_count)


def rewrite_operation(
    work: RewriteWork, action: str, *, is_sorted: bool | None, is_noop: bool = False,
    executor: str | None = None,
) -> Operation:  # fmt: skip
    """What kind of compaction this is; `action` as records describe it.

    `executor` is one without Spark; None is the engine's own.
    """
    if executor is not None:
        return Operation.SINGLE_NODE
    if is_noop:
        return Operation.NOOP
    if work.converted_files_count:
        return Operation.CONVERT
    if is_sorted:
        return Operation.SORT
    return Operation.CLUSTER if action.startswith("hudi.clustering") else Operation.REWRITE


def rewrite_step(operation: Operation, work: RewriteWork, live_files_count: int) -> Step:
    """A compaction of a table with `live_files_count` data files."""
    amounts = _known(
        OF_REWRITES,
        1, live_files_count, work.tasks_count, work.read_files_count,
        _mib(work.read_data_bytes), _millions(work.read_rows), work.applied_delete_files_count,
        _millions(work.applied_delete_rows), _mib(work.applied_delete_bytes), work.converted_files_count,
        _millions(work.converted_rows),
    )  # fmt: skip
    return Step(operation, amounts, max(1, work.tasks_count or 0))


def query_step(work: ScanWork, session: Session) -> Step:
    deletes_count = work.delete_files_count
    amounts = _known(
        OF_QUERIES,
        1, work.files_count, _mib(work.opened_bytes), _millions(work.read_rows),
        None if deletes_count is None else bool(deletes_count), deletes_count, _mib(work.delete_bytes),
        _mib(work.merged_bytes),
    )  # fmt: skip
    return Step(QUERIES[session], amounts, max(1, work.files_count or 0))


def maintenance_step(work: MaintenanceWork) -> Step:
    deleted_count, expired_count = work.deleted_files_count or 0, work.expired_versions_count or 0
    return Step(Operation.MAINTENANCE, _known(OF_MAINTENANCE, 1, deleted_count, expired_count))


def _known(names: tuple[str, ...], *amounts: float | None) -> Mapping[str, float]:
    return {name: amount for name, amount in zip(names, amounts, strict=True) if amount is not None}


def _mib(size_bytes: int | None) -> float | None:
    return None if size_bytes is None else size_bytes / MIB


def _millions(count: int | None) -> float | None:
    return None if count is None else count / _MILLION
