"""Real components on loopback, each started once for all tests that use it: see `make test-cluster`."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import psutil
import pyspark
import pytest

from bench.engines import runtime

WAIT_S = 60.0
# In an environment of its own: what it needs conflicts with our constraints.
S3_SERVER = ("moto[s3]==5.2.5", "flask==3.1.3", "flask-cors==6.0.5")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def component(arguments: list[str], log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that writes to `log`; it and its children end with the block."""
    with log.open("wb") as file:
        process = subprocess.Popen(arguments, stdout=file, stderr=file, env={**os.environ, **environment})
    try:
        yield process
    finally:
        own = psutil.Process(process.pid)
        family = [*own.children(recursive=True), own] if process.poll() is None else []
        process.terminate()
        _, left = psutil.wait_procs(family, timeout=WAIT_S)
        for one in left:
            one.kill()
        process.wait()


def wait_for(log: Path, text: str, times: int = 1) -> None:
    """Until a component has logged the text so often."""
    deadline_s = time.monotonic() + WAIT_S
    while log.read_text(errors="replace").count(text) < times:
        assert time.monotonic() < deadline_s, log.read_text(errors="replace")[-2000:]
        time.sleep(0.2)


@contextmanager
def spark_cluster(folder: Path, cores: Sequence[int], hidden: Sequence[Path] = ()) -> Iterator[str]:
    """The address of a standalone cluster out of the installed PySpark: a worker for each number of `cores`.

    Workers see the `hidden` folders empty.
    """
    home, port = Path(pyspark.__file__).parent, free_port()
    address = f"spark://127.0.0.1:{port}"
    environment = {
        "SPARK_HOME": str(home), "JAVA_HOME": str(runtime.java_home()), "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m", "TZ": "UTC",
    }  # fmt: skip
    deploy, host = [str(home / "bin" / "spark-class")], ["--host", "127.0.0.1", "--webui-port", "0"]
    master = [*deploy, "org.apache.spark.deploy.master.Master", *host, "--port", str(port)]
    mounts = [f"mkdir -p {path} && mount -t tmpfs tmpfs {path}" for path in hidden]
    apart = ["unshare", "--mount", "sh", "-c", " && ".join([*mounts, 'exec "$@"']), "sh"] if hidden else []
    worker = [*apart, *deploy, "org.apache.spark.deploy.worker.Worker", *host, "--memory", "1g"]
    with ExitStack() as stack:
        stack.enter_context(component(master, folder / "master.log", **environment))
        wait_for(folder / "master.log", "I have been elected leader")
        for number, count in enumerate(cores):
            place = ["--cores", str(count), "--work-dir", str(folder / f"worker-{number}"), address]
            stack.enter_context(component([*worker, *place], folder / f"{number}.log", **environment))
        wait_for(folder / "master.log", "Registering worker", times=len(cores))
        yield address


@pytest.fixture(scope="session")
def standalone(tmp_path_factory):
    """The address of a standalone cluster of two workers with a core each."""
    with spark_cluster(tmp_path_factory.mktemp("standalone"), cores=(1, 1)) as address:
        yield address


def fetched(folder: Path, goal: str, *options: str) -> Path:
    """Jars that Maven has copied into a folder, once for all test runs; without Maven the test is skipped."""
    if shutil.which("mvn") is None:
        pytest.skip("needs Maven")
    if not any(folder.glob("*.jar")):
        folder.mkdir(parents=True, exist_ok=True)
        command = ["mvn", "-q", "-B", f"dependency:{goal}", f"-DoutputDirectory={folder}", *options]
        subprocess.run(command, check=True, cwd=folder)
    return folder


@pytest.fixture(scope="session")
def full_jdk():
    """The home of a JDK 17 with all modules; without one the test is skipped."""
    java = shutil.which("java")
    home = Path(java).resolve().parents[1] if java else None
    if home is None or runtime.java_major(home) != runtime.JAVA_MAJOR:
        pytest.skip(f"needs a JDK {runtime.JAVA_MAJOR} on the path")
    if "jdk.net" not in (runtime.java_modules(home) or ()):
        pytest.skip("needs a full JDK")
    return home


def wait_for_port(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Until a component listens."""
    deadline_s = time.monotonic() + WAIT_S
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None or time.monotonic() > deadline_s:
            pytest.fail(log.read_text(errors="replace")[-2000:])
        time.sleep(0.2)


@contextmanager
def rest_server(folder: Path, jdk: Path, jars: Sequence[Path], **properties: str) -> Iterator[str]:
    """The address of Iceberg's own REST catalog server, over a catalog on SQLite with these properties.

    The names of properties are those of the server's variables: `__` is a hyphen, `_` a dot.
    """
    port = free_port()
    pom = Path(__file__).with_name("rest_server.xml")
    own = fetched(runtime.cache_folder() / "test-jars" / "rest", "copy-dependencies", f"-f={pom}")
    environment = {
        "REST_PORT": str(port), "URI": f"jdbc:sqlite:{folder}/catalog.db", "JDBC_SCHEMA__VERSION": "V1",
        **properties,
    }  # fmt: skip
    class_path = os.pathsep.join([f"{own}/*", *map(str, jars)])
    server = [str(jdk / "bin" / "java"), "-Xmx512m", "-cp", class_path]
    log, variables = folder / "server.log", {f"CATALOG_{name}": value for name, value in environment.items()}
    with component([*server, "org.apache.iceberg.rest.RESTCatalogServer"], log, **variables) as process:
        wait_for_port(process, port, log)
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def rest_catalog(tmp_path_factory, full_jdk):
    """The address of a REST catalog, and the folder of its warehouse."""
    folder = tmp_path_factory.mktemp("rest")
    with rest_server(folder, full_jdk, (), WAREHOUSE=f"file://{folder}/warehouse") as address:
        yield address, folder / "warehouse"


@pytest.fixture(scope="session")
def rest_catalog_on_s3(tmp_path_factory, full_jdk, s3_server, aws_jar):
    """The address of a REST catalog whose tables are on S3, and which vends the keys for it."""
    properties = {
        "WAREHOUSE": "s3://bucket/rest", "IO__IMPL": "org.apache.iceberg.aws.s3.S3FileIO",
        "S3_ENDPOINT": s3_server[0], "S3_PATH__STYLE__ACCESS": "true", "CLIENT_REGION": "us-east-1",
        "S3_ACCESS__KEY__ID": "vended", "S3_SECRET__ACCESS__KEY": "vendedsecret",
        "INCLUDE__CREDENTIALS": "true",
    }  # fmt: skip
    with rest_server(tmp_path_factory.mktemp("rest-s3"), full_jdk, (aws_jar,), **properties) as address:
        yield address


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory):
    """An S3 server in memory, which asks for no signature: its address, and its log of requests.

    It has a bucket named "bucket".
    """
    folder, port = tmp_path_factory.mktemp("s3"), free_port()
    environment = runtime.cache_folder() / "test-jars" / "s3-server"
    python, ready = environment / "bin" / "python", environment / "ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *S3_SERVER], check=True)
        ready.touch()
    serve = "import sys; from moto.server import main; main(sys.argv[1:])"
    log = folder / "server.log"
    with component([str(python), "-c", serve, "-H", "127.0.0.1", "-p", str(port)], log) as process:
        wait_for_port(process, port, log)
        address = f"http://127.0.0.1:{port}"
        urlopen(Request(f"{address}/bucket", method="PUT"))
        yield address, log


@pytest.fixture(scope="session")
def aws_jar():
    """The AWS classes that S3FileIO needs."""
    folder = runtime.cache_folder() / "test-jars" / "aws"
    fetched(folder, "copy", "-Dartifact=org.apache.iceberg:iceberg-aws-bundle:1.11.0")
    return next(folder.glob("*.jar"))


@pytest.fixture(scope="session")
def hive_metastore(tmp_path_factory):
    """The address of a Hive metastore out of the jars that PySpark brings, on Derby."""
    folder, port = tmp_path_factory.mktemp("hive"), free_port()
    log, jars = folder / "server.log", Path(pyspark.__file__).parent / "jars"
    properties = {
        "derby.system.home": str(folder), "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false", "hive.async.log.enabled": "false",
        "hive.in.test": "true",
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/db;create=true",
        "hive.metastore.warehouse.dir": f"file://{folder}/warehouse",
    }  # fmt: skip
    java = [str(runtime.java_home() / "bin" / "java"), "-Xmx512m", "-cp", f"{jars}/*"]
    options = [f"-D{key}={value}" for key, value in properties.items()]
    server = [*java, *options, "org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port)]
    with component(server, log) as process:
        wait_for_port(process, port, log)
        yield f"thrift://127.0.0.1:{port}"


@pytest.fixture
def cluster_apart(tmp_path):
    """A cluster whose worker sees nothing in the folders of the driver, and a folder that both see."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs the right to mount")
    shared, own = tmp_path / "shared", tmp_path / "of-the-driver"
    shared.mkdir()
    own.mkdir()
    hidden = [runtime.cache_folder() / "change_logs", own]
    with spark_cluster(tmp_path, cores=(2,), hidden=hidden) as address:
        yield address, shared, own
