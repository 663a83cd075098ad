"""Class archives: which one fits what, and a real one from training to use."""

import os
from pathlib import Path

import pytest

from bench import class_archive, runtime
from bench.class_archive import KEPT_COUNT, ClassArchive, archive_of
from bench.engines.contract import SparkSettings
from bench.engines.spark.conf import DEFAULT_OPTIONS, EXTRA_OPTIONS, is_on_class_path, jars_conf, java_options

GIB = 2**30
PLAIN = "-XX:-UseDynamicNumberOfCompilerThreads -Duser.timezone=UTC"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPACTBENCH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def jar(tmp_path):
    path = tmp_path / "format.jar"
    path.write_bytes(b"classes")
    return path


def test_an_archive_is_found_again(jar):
    assert archive_of([jar], PLAIN, 4 * GIB) == archive_of([jar], PLAIN, 8 * GIB)
    assert archive_of([jar], PLAIN, 4 * GIB).flags == ("-XX:-UseDynamicNumberOfCompilerThreads",)


def test_another_jar_flag_or_layout_needs_another_archive(jar):
    archive = archive_of([jar], PLAIN, 4 * GIB)
    assert archive_of([], PLAIN, 4 * GIB).file != archive.file
    assert archive_of([jar], f"{PLAIN} -XX:+UseSerialGC", 4 * GIB).file != archive.file
    assert archive_of([jar], PLAIN, 32 * GIB).file != archive.file
    os.utime(jar, ns=(0, 0))
    assert archive_of([jar], PLAIN, 4 * GIB).file != archive.file


def test_options_that_are_no_flags_are_not_looked_at(jar):
    assert archive_of([jar], f"{PLAIN} -Dpassword=planted", 4 * GIB) == archive_of([jar], PLAIN, 4 * GIB)


def test_another_java_needs_another_archive(jar, monkeypatch):
    archive = archive_of([jar], PLAIN, 4 * GIB)
    monkeypatch.setattr(runtime, "java_version", lambda home: "17.0.99")
    assert archive_of([jar], PLAIN, 4 * GIB).file != archive.file


@pytest.mark.parametrize("facts", [None, "{}", "no json", '{"class_path": "x.jar"}'])
def test_an_archive_that_is_missing_or_damaged_is_not_usable(tmp_path, facts):
    archive = ClassArchive(tmp_path / "a.jsa", ())
    if facts is not None:
        archive.file.write_bytes(b"not an archive")
        archive.file.with_suffix(".json").write_text(facts)
    assert not archive.is_usable()


def test_a_failed_dump_leaves_nothing_behind(tmp_path, monkeypatch):
    archive = ClassArchive(tmp_path / "classes" / "a.jsa", ())
    monkeypatch.setattr(class_archive, "_java", lambda *arguments: False)
    assert not archive.write(tmp_path / "classes.list", "x.jar")
    assert list((tmp_path / "classes").iterdir()) == []


def test_the_archives_that_were_used_last_are_kept(tmp_path, monkeypatch):
    folder = tmp_path / "classes"
    folder.mkdir()
    for age in range(KEPT_COUNT + 1):
        old = folder / f"{age}.jsa"
        old.write_bytes(b"classes")
        old.with_suffix(".json").write_text("{}")
        os.utime(old, (1000 - age, 1000 - age))

    def dump(*arguments):
        part = next(word for word in arguments if word.startswith("-XX:SharedArchiveFile="))
        Path(part.partition("=")[2]).write_bytes(b"classes")
        return True

    monkeypatch.setattr(class_archive, "_java", dump)
    assert ClassArchive(folder / "new.jsa", ()).write(tmp_path / "classes.list", "x.jar")
    kept = {"new", *map(str, range(KEPT_COUNT - 1))}
    assert {file.stem for file in folder.glob("*.jsa")} == kept
    assert {file.stem for file in folder.glob("*.json")} == kept


@pytest.mark.parametrize(
    ("settings", "key", "own"),
    [
        (SparkSettings(), "spark.driver.extraClassPath", ""),
        (SparkSettings(master="spark://host:7077"), "spark.jars", ""),  # executors need them, too
        (SparkSettings(conf={"spark.jars": "a.jar, b.jar"}), "spark.jars", "a.jar,b.jar,"),
        (SparkSettings(conf={"spark.driver.extraClassPath": "own.jar"}), "spark.jars", ""),
    ],
)
def test_jars_are_on_the_class_path_of_a_local_session_unless_a_scenario_sets_it(jar, settings, key, own):
    assert jars_conf(settings, [jar]) == {key: f"{own}{jar}"}
    assert is_on_class_path(settings) == (key == "spark.driver.extraClassPath")


def test_the_options_of_a_session_are_ours_and_the_scenarios():
    assert java_options(SparkSettings()) == PLAIN
    assert java_options(SparkSettings(conf={EXTRA_OPTIONS: "-Da=b"})).endswith("Threads -Da=b")
    assert java_options(SparkSettings(conf={DEFAULT_OPTIONS: "-Da=b"})) is None
