"""Hudi's table services on a real table, run by the client that its writers and procedures use."""

from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, date, datetime
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from bench.engines.hudi.inline import COMMITS, STRATEGY, TRIGGER
from bench.engines.spark.session import java_class
from strategies.hudi.clustering_plan import complete_texts
from strategies.hudi.commands import Command
from strategies.hudi.compaction_plan import TARGET_PARTITIONS
from strategies.hudi.compaction_strategies import DEFAULT_TARGET_PARTITIONS, class_names
from strategies.plan import Native

_HUDI = "org.apache.hudi"
_SCHEDULES = {  # methods of the client
    Command.COMPACTION: "scheduleCompaction", Command.LOG_COMPACTION: "scheduleLogCompaction",
    Command.CLUSTERING: "scheduleClustering",
}  # fmt: skip
_EXECUTIONS = {
    Command.COMPACTION: "compact", Command.LOG_COMPACTION: "logCompact", Command.CLUSTERING: "cluster",
}  # fmt: skip
_NO_LOCK = "HoodieLockException"
_NOT_SERIALIZABLE = "BoundedPartitionAware"


class Services:
    """The services of one table that is written with `options`; `schema` returns its Avro schema."""

    def __init__(
        self, spark: SparkSession, location: str, schema: Callable[[], str], options: Mapping[str, str]
    ) -> None:
        self._spark, self._location = spark, location
        self._schema, self._options = schema, options

    def schedule(self, action: Native, target_bytes: int) -> str:
        """Make Hudi plan a service, regardless of its own trigger; its instant, "" if there is no plan."""
        with closing(self._client(service_options(action, target_bytes))) as client:
            if is_planned_by_the_driver(action.arguments.get("strategy", "")):
                return self._plan_here(client)
            nothing = java_class(self._spark, f"{_HUDI}.common.util.Option").empty()
            schedule = getattr(client, _SCHEDULES[Command(action.command)])
            instant = schedule(nothing)
            return str(instant.get()) if instant.isPresent() else ""

    def _plan_here(self, client: Any) -> str:
        """Make Hudi's own class plan a compaction without Spark's tasks, under the table's lock."""
        nothing = java_class(self._spark, f"{_HUDI}.common.util.Option").empty()
        transactions = client.getTransactionManager()
        transactions.beginStateChange(nothing, nothing)
        try:
            return self._locked_plan(client, nothing)
        finally:
            transactions.endStateChange(nothing)

    def _locked_plan(self, client: Any, nothing: Any) -> str:
        spark, config = self._spark, client.getConfig()
        context = java_class(spark, f"{_HUDI}.client.common.HoodieSparkEngineContext")(spark._jsc)
        table = java_class(spark, f"{_HUDI}.table.HoodieSparkTable").create(config, context)
        instant = str(table.getMetaClient().createNewInstantTime(False))
        planner = java_class(spark, f"{_HUDI}.table.action.compact.ScheduleCompactionActionExecutor")
        kind = java_class(spark, f"{_HUDI}.common.model.WriteOperationType").COMPACT
        conf = java_class(spark, f"{_HUDI}.hadoop.fs.HadoopFSUtils").getStorageConf(
            spark._jsc.hadoopConfiguration()
        )
        without_tasks = java_class(spark, f"{_HUDI}.common.engine.HoodieLocalEngineContext")(conf)
        plan = planner(without_tasks, config, table, instant, nothing, kind).execute()
        return instant if plan.isPresent() else ""

    def execute(self, action: Native, instant: str, target_bytes: int) -> None:
        """Execute a plan. One of clustering that fails is dropped: Hudi refuses updates of its files."""
        with closing(self._client(service_options(action, target_bytes))) as client:
            execute = getattr(client, _EXECUTIONS[Command(action.command)])
            try:
                execute(instant, True)
            except Py4JJavaError as error:
                if action.command == Command.CLUSTERING and not has_no_lock(error.java_exception):
                    client.purgePendingClustering(instant)
                raise

    def maintain(self, action: Native) -> None:
        with closing(self._client(maintenance_options(action))) as client:
            if action.command == Command.CLEAN:
                client.clean()
            else:
                client.archive()

    def _client(self, further: Mapping[str, str]) -> Any:
        options = java_class(self._spark, "java.util.HashMap")()
        for name, text in {**self._options, **further}.items():
            options.put(name, text)
        utilities = java_class(self._spark, f"{_HUDI}.DataSourceUtils")
        name = self._options["hoodie.table.name"]
        return utilities.createHoodieClient(self._spark._jsc, self._schema(), self._location, name, options)


def has_no_lock(error: Any) -> bool:
    """Whether an error (Java) or one of its causes is that a lock cannot be had."""
    return error is not None and (
        str(error.getClass().getSimpleName()) == _NO_LOCK or has_no_lock(error.getCause())
    )


def is_planned_by_the_driver(strategies: str) -> bool:
    """Whether Hudi's client for Spark fails with "Task not serializable" on these strategies.

    It sends them to Spark's tasks, and one has a field that Java cannot serialize (Hudi 1.2.0).
    """
    names = (name.rpartition(".")[2].strip() for name in strategies.split(","))
    return any(name.startswith(_NOT_SERIALIZABLE) for name in names)


def service_options(action: Native, target_bytes: int) -> dict[str, str]:
    """Raises ValueError for an invalid option."""
    match Command(action.command):
        case Command.COMPACTION:
            names = action.arguments["strategy"]
            return {
                TRIGGER: "NUM_COMMITS",
                COMMITS: "0",  # due at once, since our trigger has fired
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
    """The number of days with which Hudi chooses on `real_today` as if on `today`; empty without `today`.

    BoundedPartitionAware and its complement count the last N days of the calendar. DayBased uses the same
    option as a number of partitions, so the two cannot be combined.
    """
    if today is None:
        return {}
    days = int(options.get(TARGET_PARTITIONS, str(DEFAULT_TARGET_PARTITIONS)))
    return {TARGET_PARTITIONS: str(days + (real_today - date.fromisoformat(today)).days)}


def maintenance_options(action: Native) -> dict[str, str]:
    arguments = action.arguments
    if action.command == Command.CLEAN:
        return {
            "hoodie.clean.policy": "KEEP_LATEST_COMMITS",
            "hoodie.clean.commits.retained": arguments["retain_commits"],
        }
    return {
        "hoodie.keep.min.commits": arguments["min_commits"],
        "hoodie.keep.max.commits": arguments["max_commits"],
        "hoodie.clean.commits.retained": "1",  # has to be below hoodie.keep.min.commits
    }
