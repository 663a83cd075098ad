"""Reads a Hudi table with Hudi's own classes, the original of `bench.engines.hudi.slices`."""

from pathlib import Path

from pyspark.sql import SparkSession

from bench.engines.spark.session import java_class

_TABLE = "org.apache.hudi.common.table"
_FAR_FUTURE = "99991231235959999"


def local_context(spark: SparkSession):
    """Lets Hudi's planners work without Spark's tasks."""
    conf = spark._jsc.hadoopConfiguration()
    storage = java_class(spark, "org.apache.hudi.hadoop.fs.HadoopFSUtils").getStorageConf(conf)
    return java_class(spark, "org.apache.hudi.common.engine.HoodieLocalEngineContext")(storage)


def client(spark: SparkSession, location: str):
    storage = local_context(spark).getStorageConf()
    builder = java_class(spark, f"{_TABLE}.HoodieTableMetaClient").builder().setConf(storage)
    return builder.setBasePath(location).setLoadActiveTimelineOnLoad(True).build()


def table_schema(spark: SparkSession, location: str) -> str:
    resolver = java_class(spark, f"{_TABLE}.TableSchemaResolver")(client(spark, location))
    return resolver.getTableSchema(False).toString()


def live_files(spark: SparkSession, location: str) -> dict[str, int]:
    """The names and bytes of the files of the latest slices.

    With a pending compaction these are the slice that it will replace, and later log files.
    """
    meta = client(spark, location)
    context = local_context(spark)
    off = java_class(spark, "org.apache.hudi.common.config.HoodieMetadataConfig").newBuilder().enable(False)
    timeline = meta.getActiveTimeline().filterCompletedAndCompactionInstants()
    views = java_class(spark, f"{_TABLE}.view.FileSystemViewManager")
    view = views.createInMemoryFileSystemViewWithTimeline(context, meta, off.build(), timeline)
    partitions = java_class(spark, "org.apache.hudi.common.fs.FSUtils").getAllPartitionPaths(
        context, meta, False
    )
    files = {}
    for partition in partitions:
        slices = view.getLatestMergedFileSlicesBeforeOrOn(partition, _FAR_FUTURE).iterator()
        while slices.hasNext():
            merged = slices.next()
            if merged.getBaseFile().isPresent():
                base = merged.getBaseFile().get()
                files[str(base.getFileName())] = base.getFileSize()
            logs = merged.getLogFiles().iterator()
            while logs.hasNext():
                log = logs.next()
                files[str(log.getFileName())] = log.getFileSize()
    view.close()
    return files


def named(files) -> dict[str, int]:
    """The files of a state, as `live_files` gives them."""
    return {Path(file.path).name: file.size_bytes for file in files}
