"""Spark sessions, and helpers of all Spark engines for the JVM."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.sql import DataFrame, SparkSession

from bench.engines.contract import SparkSettings
from bench.engines.runtime import ON_LOOPBACK
from bench.engines.spark.conf import (
    DEFAULT_CONF,
    SECRET_CONF,
    SUBMIT_ARGUMENTS,
    defaults_file,
    jars_conf,
    own_java_options,
    redaction_conf,
)
from bench.engines.spark.executor_cpu import ExecutorCpu
from bench.secrets import Secrets


def start_session(
    settings: SparkSettings,
    jars: tuple[Path, ...],
    conf: Mapping[str, str],
    scratch: Path,
    executors: ExecutorCpu | None = None,
) -> SparkSession:
    """A session with the format's `conf`, overridden by the scenario's; Spark's own files go to `scratch`.

    Its executors report to `executors`. Raises EngineError if that cannot listen.
    """
    if settings.is_on_this_machine:
        for name, value in ON_LOOPBACK.items():
            os.environ.setdefault(name, value)
    temporary = scratch / "temporary"
    temporary.mkdir(parents=True, exist_ok=True)
    builder = SparkSession.builder.master(settings.master).appName(settings.application)
    merged = {
        **DEFAULT_CONF,
        **own_java_options(temporary),
        "spark.driver.memory": f"{settings.driver_memory_bytes // 2**20}m",
        "spark.local.dir": str(scratch / "spark"),
        "spark.sql.warehouse.dir": str(scratch / "spark-warehouse"),
        **conf,
        **settings.conf,
        **jars_conf(settings, jars),
    }
    merged |= redaction_conf(merged)
    _launch_jvm({"spark.master": settings.master, **merged}, scratch)
    if executors is not None:
        known = {**dict(SparkConf().getAll()), **merged}  # includes spark-defaults.conf
        address = _own_address(known)
        merged |= executors.listen(known.get("spark.driver.bindAddress", address), address)
    for key, value in merged.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("WARN")
    return session


def role_session(role: str) -> SparkSession:
    """A session of the application that runs in this process, for a role that is the calling thread.

    Its jobs have a pool of the scheduler and a job group of their own, with the name of the role.
    """
    spark = SparkSession.builder.getOrCreate().newSession()
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", role)
    spark.sparkContext.setJobGroup(role, role)
    return spark


def _own_address(conf: Mapping[str, str]) -> str:
    """The address of the driver for its executors, as Spark will choose it."""
    if "spark.driver.host" in conf:
        return conf["spark.driver.host"]
    gateway: Any = SparkContext._gateway
    return str(gateway.jvm.org.apache.spark.util.Utils.localCanonicalHostName())


def _launch_jvm(conf: Mapping[str, str], scratch: Path) -> None:
    """Start the JVM, unless it runs already.

    Settings are in its command line, which every user can read. Secret ones, and others that contain the
    value of a secret, go to a private file instead, which is removed once the JVM has read it.
    """
    launched, secrets = SparkConf(loadDefaults=False), Secrets.of(conf)
    secret = {key: value for key, value in conf.items() if secrets.are_shown_by(key, value)}
    for key in conf.keys() - secret.keys():
        launched.set(key, conf[key])
    with _private_file(secret, scratch) if secret else nullcontext():
        SparkContext._ensure_initialized(conf=launched)


@contextmanager
def _private_file(conf: Mapping[str, str], scratch: Path) -> Iterator[None]:
    """Within the block spark-submit reads these settings besides its usual defaults."""
    defaults = defaults_file()
    text = defaults.read_text(encoding="utf-8") if defaults.is_file() else ""
    scratch.mkdir(parents=True, exist_ok=True)
    path = scratch / SECRET_CONF
    before = os.environ.get(SUBMIT_ARGUMENTS)
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii"
    ) as file:
        file.write(_ascii(text) + "\n" + "".join(f"{_escaped(k)}={_escaped(v)}\n" for k, v in conf.items()))
    os.environ[SUBMIT_ARGUMENTS] = f"--properties-file {shlex.quote(str(path))} {before or 'pyspark-shell'}"
    try:
        yield
    finally:
        path.unlink()
        if before is None:
            del os.environ[SUBMIT_ARGUMENTS]
        else:
            os.environ[SUBMIT_ARGUMENTS] = before


def _escaped(text: str) -> str:
    """A key or value of a Java properties file."""
    marked = re.sub(r"[\\:=#! ]", r"\\\g<0>", text)
    return _ascii(marked.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t"))


def _ascii(text: str) -> str:
    """Escapes other characters as Java properties files do, like JSON: \\uXXXX, in UTF-16."""
    return re.sub(r"[^\x00-\x7f]", lambda match: json.dumps(match[0])[1:-1], text)


def stop_session(spark: SparkSession) -> None:
    """Stop Spark and its JVM; waits until the JVM has ended."""
    gateway: Any = spark.sparkContext._gateway
    spark.stop()
    gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        process.stdin.close()  # the JVM exits when its standard input ends
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
    SparkContext._gateway = None
    SparkContext._jvm = None


def java_rows(frame: Any) -> list[dict[str, Any]]:
    """The rows of a small result as dictionaries, read through the gateway."""
    names = list(frame.columns())
    return [
        dict(zip(names, (row.get(i) for i in range(len(names))), strict=True))
        for row in frame.collectAsList()
    ]


def values(spark: SparkSession, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> DataFrame:
    """A small table of SQL literals. A list of Python rows would start a Python worker."""
    text = ", ".join(f"({', '.join(map(str, row))})" for row in rows)
    return spark.sql(f"SELECT * FROM VALUES {text} AS t({', '.join(columns)})")  # noqa: S608


def java_class(spark: SparkSession, name: str) -> Any:
    """A Java class by its full name, cached.

    Each attribute of the gateway's `jvm` is a look-up by the class loader.
    """
    return _cached_class(spark._jvm, name)


@lru_cache(maxsize=100)
def _cached_class(jvm: Any, name: str) -> Any:
    return reduce(getattr, name.split("."), jvm)


@contextmanager
def configured(spark: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    """Within the block the session has these settings."""
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
    """Make a namespace the current one, like the statement USE, but without parsing one."""
    gateway: Any = spark.sparkContext._gateway
    names = gateway.new_array(gateway.jvm.java.lang.String, 1)
    names[0] = namespace
    manager = spark._jsparkSession.sessionState().catalogManager()
    manager.setCurrentCatalog(catalog)
    manager.setCurrentNamespace(names)


def file_system(spark: SparkSession, location: str) -> tuple[Any, Any]:
    """The Hadoop path of a location, and its file system."""
    path = java_class(spark, "org.apache.hadoop.fs.Path")(location)
    return path, path.getFileSystem(spark._jsc.hadoopConfiguration())


def has_file_system(spark: SparkSession, location: str) -> bool:
    try:
        file_system(spark, location)
    except Py4JJavaError as error:
        if error.java_exception.getClass().getSimpleName() != "UnsupportedFileSystemException":
            raise
        return False
    return True


def stored_bytes(spark: SparkSession, location: str) -> int:
    """The bytes of all files below a location; 0 if the location does not exist."""
    path, system = file_system(spark, location)
    return int(system.getContentSummary(path).getLength()) if system.exists(path) else 0
