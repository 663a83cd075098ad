"""Making the class archive of a table format: a small scenario in training, and the classes it loaded."""

from dataclasses import replace

from pyspark.sql import SparkSession

from bench.class_archive import ClassArchive, training_options
from bench.engines.contract import EngineSettings
from bench.engines.registry import engine_kind
from bench.runs.jobs import TrainingJob
from bench.runs.run import batches_of
from bench.runs.settings import engine_settings
from bench.runs.warm_up import warm_up
from bench.scenario.scenario import Scenario
from workloads.change_log import ensure_change_log


def train(job: TrainingJob, scenario: Scenario) -> bool:
    """Run the warm-up of a scenario and archive the classes it needs; whether an archive was written."""
    class_list = job.work_folder / "classes.list"
    label = scenario.strategies[0].label
    settings = engine_settings(
        scenario, label, job.work_folder, java_options=(*job.java_flags, *training_options(class_list))
    )
    spark = replace(settings.spark, driver_memory_bytes=job.driver_memory_bytes)
    class_path = _load_classes(scenario, replace(settings, spark=spark, versions=job.versions))
    return ClassArchive(job.archive_file, job.java_flags).write(class_list, class_path)


def _load_classes(scenario: Scenario, settings: EngineSettings) -> str:
    """Commit, query and compact as runs do; returns the class path of the JVM, which ends with it."""
    with engine_kind(scenario.table.format, "real").open(settings) as engine:
        log = ensure_change_log(
            SparkSession.active, settings.folder / "change_logs", scenario.workload, scenario.seed,
            scenario.commits_count, scenario.commit_interval_ms, lambda done, total: None,
        )  # fmt: skip
        batches = tuple(batches_of(scenario, log))
        warm_up(scenario, engine, batches, settings.folder, lambda record: None)
        engine.create()
        engine.commit(batches[0], batches[0].spec.at_ms)
        engine.dump(settings.folder / "dump")
        system = SparkSession.active()._jvm.java.lang.System  # type: ignore[union-attr]
        return str(system.getProperty("java.class.path"))
