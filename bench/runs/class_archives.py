"""The class archives of a suite: made before the first run that uses them, so that all runs start alike."""

import shutil
from collections.abc import Callable
from pathlib import Path

from bench import runtime
from bench.class_archive import ClassArchive, archive_of
from bench.engines.registry import FORMATS
from bench.engines.spark.conf import is_on_class_path, java_options
from bench.runs.jobs import TrainingJob
from bench.runs.processes import worker
from bench.runs.settings import engine_settings
from bench.scenario.load import load_scenario
from bench.scenario.scenario import Scenario

# A training is to load classes, not to do work.
_OVERRIDES = ("duration=2min", "workload.initial_rows=2000", "warm_up_rounds=1")
LOG = "training.log"


class ClassArchives:
    """Finds or makes archives; `folder` is for the training, and `on_training` is called when one begins.

    An archive only saves time. Where there is none, or it does not fit, no run of the suite uses one.
    """

    def __init__(self, folder: Path, on_training: Callable[[], None]) -> None:
        self._folder, self._on_training = folder, on_training
        self._known: dict[Path, tuple[str, ...]] = {}

    def java_options(self, scenario: Scenario) -> tuple[str, ...]:
        """The options of the JVM that make the scenario's runs use their archive; none if they have none."""
        archive = _wanted(scenario)
        if archive is None:
            return ()
        if archive.file not in self._known:
            usable = archive.is_usable() or (self._train(archive, scenario) and archive.is_usable())
            self._known[archive.file] = archive.options if usable else ()
        return self._known[archive.file]

    def _train(self, archive: ClassArchive, scenario: Scenario) -> bool:
        """Make the archive in a worker process; whether that succeeded."""
        self._on_training()
        name = FORMATS[scenario.table.format].engines.training
        assert name is not None  # noqa: S101  otherwise no archive is wanted
        training = load_scenario(name, _OVERRIDES)
        self._folder.mkdir(parents=True, exist_ok=True)
        job = TrainingJob(
            scenario=name,
            overrides=_OVERRIDES,
            scenario_hash=training.hash,
            work_folder=self._folder,
            archive_file=archive.file,
            java_flags=archive.flags,
            versions=scenario.versions,
            driver_memory_bytes=scenario.spark.driver_memory_bytes,
        )
        with worker(job, self._folder / LOG) as process:
            exit_code = process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
        return exit_code == 0


def _wanted(scenario: Scenario) -> ClassArchive | None:
    """The archive for a scenario's runs; None where its format or its settings rule one out."""
    spark = engine_settings(scenario, scenario.strategies[0].label, Path()).spark
    options = java_options(spark)
    if (
        FORMATS[scenario.table.format].engines.training is None
        or options is None
        or not is_on_class_path(spark)
    ):
        return None
    return archive_of(
        runtime.jars(scenario.table.format, scenario.versions), options, spark.driver_memory_bytes
    )
