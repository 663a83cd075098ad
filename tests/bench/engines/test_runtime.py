import hashlib
import json
import os
import re
import sys
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from refused import refused

from bench.engines import runtime
from bench.engines.runtime import JARS, cache_folder, check_pyspark, jars, java_home, java_major, java_version


@pytest.fixture
def jdk(tmp_path):
    """A folder whose `bin/java -version` prints what it is given."""

    def make(text, name="jdk", exit_code=0):
        java = tmp_path / name / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{text}\nEND\nexit {exit_code}\n")
        java.chmod(0o755)
        return tmp_path / name

    return make


@pytest.mark.parametrize(
    ("printed", "version", "major"),
    [
        ('openjdk version "17.0.9" 2023-10-17', "17.0.9", 17),
        ('java version "21" 2023-09-19 LTS', "21", 21),
        ('openjdk version "1.8.0_392"', "1.8.0_392", 1),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "17.0.9"', "17.0.9", 17),
        ("something else", "", None),
        ('openjdk version "22-ea" 2024-03-19', "22-ea", 22),
    ],
)  # fmt: skip
def test_the_version_of_a_java_is_what_it_prints(jdk, printed, version, major):
    home = jdk(printed)
    assert (java_version(home), java_major(home)) == (version, major)


def test_a_java_that_does_not_run_is_none(jdk, tmp_path):
    assert java_major(tmp_path / "nowhere") is None
    assert java_major(jdk('openjdk version "17.0.9"', exit_code=1)) is None


def test_java_home_is_taken_when_it_is_of_the_right_version(jdk, monkeypatch):
    home = jdk('openjdk version "17.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java_home() == home


def test_java_home_of_another_version_falls_back_to_the_bundled(jdk, monkeypatch):
    bundled = jdk('openjdk version "17.0.2"', "bundled")
    monkeypatch.setattr(runtime, "_bundled_java_home", lambda: bundled)
    for home in (jdk('openjdk version "21.0.1"', "newer"), jdk("broken", "broken"), Path("/nowhere")):
        monkeypatch.setenv("JAVA_HOME", str(home))
        assert java_home() == bundled
    monkeypatch.delenv("JAVA_HOME")
    assert java_home() == bundled


@pytest.mark.parametrize("text", ['openjdk version "21.0.1"', "broken", None])
def test_no_java_at_all_is_an_error(jdk, monkeypatch, text):
    monkeypatch.setattr(runtime, "_bundled_java_home", lambda: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if text:
        monkeypatch.setenv("JAVA_HOME", str(jdk(text)))
    with refused("java-missing"):
        java_home()


def test_use_java_points_spark_at_this_python(jdk, monkeypatch):
    home = jdk('openjdk version "17.0.1"')
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "TZ"):
        monkeypatch.setenv(name, "before")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert runtime.use_java() == home
    names = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "TZ")
    assert [os.environ[name] for name in names] == [sys.executable, sys.executable, "UTC"]


@pytest.mark.parametrize("installed", ["4.0.2", "3.50.0"])
def test_an_unsupported_pyspark_is_an_error(monkeypatch, installed):
    monkeypatch.setattr(runtime, "version", lambda name: installed)
    with refused("wrong-version"):
        check_pyspark()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"COMPACTBENCH_CACHE": "/c/own", "XDG_CACHE_HOME": "/x"}, "/c/own"),
        ({"COMPACTBENCH_CACHE": "~/own", "HOME": "/home/me"}, "/home/me/own"),
        ({"COMPACTBENCH_CACHE": "", "XDG_CACHE_HOME": "/x"}, "/x/compactbench"),
        ({"HOME": "/home/me"}, "/home/me/.cache/compactbench"),
    ],
)
def test_the_cache_folder_follows_the_environment(monkeypatch, environment, expected):
    for name in ("COMPACTBENCH_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(expected)


NAMES = ("iceberg.jar", "sqlite.jar")


def write_jar(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("content"), "x")  # without the time


@pytest.fixture
def resolved(tmp_path, monkeypatch):
    """Counts resolutions, each of which writes two jars and their index."""
    monkeypatch.setenv("COMPACTBENCH_CACHE", str(tmp_path))
    folders = []

    def resolve(coordinates, folder):
        folders.append(folder)
        paths = tuple(folder / "jars" / name for name in NAMES)
        for path in paths:
            write_jar(path)
        (folder / "index.json").write_text(json.dumps({path.name: runtime._sha256(path) for path in paths}))
        return paths

    monkeypatch.setattr(runtime, "_resolve", resolve)
    return folders


def test_jars_are_resolved_once(resolved):
    first = jars("iceberg")
    assert tuple(path.name for path in first) == NAMES
    assert (jars("iceberg"), len(resolved)) == (first, 1)


def test_jars_are_resolved_once_by_several_processes(resolved, monkeypatch):
    resolve, began = runtime._resolve, threading.Barrier(2, timeout=60)

    def slowly(*arguments):
        time.sleep(0.2)  # long enough for the other to find no jars
        return resolve(*arguments)

    def ask(_):
        began.wait()
        return jars("iceberg")

    monkeypatch.setattr(runtime, "_resolve", slowly)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(ask, range(2))
    assert (first, len(resolved)) == (second, 1)


def test_formats_have_folders_of_their_own(resolved):
    jars("iceberg")
    jars("delta")
    assert len(set(resolved)) == 2


@pytest.mark.parametrize("damaged", ["jars/iceberg.jar", "jars/sqlite.jar", "index.json"])
@pytest.mark.parametrize("is_removed", [False, True])
def test_damaged_jars_are_resolved_again(resolved, damaged, is_removed):
    first = jars("iceberg")
    file = resolved[0] / damaged
    content = file.read_bytes()
    file.unlink()
    if not is_removed:
        file.write_bytes(content[:-1])
    assert (jars("iceberg"), len(resolved)) == (first, 2)
    assert zipfile.is_zipfile(first[0])


def flip_a_byte(jar):
    content = bytearray(jar.read_bytes())
    content[40] ^= 0xFF
    jar.write_bytes(content)


def test_a_damaged_jar_of_the_same_size_is_resolved_again(resolved):
    whole, _ = jars("iceberg")
    sha256 = hashlib.sha256(whole.read_bytes()).hexdigest()
    flip_a_byte(whole)
    assert (jars("iceberg")[0], len(resolved)) == (whole, 2)
    assert hashlib.sha256(whole.read_bytes()).hexdigest() == sha256


def test_the_checksum_of_each_jar_is_known():
    coordinates = [each.split(":") for jars in JARS.values() for each in jars]
    for group, artifact, number in coordinates:
        assert re.fullmatch("[0-9a-f]{64}", runtime.JAR_SHA256[f"{group}_{artifact}-{number}.jar"])


@pytest.fixture
def resolver(tmp_path, monkeypatch):
    """Replaces spark-submit by a script that leaves `names` in the folder and prints `text`."""

    def install(names, text="", exit_code=0, truncated=None):
        def command(coordinates, folder, scratch):
            for name in names:
                write_jar(folder / "jars" / name)
            if truncated:
                (folder / "jars" / truncated).write_bytes(b"PK truncated")
            return ["sh", "-c", 'printf "%s" "$0" >&2; exit "$1"', text, str(exit_code)]

        monkeypatch.setattr(runtime, "_resolver_command", command)
        monkeypatch.setattr(runtime, "use_java", lambda: None)
        return lambda: runtime._resolve(("a:iceberg:1", "b:sqlite:2"), tmp_path / "jars-of-iceberg")

    return install


def test_resolving_keeps_an_index_of_what_came(resolver, tmp_path):
    paths = resolver(NAMES)()
    assert tuple(path.name for path in paths) == NAMES
    assert runtime._cached_jars(tmp_path / "jars-of-iceberg") == paths


@pytest.mark.parametrize(
    ("names", "truncated", "exit_code"), [(NAMES[:1], None, 0), (NAMES, "sqlite.jar", 0), (NAMES, None, 1)]
)
def test_resolving_that_fails_names_the_cause(resolver, tmp_path, names, truncated, exit_code):
    printed = "resolving\nServer access error: java.net.ConnectException: refused\nbye"
    with refused("jars-unavailable") as caught:
        resolver(names, printed, exit_code, truncated)()
    assert "java.net.ConnectException: refused" in str(caught.value)
    assert runtime._cached_jars(tmp_path / "jars-of-iceberg") == ()


def test_a_jar_that_is_not_the_published_one_is_refused_and_removes_nothing(resolver, tmp_path, monkeypatch):
    before = resolver(NAMES)()
    monkeypatch.setattr(runtime, "JAR_SHA256", {"sqlite.jar": "0" * 64})
    with refused("jars-unavailable") as caught:
        resolver(NAMES)()
    came = hashlib.sha256(before[1].read_bytes()).hexdigest()
    assert f"sqlite.jar came with SHA-256 {came}, but Maven Central publishes it with {'0' * 64}" in str(
        caught.value
    )
    assert runtime._cached_jars(tmp_path / "jars-of-iceberg") == before


def test_a_truncated_jar_is_replaced(resolver, tmp_path, monkeypatch):
    truncated = tmp_path / "jars-of-iceberg.new" / "jars" / "iceberg.jar"
    truncated.parent.mkdir(parents=True)
    truncated.write_bytes(b"PK truncated")
    resolve = resolver(())
    fill = "for f in iceberg sqlite; do [ -e $0/$f.jar ] || cp $1 $0/$f.jar; done"
    write_jar(tmp_path / "whole.jar")
    command = ["sh", "-c", f"mkdir -p $0; {fill}", str(truncated.parent), str(tmp_path / "whole.jar")]
    monkeypatch.setattr(runtime, "_resolver_command", lambda *arguments: command)
    assert [zipfile.is_zipfile(path) for path in resolve()] == [True, True]


def test_a_cache_that_cannot_be_written_names_the_setting(resolver, tmp_path):
    (tmp_path / "jars-of-iceberg.new").write_text("in the way")
    with refused("not-writable", tmp_path / "jars-of-iceberg"):
        resolver(())()


def test_the_resolver_asks_for_the_coordinates_and_one_repository(tmp_path, monkeypatch):
    monkeypatch.delenv("COMPACTBENCH_IVY_SETTINGS", raising=False)
    command = runtime._resolver_command(("a:b:1", "c:d:2"), tmp_path / "jars", tmp_path)
    assert command[command.index("--packages") + 1] == "a:b:1,c:d:2"
    assert f"spark.jars.ivySettings={tmp_path / 'ivysettings.xml'}" in command
    assert (tmp_path / "ivysettings.xml").read_text().count("<ibiblio") == 1
    monkeypatch.setenv("COMPACTBENCH_IVY_SETTINGS", "/etc/mirror.xml")
    assert "spark.jars.ivySettings=/etc/mirror.xml" in runtime._resolver_command((), tmp_path, tmp_path)


def test_the_resolver_is_the_spark_that_runs_use(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    command = runtime._resolver_command(("a:b:1",), tmp_path / "jars", tmp_path)
    assert command[0] == "/opt/spark/bin/spark-submit"
