"""Spark sessions, and the few helpers with which every Spark engine reaches the JVM."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from bench.engines.contract import SparkSettings
from bench.engines.spark.conf import DEFAULT_CONF, jars_conf, own_java_options


def start_session(
    settings: SparkSettings, jars: tuple[Path, ...], conf: Mapping[str, str], scratch: Path
) -> SparkSession:
    """A session with the format's `conf`, overridden by the scenario's; Spark's own files go to `scratch`."""
    builder = SparkSession.builder.master(settings.master).appName("compactbench")
    merged = {
        **DEFAULT_CONF,
        **own_java_options(settings),
        **jars_conf(settings, jars),
        "spark.driver.memory": f"{settings.driver_memory_bytes // 2**20}m",
        "spark.local.dir": str(scratch / "spark"),
        "spark.sql.warehouse.dir": str(scratch / "spark-warehouse"),
        **conf,
        **settings.conf,
    }
    for key, value in merged.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("WARN")
    return session


def stop_session(spark: SparkSession, *, keeps_jvm: bool = False) -> None:
    """Stop Spark and, unless another session is to use it, its JVM, and wait until the JVM is gone."""
    from pyspark import SparkContext

    gateway: Any = spark.sparkContext._gateway
    spark.stop()
    if keeps_jvm:
        return
    gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        process.stdin.close()  # the JVM exits when its standard input ends
        process.wait(timeout=60)
    SparkContext._gateway = None
    SparkContext._jvm = None


def java_rows(frame: Any) -> list[dict[str, Any]]:
    """The rows of a small result as dictionaries, read through the gateway."""
    names = list(frame.columns())
    return [
        dict(zip(names, (row.get(i) for i in range(len(names))), strict=True))
        for row in frame.collectAsList()
    ]


def sql_text(value: str) -> str:
    """`value` as a Spark SQL string literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def values(spark: SparkSession, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> DataFrame:
    """A small table of SQL literals. A list of Python rows would start a Python worker."""
    text = ", ".join(f"({', '.join(map(str, row))})" for row in rows)
    return spark.sql(f"SELECT * FROM VALUES {text} AS t({', '.join(columns)})")  # noqa: S608


def java_class(spark: SparkSession, name: str) -> Any:
    """A Java class by its full name, cached.

    Each attribute of the gateway's `jvm` asks the class loader whether that part of the package is a class.
    """
    return _cached_class(spark._jvm, name)


@lru_cache(maxsize=100)
def _cached_class(jvm: Any, name: str) -> Any:
    return reduce(getattr, name.split("."), jvm)


@contextmanager
def configured(spark: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    """A session with these settings in addition; afterwards they are as before."""
    before = {key: spark.conf.get(key, None) for key in conf}
    for key, value in conf.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, earlier in before.items():
            if earlier is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, earlier)


def use_namespace(spark: SparkSession, catalog: str, namespace: str) -> None:
    """Make a namespace of a catalog the current one, as the statement USE does, but without parsing one."""
    gateway: Any = spark.sparkContext._gateway
    names = gateway.new_array(gateway.jvm.java.lang.String, 1)
    names[0] = namespace
    manager = spark._jsparkSession.sessionState().catalogManager()
    manager.setCurrentCatalog(catalog)
    manager.setCurrentNamespace(names)


def file_system(spark: SparkSession, location: str) -> tuple[Any, Any]:
    """The Hadoop path of a location, and the file system that it is on."""
    path = java_class(spark, "org.apache.hadoop.fs.Path")(location)
    return path, path.getFileSystem(spark._jsc.hadoopConfiguration())


def stored_bytes(spark: SparkSession, location: str) -> int:
    """The bytes of all files below a location on any file system; 0 if the location does not exist."""
    path, system = file_system(spark, location)
    return int(system.getContentSummary(path).getLength()) if system.exists(path) else 0
