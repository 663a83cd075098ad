"""The engine of one role: a Spark session of its own, on the table that all roles share."""

from dataclasses import replace

from bench.engines.contract import EngineSettings, application_of
from bench.runs.jobs import RoleJob
from bench.runs.settings import engine_settings
from bench.scenario.roles import cores_of
from bench.scenario.scenario import Scenario


def role_settings(scenario: Scenario, job: RoleJob) -> EngineSettings:
    """The settings of the run's engine, with the role's cores, memory and own scratch folder."""
    run = job.run
    settings = engine_settings(scenario, run.strategy, run.work_folder, run_folder=run.run_folder)
    share = scenario.share_of(job.role)
    spark = replace(
        settings.spark,
        master=f"local[{cores_of(scenario, job.role)}]",
        driver_memory_bytes=share.memory_bytes or settings.spark.driver_memory_bytes,
        application=application_of(job.role),
        counts_run_delay=True,
        staging=None,  # on this machine nothing has to be staged
        staging_journal=None,
    )
    return replace(settings, spark=spark, scratch=run.work_folder / job.role, is_shared_table=True)
