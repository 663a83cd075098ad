"""The configuration of Spark sessions: defaults that a scenario may override, and derived settings."""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.engines.contract import SparkSettings
from bench.engines.runtime import spark_home, trust_options
from bench.errors import ScenarioError
from bench.secrets import Secrets
from strategies.java_values import parse_int

DEFAULT_OPTIONS = "spark.driver.defaultJavaOptions"  # Spark puts these before the extra ones
JARS = "spark.jars"
_CLASS_SETTINGS = frozenset({JARS, "spark.jars.packages", "spark.driver.extraClassPath"})
SECRET_CONF = "secret.conf"  # noqa: S105  a file in the scratch folder, while the JVM starts
REDACTION = "spark.redaction.regex"
_SPARKS_REDACTION = "(?i)secret|password|token|access[.]?key"  # Spark's default
_OF_HADOOP = re.compile(r"^spark\.(?:hadoop\.|(?=hive\.))")  # what Spark removes to name Hadoop's settings
SUBMIT_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"  # the variable in which PySpark takes options of spark-submit
SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"

# Makes one Spark partition of each file, so that as many writer tasks run as the workload specifies. They
# hold only while a change log is read: Spark reads the tables of some formats in the same way.
PARTITION_PER_FILE: Mapping[str, str] = {
    "spark.sql.files.maxPartitionBytes": str(2**40),
    "spark.sql.files.openCostInBytes": str(2**40),
}

# Defaults that a scenario may override.
DEFAULT_CONF: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    SHUFFLE_PARTITIONS: "2",
    "spark.sql.variable.substitute": "false",  # ${env:NAME} in a probe would put a variable into the results
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
    # Idle compiler threads would end, and their CPU would be missing from a reading by thread.
    DEFAULT_OPTIONS: "-XX:-UseDynamicNumberOfCompilerThreads",
}


def remove_secrets(work_folder: Path) -> None:
    """Remove what starting JVMs have left in a run's work folder, or in the folder of a role in it."""
    for left in (work_folder / SECRET_CONF, *work_folder.glob(f"*/{SECRET_CONF}")):
        left.unlink(missing_ok=True)


def join_tasks(settings: Mapping[str, str]) -> int:
    """The number of tasks of a join. Raises ScenarioError for a setting that Spark rejects."""
    text = settings.get(SHUFFLE_PARTITIONS, DEFAULT_CONF[SHUFFLE_PARTITIONS])
    try:
        count = parse_int(text)
        if count < 1:
            raise ValueError("must be > 0")
    except ValueError as error:
        path = f'spark."{SHUFFLE_PARTITIONS}"'
        raise ScenarioError(f"{error}, not {text!r}", code="invalid", path=path) from error
    return count


def jars_conf(settings: SparkSettings, jars: Sequence[Path]) -> Mapping[str, str]:
    """The settings for a format's jars and the jars that the scenario names.

    With a local master a format's jars are on the JVM's own class path, which saves Spark's copies for
    executors. A scenario that sets jars or the class path itself gets Spark's usual behaviour.
    """
    own = [jar.strip() for jar in settings.conf.get(JARS, "").split(",") if jar.strip()]
    sets_classes = not settings.conf.keys().isdisjoint(_CLASS_SETTINGS)
    if jars and settings.is_local and not sets_classes:
        return {"spark.driver.extraClassPath": os.pathsep.join(map(str, jars))}
    both = [*own, *map(str, jars)]  # a build of one's own comes before ours
    return {JARS: ",".join(both)} if both else {}


def own_java_options(temporary: Path) -> Mapping[str, str]:
    """The default options of the JVM: its temporary files, its crash report, and whom it trusts.

    Libraries unpack native code there, which stays if the JVM is killed: a folder of the run is removed. The
    report goes to the run's log, in which secrets are hidden, and not into the working folder.
    """
    place = shlex.quote(f"-Djava.io.tmpdir={temporary.absolute()}")
    own = (DEFAULT_CONF[DEFAULT_OPTIONS], "-XX:+ErrorFileToStdout", place, *trust_options())
    return {DEFAULT_OPTIONS: " ".join(own)}


def redaction_conf(conf: Mapping[str, str]) -> Mapping[str, str]:
    """Hides in Spark's event log, too, each setting that is a secret or contains one.

    The log has `spark.hadoop.KEY` and `spark.hive.KEY` twice, the second time as Hadoop's KEY and `hive.KEY`.
    """
    secrets = Secrets.of(conf)
    keys = [_OF_HADOOP.sub("", key) for key, value in conf.items() if secrets.are_shown_by(key, value)]
    patterns = [rf"(?:^|\.){re.escape(key)}$" for key in keys]
    return {REDACTION: "|".join((conf.get(REDACTION, _SPARKS_REDACTION), *patterns))}


def defaults_file() -> Path:
    """The file of defaults that spark-submit reads by default."""
    folder = os.environ.get("SPARK_CONF_DIR") or spark_home() / "conf"
    return Path(folder) / "spark-defaults.conf"
