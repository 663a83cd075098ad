"""Hudi's own planners of table services as an oracle."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hudi_view import local_context
from pyspark.sql import SparkSession

from strategies.hudi.commands import Command

_QUIET = {
    "hoodie.metadata.enable": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.filesystem.view.type": "MEMORY",
    "hoodie.compact.inline.max.delta.commits": "0",
    "hoodie.log.compaction.enable": "true",
}


@dataclass(frozen=True)
class ServicePlan:
    """The file groups that a plan merges together, and the partitions that it notes for the next plan."""

    groups: tuple[tuple[tuple[str, str], ...], ...]
    missing_partitions: frozenset[str] | None = None


class HudiServiceOracle:
    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._hudi: Any = spark._jvm.org.apache.hudi

    def plan(self, service: Command, folder: Path, instant: str, options: Mapping[str, str]) -> ServicePlan:
        """Schedules in the folder's timeline, too. Without anything to do, the plan has no group."""
        properties = self._spark._jvm.java.util.Properties()
        for name, text in {**_QUIET, **options}.items():
            properties.setProperty(name, text)
        config = self._hudi.config.HoodieWriteConfig.newBuilder().withPath(str(folder))
        config = config.withProperties(properties).build()
        context = self._hudi.client.common.HoodieSparkEngineContext(self._spark._jsc)
        table = self._hudi.table.HoodieSparkTable.create(config, context)
        planner = self._planner(service, folder, config, table, instant)
        found = planner.execute()
        if not found.isPresent():
            return ServicePlan(())
        return _clustering(found.get()) if service is Command.CLUSTERING else _compaction(found.get())

    def _planner(self, service: Command, folder: Path, config: Any, table: Any, instant: str) -> Any:
        context = local_context(self._spark)
        nothing, actions = self._hudi.common.util.Option.empty(), self._hudi.table.action
        if service is Command.CLUSTERING:
            return actions.cluster.ClusteringPlanActionExecutor(context, config, table, instant, nothing)
        kinds = self._hudi.common.model.WriteOperationType
        kind = kinds.COMPACT if service is Command.COMPACTION else kinds.LOG_COMPACT
        executor = actions.compact.ScheduleCompactionActionExecutor
        return executor(context, config, table, instant, nothing, kind)


def _compaction(plan: Any) -> ServicePlan:
    operations = tuple(((each.getPartitionPath(), each.getFileId()),) for each in plan.getOperations())
    return ServicePlan(operations, _noted(plan))


def _clustering(plan: Any) -> ServicePlan:
    groups = tuple(
        tuple((each.getPartitionPath(), each.getFileId()) for each in group.getSlices())
        for group in plan.getInputGroups()
    )
    return ServicePlan(groups, _noted(plan))


def _noted(plan: Any) -> frozenset[str] | None:
    missing = plan.getMissingSchedulePartitions()
    return None if missing is None else frozenset(missing)
