"""The metadata of a Hudi table, read by Hudi's own classes in the JVM of a session."""

import json
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from pyspark.sql import SparkSession

from bench.engines.hudi.timeline import Fields
from bench.engines.spark.session import java_class

_HUDI = "org.apache.hudi"
_TABLE = f"{_HUDI}.common.table"
_UTILITIES = f"{_HUDI}.common.util"
_FAR_FUTURE = "99991231235959999"


class TableMetadata:
    """One table at `location`. Each call to `reload` makes the others see what is there by then."""

    def __init__(self, spark: SparkSession, location: str) -> None:
        self._spark, self._location = spark, location
        self._client: Any = None

    def _class(self, name: str) -> Any:
        return java_class(self._spark, name)

    @cached_property
    def _storage(self) -> Any:
        conf = self._spark._jsc.hadoopConfiguration()
        return self._class(f"{_HUDI}.hadoop.fs.HadoopFSUtils").getStorageConf(conf)

    def reload(self) -> None:
        """Read the timeline anew, at once: by default it would be read when it is first asked for."""
        builder = self._class(f"{_TABLE}.HoodieTableMetaClient").builder()
        located = builder.setConf(self._storage).setBasePath(self._location)
        self._client = located.setLoadActiveTimelineOnLoad(True).build()

    def local_context(self) -> Any:
        """What Hudi's planners work with instead of Spark's tasks."""
        return self._class(f"{_HUDI}.common.engine.HoodieLocalEngineContext")(self._storage)

    def schema(self) -> str:
        """The schema of the table's rows, in Avro."""
        resolver = self._class(f"{_TABLE}.TableSchemaResolver")(self._client)
        return str(resolver.getTableSchema(False).toString())

    def commit(self, requested: str, completed: str, action: str) -> Fields:
        """What a completed write action says of itself (HoodieCommitMetadata)."""
        state = self._class(f"{_TABLE}.timeline.HoodieInstant").State.COMPLETED
        instant = self._client.getInstantGenerator().createNewInstant(state, action, requested, completed)
        timeline = self._client.getActiveTimeline()
        is_replacing = action == "replacecommit"
        read = timeline.readReplaceCommitMetadata if is_replacing else timeline.readCommitMetadata
        return _parsed(read(instant).toJsonString())

    def compaction_plan(self, requested: str, *, is_of_logs: bool = False) -> Fields:
        """The plan of a compaction, or of a log compaction (HoodieCompactionPlan)."""
        plans = self._class(f"{_UTILITIES}.CompactionUtils")
        read = plans.getLogCompactionPlan if is_of_logs else plans.getCompactionPlan
        return _parsed(read(self._client, requested).toString())

    def clustering_plan(self, requested: str) -> Fields:
        """The plan of a clustering (HoodieClusteringPlan)."""
        instant = self._client.createNewInstant(
            self._class(f"{_TABLE}.timeline.HoodieInstant").State.REQUESTED, "clustering", requested
        )
        found = self._class(f"{_UTILITIES}.ClusteringUtils").getClusteringPlan(self._client, instant)
        return _parsed(found.get().getRight().toString())

    def slices(self) -> list[Fields]:
        """The latest file slice of each file group, as Hudi's timeline server describes them.

        Where a compaction is pending, it is what readers merge: what the plan will replace, and log files
        that came after it.
        """
        context = self.local_context()
        settings = self._class(f"{_HUDI}.common.config.HoodieMetadataConfig").newBuilder().enable(False)
        views = self._class(f"{_TABLE}.view.FileSystemViewManager")
        timeline = self._client.getActiveTimeline().filterCompletedAndCompactionInstants()
        view = views.createInMemoryFileSystemViewWithTimeline(
            context, self._client, settings.build(), timeline
        )
        described = self._class("java.util.ArrayList")()
        transfer = self._class(f"{_TABLE}.timeline.dto.FileSliceDTO")
        partitions = self._class(f"{_HUDI}.common.fs.FSUtils").getAllPartitionPaths(
            context, self._client, False
        )
        for partition in _iterated(partitions):
            for found in _iterated(view.getLatestMergedFileSlicesBeforeOrOn(partition, _FAR_FUTURE)):
                described.add(transfer.fromFileSlice(found))
        view.close()
        text = self._class("com.fasterxml.jackson.databind.ObjectMapper")().writeValueAsString(described)
        slices: list[Fields] = json.loads(text)
        return slices


def _parsed(text: str) -> Fields:
    fields: Fields = json.loads(text)
    return fields


def _iterated(found: Any) -> Iterable[Any]:
    """The items of a Java collection or stream."""
    iterator = found.iterator()
    while iterator.hasNext():
        yield iterator.next()
