import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pyspark
import pytest

from bench.engines.contract import SparkSettings
from bench.engines.spark import session
from bench.engines.spark.conf import defaults_file

SECRET = "planted-4f1c9a77"


@pytest.mark.spark
@pytest.mark.processes
def test_a_secret_of_the_session_is_in_no_command_line(tmp_path):
    script = f"""
        import sys
        from pathlib import Path

        import psutil

        from bench.engines import runtime
        from bench.engines.contract import SparkSettings
        from bench.engines.spark.session import start_session, stop_session

        runtime.use_java()
        hard = "{SECRET} = a\\\\b: #!\u00e9\U0001f600"
        secret = {{"spark.hadoop.fs.s3a.secret.key": "{SECRET}", "spark.some.password": hard,
                  "spark.some.header": "{SECRET}", "spark.some.uri": "jdbc:x://me:other-4f1c9a77@host",
                  "spark.hadoop.some.uri": "https://host/x?sig=signed-4f1c9a77&se=1",
                  "spark.hadoop.fs.azure.account.key.a.dfs.core.windows.net": "azure-4f1c9a77",
                  "spark.eventLog.enabled": "true", "spark.eventLog.dir": sys.argv[1]}}
        settings = SparkSettings("local[1]", 2**29, secret)
        spark = start_session(settings, (), {{"spark.some.key": "public-4f1c9a77"}}, Path(sys.argv[1]))
        assert spark.sparkContext._jsc.hadoopConfiguration().get("fs.s3a.secret.key") == "{SECRET}"
        launched = spark._jvm.java.lang.System.getProperty
        assert launched("spark.some.password") == hard  # known when the JVM started, as jars are fetched
        assert launched("spark.some.header") == "{SECRET}"
        assert launched("java.io.tmpdir") == sys.argv[1] + "/temporary"
        spark._jvm.java.io.File.createTempFile("some", ".tmp")
        assert list(Path(sys.argv[1]).glob("temporary/some*.tmp"))
        assert not list(Path(sys.argv[1]).glob("*.conf"))
        lines = [" ".join(one.info["cmdline"] or ()) for one in psutil.process_iter(["cmdline"])]
        print(sum("{SECRET}" in line for line in lines), sum("public-4f1c9a77" in line for line in lines))
        stop_session(spark)
    """
    done = subprocess.run(
        [sys.executable, "-", str(tmp_path)], input=textwrap.dedent(script), capture_output=True, text=True
    )
    assert done.stdout.split() == ["0", "1"], done.stderr
    (events,) = (file.read_text() for file in tmp_path.glob("local-*"))
    assert "public-4f1c9a77" in events
    for secret in (SECRET, "other-4f1c9a77", "signed-4f1c9a77", "azure-4f1c9a77"):
        assert secret not in events


@pytest.mark.spark
@pytest.mark.processes
def test_executors_report_to_the_address_that_spark_has_by_default(tmp_path):
    """With a secret in the session too, whose file takes the place of the one with the defaults."""
    (tmp_path / "spark-defaults.conf").write_text(
        "spark.driver.host      localhost\nspark.driver.bindAddress  127.0.0.1\n"
    )
    script = """
        import sys
        from pathlib import Path
        from types import SimpleNamespace

        from bench.engines import runtime
        from bench.engines.contract import SparkSettings
        from bench.engines.spark.session import start_session, stop_session

        runtime.use_java()
        asked = []
        executors = SimpleNamespace(listen=lambda *addresses: asked.append(addresses) or {})
        settings = SparkSettings("local[1]", 2**29, {"spark.some.password": "planted-4f1c9a77"})
        spark = start_session(settings, (), {}, Path(sys.argv[1]), executors)
        print(*asked[0], spark.conf.get("spark.driver.host"))
        stop_session(spark)
    """
    done = subprocess.run(
        [sys.executable, "-", str(tmp_path)],
        input=textwrap.dedent(script), capture_output=True, text=True,
        env={**os.environ, "SPARK_CONF_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout.split() == ["127.0.0.1", "localhost", "localhost"], done.stderr


def test_the_defaults_are_those_that_spark_reads(monkeypatch, tmp_path):
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    monkeypatch.delenv("SPARK_HOME", raising=False)
    of_package = Path(pyspark.__file__).parent / "conf" / "spark-defaults.conf"
    assert defaults_file() == of_package
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert defaults_file() == tmp_path / "conf" / "spark-defaults.conf"
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "mine"))
    assert defaults_file() == tmp_path / "mine" / "spark-defaults.conf"


class StartedError(Exception):
    """Raised in place of starting a JVM."""


@pytest.mark.parametrize(
    ("master", "address"),
    [
        ("local[2]", "127.0.0.1"),
        ("local-cluster[2,1,1024]", "127.0.0.1"),
        ("spark://master.example:7077", None),
        ("yarn", None),
    ],
)
def test_loopback_is_forced_on_masters_of_this_machine_alone(master, address, monkeypatch, tmp_path):
    def launch(conf, scratch):
        raise StartedError(os.environ.get("SPARK_LOCAL_IP"))

    monkeypatch.setenv("SPARK_LOCAL_IP", "to be restored")
    monkeypatch.delenv("SPARK_LOCAL_IP")
    monkeypatch.setattr(session, "_launch_jvm", launch)
    with pytest.raises(StartedError) as started:
        session.start_session(SparkSettings(master), (), {}, tmp_path)
    assert started.value.args == (address,)
