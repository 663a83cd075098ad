"""Hudi's table services on a real table, by the client that its writers and procedures use."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from pyspark.sql import SparkSession

from bench.engines.hudi.inline import COMMITS, STRATEGY, TRIGGER, is_not_serializable
from bench.engines.spark.session import java_class
from strategies.hudi.clustering_plan import complete_texts
from strategies.hudi.commands import Command
from strategies.hudi.compaction_options import TARGET_PARTITIONS
from strategies.hudi.compaction_strategies import DEFAULT_TARGET_PARTITIONS, class_names
from strategies.plan import Native

_HUDI = "org.apache.hudi"


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A plan on the timeline, by the time of its request; None if there was nothing to plan."""

    instant: str | None


class Services:
    """Runs the services of one table that is written with `options`; `schema` gives its Avro schema."""

    def __init__(
        self, spark: SparkSession, location: str, schema: Callable[[], str], options: Mapping[str, str]
    ) -> None:
        self._spark, self._location = spark, location
        self._schema, self._options = schema, options

    def schedule(self, action: Native, target_bytes: int) -> Scheduled:
        """Have Hudi plan a service, whatever its own trigger would say."""
        client = self._client(service_options(action, target_bytes))
        try:
            if is_planned_by_the_driver(action):
                return self._plan_here(client)
            nothing = java_class(self._spark, f"{_HUDI}.common.util.Option").empty()
            found = _SCHEDULES[Command(action.command)](client, nothing)
            return Scheduled(str(found.get()) if found.isPresent() else None)
        finally:
            client.close()

    def _plan_here(self, client: Any) -> Scheduled:
        """Have Hudi's own class plan a compaction without Spark's tasks."""
        spark, config = self._spark, client.getConfig()
        context = java_class(spark, f"{_HUDI}.client.common.HoodieSparkEngineContext")(spark._jsc)
        table = java_class(spark, f"{_HUDI}.table.HoodieSparkTable").create(config, context)
        instant = str(table.getMetaClient().createNewInstantTime(False))
        planner = java_class(spark, f"{_HUDI}.table.action.compact.ScheduleCompactionActionExecutor")
        nothing = java_class(spark, f"{_HUDI}.common.util.Option").empty()
        kind = java_class(spark, f"{_HUDI}.common.model.WriteOperationType").COMPACT
        found = planner(self._local_context(), config, table, instant, nothing, kind).execute()
        return Scheduled(instant if found.isPresent() else None)

    def _local_context(self) -> Any:
        """What Hudi's planners work with instead of Spark's tasks."""
        conf = self._spark._jsc.hadoopConfiguration()
        storage = java_class(self._spark, f"{_HUDI}.hadoop.fs.HadoopFSUtils").getStorageConf(conf)
        return java_class(self._spark, f"{_HUDI}.common.engine.HoodieLocalEngineContext")(storage)

    def execute(self, action: Native, instant: str, target_bytes: int) -> None:
        """Execute what was planned at an instant, and commit it."""
        client = self._client(service_options(action, target_bytes))
        try:
            _EXECUTIONS[Command(action.command)](client, instant)
        finally:
            client.close()

    def maintain(self, action: Native) -> None:
        """Clean or archive."""
        client = self._client(maintenance_options(action))
        try:
            if action.command == Command.CLEAN:
                client.clean()
            else:
                client.archive()
        finally:
            client.close()

    def _client(self, further: Mapping[str, str]) -> Any:
        options = java_class(self._spark, "java.util.HashMap")()
        for name, text in {**self._options, **further}.items():
            options.put(name, text)
        utilities = java_class(self._spark, f"{_HUDI}.DataSourceUtils")
        name = self._options["hoodie.table.name"]
        return utilities.createHoodieClient(self._spark._jsc, self._schema(), self._location, name, options)


def is_planned_by_the_driver(action: Native) -> bool:
    """Whether Hudi's client for Spark cannot plan an action."""
    return is_not_serializable(action.arguments.get("strategy", ""))


def service_options(action: Native, target_bytes: int) -> dict[str, str]:
    """The options with which Hudi plans and executes a service. Raises ValueError on a bad one."""
    match Command(action.command):
        case Command.COMPACTION:
            names = action.arguments["strategy"]
            return {
                TRIGGER: "NUM_COMMITS",
                COMMITS: "0",  # our trigger has fired
                STRATEGY: class_names(names),
                **action.options,
                **shifted_days(action.options, action.arguments.get("today"), datetime.now(UTC).date()),
            }
        case Command.LOG_COMPACTION:
            return {"hoodie.log.compaction.enable": "true", **action.options}
        case Command.CLUSTERING:
            return complete_texts(action.options, target_bytes)
        case command:
            raise ValueError(f"{command} has no plan")


def shifted_days(options: Mapping[str, str], today: str | None, real_today: date) -> dict[str, str]:
    """The number of days that makes Hudi's clock choose as if it were `today`; nothing if that is not given.

    BoundedPartitionAware and its complement keep or leave the last N days of the calendar, not of the
    scenario. DayBased counts partitions by the same option, whatever the day, so the two do not mix.
    """
    if today is None:
        return {}
    days = int(options.get(TARGET_PARTITIONS, str(DEFAULT_TARGET_PARTITIONS)))
    return {TARGET_PARTITIONS: str(days + (real_today - date.fromisoformat(today)).days)}


def maintenance_options(action: Native) -> dict[str, str]:
    """The options of cleaning and archiving."""
    given = action.arguments
    if action.command == Command.CLEAN:
        return {
            "hoodie.clean.policy": "KEEP_LATEST_COMMITS",
            "hoodie.clean.commits.retained": given["retain_commits"],
        }
    return {
        "hoodie.keep.min.commits": given["min_commits"],
        "hoodie.keep.max.commits": given["max_commits"],
        "hoodie.clean.commits.retained": "1",  # has to be below hoodie.keep.min.commits
    }


_SCHEDULES: Mapping[Command, Any] = {
    Command.COMPACTION: lambda client, nothing: client.scheduleCompaction(nothing),
    Command.LOG_COMPACTION: lambda client, nothing: client.scheduleLogCompaction(nothing),
    Command.CLUSTERING: lambda client, nothing: client.scheduleClustering(nothing),
}
_EXECUTIONS: Mapping[Command, Any] = {
    Command.COMPACTION: lambda client, instant: client.compact(instant, True),
    Command.LOG_COMPACTION: lambda client, instant: client.logCompact(instant, True),
    Command.CLUSTERING: lambda client, instant: client.cluster(instant, True),
}
