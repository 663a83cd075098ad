"""Hudi's own compaction strategies as an oracle, which plan for file slices that exist in memory only.

This module replaces Hudi's code between the listing of a table and its strategy: the strategy filters the
partitions, and then chooses from the operations of their file slices.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hudi_cases import Case
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from strategies.hudi.compaction_strategies import class_names
from strategies.hudi.files import FileGroupId, FileSlice

_INSTANT = "20240101000000000"
_IO = "TOTAL_IO_MB"


@dataclass(frozen=True)
class JavaPlan:
    """The file groups of a plan in order, the partitions it notes for the next plan, and its IO in MiB."""

    groups: tuple[FileGroupId, ...]
    missing_partitions: tuple[str, ...] | None
    io_mib: int


class HudiOracle:
    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm
        self._hudi = self._jvm.org.apache.hudi
        self._model = self._hudi.common.model

    def plan(self, case: Case) -> JavaPlan | None:
        """A plan without operations if Hudi makes none; None if its class fails."""
        try:
            return self._plan(case)
        except Py4JJavaError as error:
            if "Invalid Partition Date Format" not in str(error.java_exception.toString()):
                raise
            return None

    def _plan(self, case: Case) -> JavaPlan:
        config = self._config(case)
        strategy = config.getCompactionStrategy()
        slices = case.state.file_slices
        partitions = list(dict.fromkeys(group.partition for group in slices))
        chosen = strategy.filterPartitionPaths(config, self._list(partitions))
        operations = [
            self._operation(strategy, config, each)
            for partition in chosen.getLeft()
            for each in slices.values()
            if each.group.partition == partition
        ]
        if not operations:
            return JavaPlan((), None, 0)
        plan = strategy.generateCompactionPlan(
            config, self._list(operations), self._list(()), self._jvm.java.util.HashMap(), chosen
        )
        kept, missing = list(plan.getOperations()), plan.getMissingSchedulePartitions()
        return JavaPlan(
            tuple(FileGroupId(each.getPartitionPath(), each.getFileId()) for each in kept),
            None if missing is None else tuple(missing),
            int(sum(each.getMetrics()[_IO] for each in kept)),
        )

    def _config(self, case: Case) -> Any:
        properties = self._jvm.java.util.Properties()
        properties.setProperty("hoodie.compaction.strategy", class_names(case.strategy))
        properties.setProperty("hoodie.parquet.max.file.size", str(case.state.target_file_size_bytes))
        for name, text in case.options.items():
            properties.setProperty(name, text)
        builder = self._hudi.config.HoodieWriteConfig.newBuilder()
        return builder.withPath("/nowhere").withProperties(properties).build()

    def _operation(self, strategy: Any, config: Any, each: FileSlice) -> Any:
        partition, file_id = each.group
        made = self._model.FileSlice(partition, _INSTANT, file_id)
        if each.base is not None:
            base = self._model.HoodieBaseFile(f"/nowhere/{partition}/{file_id}_0-1-1_{_INSTANT}.parquet")
            base.setFileSize(each.base.size_bytes)
            made.setBaseFile(base)
        paths = [f"/nowhere/{partition}/.{file_id}_{_INSTANT}.log.{n}_0-1-1" for n in range(len(each.logs))]
        for path, log in zip(paths, each.logs, strict=True):
            storage_path = self._hudi.storage.StoragePath(path)
            made.addLogFile(self._model.HoodieLogFile(storage_path, log.size_bytes))
        metrics = strategy.captureMetrics(config, made)
        return self._hudi.avro.model.HoodieCompactionOperation(
            _INSTANT, self._list(paths), "base", file_id, partition, metrics, None
        )

    def _list(self, items: Sequence[Any]) -> Any:
        made = self._jvm.java.util.ArrayList()
        for item in items:
            made.add(item)
        return made
