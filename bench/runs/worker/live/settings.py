"""The engine of one role: a Spark session of its own, on the table that all roles share.

It is a Spark application in the role's process, or a session of the one that roles share as threads.
"""

from dataclasses import replace

from bench.engines.contract import EngineSettings, application_of
from bench.engines.registry import FORMATS
from bench.runs.jobs import RoleJob, RunJob
from bench.runs.settings import engine_settings
from bench.scenario.roles import READER, cores_of, wanted_cores
from bench.scenario.scenario import Scenario

# Spark forgets the oldest of all roles' stages and jobs, and so their CPU; by default beyond 1000.
_OF_SHARED_APPLICATION = {
    "spark.scheduler.mode": "FAIR",
    "spark.ui.retainedStages": "100000",
    "spark.ui.retainedJobs": "100000",
}


def role_settings(scenario: Scenario, job: RoleJob) -> EngineSettings:
    """The settings of the run's engine, with the role's session and own scratch folder."""
    settings, share = _shared(scenario, job.run), scenario.share_of(job.role)
    if FORMATS[scenario.table.format].engines.roles_are_threads:
        spark = replace(settings.spark, role=job.role)
    else:
        spark = replace(
            settings.spark,
            master=f"local[{cores_of(scenario, job.role)}]",
            driver_memory_bytes=share.memory_bytes or settings.spark.driver_memory_bytes,
            application=application_of(job.role),
            counts_run_delay=True,
        )
    scratch = job.run.work_folder / job.role
    return replace(settings, spark=spark, scratch=scratch, only_reads=job.role == READER)


def application_settings(scenario: Scenario, run: RunJob) -> EngineSettings:
    """The settings of the run's engine, for roles that share an application and all of its cores fairly."""
    settings = _shared(scenario, run)
    spark = replace(
        settings.spark,
        master=f"local[{wanted_cores(scenario)}]",
        conf={**_OF_SHARED_APPLICATION, **settings.spark.conf},
        application=application_of("roles"),
    )
    return replace(settings, spark=spark)


def _shared(scenario: Scenario, run: RunJob) -> EngineSettings:
    """Without staging, since everything is on this machine."""
    settings = engine_settings(scenario, run.strategy, run.work_folder, run_folder=run.run_folder)
    spark = replace(settings.spark, staging=None, staging_journal=None)
    return replace(settings, spark=spark, is_shared_table=True)
