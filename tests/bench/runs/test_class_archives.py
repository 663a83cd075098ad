"""The class archives of a suite."""

from dataclasses import replace

import pytest
from scenario_builder import load

from bench import runtime
from bench.class_archive import ClassArchive
from bench.engines.registry import FORMATS
from bench.runs import class_archives
from bench.runs.class_archives import ClassArchives
from bench.runs.warm_up import planners_of
from bench.scenario.load import load_scenario
from strategies.planner import traits_of

OWN_OPTIONS = {"spark.driver.defaultJavaOptions": "-Xint"}


@pytest.fixture
def scenario(tmp_path):
    return load(tmp_path)


@pytest.fixture
def trained():
    """A list with an entry for each training."""
    return []


@pytest.fixture
def archives(tmp_path, trained, monkeypatch):
    """Archives whose trainings succeed at once, and which are found usable once trained."""
    jar = tmp_path / "format.jar"
    jar.write_bytes(b"classes")
    monkeypatch.setenv("COMPACTBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(runtime, "jars", lambda name, line: (jar,))
    monkeypatch.setattr(ClassArchive, "is_usable", lambda archive: archive.file in trained)
    made = ClassArchives(tmp_path / "training", lambda: None)
    monkeypatch.setattr(made, "_train", lambda archive, scenario: trained.append(archive.file) or True)
    return made


def test_runs_of_a_suite_share_one_archive(archives, scenario, trained):
    first = archives.java_options(scenario)
    assert first == archives.java_options(replace(scenario, name="other"))
    assert f"-XX:SharedArchiveFile={trained[0]}" in first
    assert len(trained) == 1


def test_an_archive_of_an_earlier_suite_is_used(archives, scenario, trained):
    archives.java_options(scenario)
    again = ClassArchives(archives._folder, lambda: pytest.fail("trained again"))
    assert again.java_options(scenario) == archives.java_options(scenario)


def test_without_an_archive_all_runs_do_without(archives, scenario, trained, monkeypatch):
    attempts = []
    monkeypatch.setattr(archives, "_train", lambda archive, scenario: attempts.append(archive) and False)
    assert archives.java_options(scenario) == archives.java_options(scenario) == ()
    assert len(attempts) == 1


def test_an_archive_that_java_does_not_map_is_not_used(archives, scenario, monkeypatch):
    monkeypatch.setattr(archives, "_train", lambda archive, scenario: True)  # but it is not found usable
    assert archives.java_options(scenario) == ()


@pytest.mark.parametrize(
    "settings", [OWN_OPTIONS, {"spark.jars": "own.jar"}, {"spark.driver.extraClassPath": "own.jar"}]
)
def test_a_session_that_the_scenario_arranges_has_no_archive(archives, tmp_path, trained, settings):
    assert archives.java_options(load(tmp_path, spark=settings)) == ()
    assert trained == []


@pytest.mark.parametrize("name", [name for name, one in FORMATS.items() if one.engines.training])
def test_a_training_updates_rows_compacts_and_queries_a_table_of_its_format(name):
    training = load_scenario(FORMATS[name].engines.training, class_archives._OVERRIDES)
    assert training.table.format == name
    assert training.workload.is_cdc
    assert training.probes
    assert frozenset().union(*(traits_of(planner).needs for planner in planners_of(training)))


@pytest.mark.spark
def test_training_makes_an_archive_that_java_maps(tmp_path, scenario, monkeypatch):
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "jars").symlink_to(runtime.cache_folder() / "jars")
    monkeypatch.setenv("COMPACTBENCH_CACHE", str(cache))
    trainings = []
    archives = ClassArchives(tmp_path / "training", lambda: trainings.append(1))
    options = archives.java_options(scenario)
    assert options
    wanted = class_archives._wanted(scenario)
    assert wanted.file.stat().st_size > 50 * 2**20
    assert wanted.is_usable()
    assert ClassArchives(tmp_path / "training", lambda: trainings.append(1)).java_options(scenario) == options
    assert trainings == [1]
    assert not (tmp_path / "training").exists()
