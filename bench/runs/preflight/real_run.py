"""Checks of scenarios that are to run on real tables: what only a simulation or another machine can do."""

import os
from collections.abc import Mapping

from bench.engines.keys import bytes_text
from bench.engines.master import parse_master
from bench.runs.preflight.real_clock import check_real_clock
from bench.scenario.scenario import Scenario
from bench.scenario.values import KeyPath, OptionError
from workloads.history import History


def check_real_run(scenario: Scenario) -> None:
    """Raises OptionError for keys that cannot be honoured."""
    _check_rows(scenario)
    _check_machine(scenario)
    if scenario.has_real_clock:
        check_real_clock(scenario)
    else:
        _check_resources(scenario)
    _check_page_cache(scenario)


def _check_rows(scenario: Scenario) -> None:
    """Refuse an imported table."""
    if isinstance(scenario.workload, History):
        problem = "the history of a table has files and no rows, so it can only be simulated: add --simulate"
        raise OptionError(("workload", "type"), problem, "history", code="unsupported")


def _check_machine(scenario: Scenario) -> None:
    """Refuse another machine than this one, and another JVM than a new one."""
    modelled: Mapping[KeyPath, object] = {
        ("jvm",): scenario.jvm,
        ("resources", "core_speed"): scenario.resources.core_speed,
        ("resources", "shared_cores"): scenario.resources.shared_cores,
    }
    for path, value in modelled.items():
        if value is not None:
            problem = "only a simulation can have that: leave it out, or add --simulate"
            raise OptionError(path, problem, value, code="unsupported")


def _check_resources(scenario: Scenario) -> None:
    """Refuse shares of resources that the scenario's Spark application, which does everything, cannot honour.

    On a cluster Spark assigns the cores of a step, so `cores` must equal what the master names.
    """
    spark, master = scenario.spark, parse_master(scenario.spark.master)
    cores = master.cores_on(os.cpu_count())
    available = "as many cores as the cluster gives" if cores is None else f"{cores} cores"
    memory_bytes, memory = None, "the memory of its executors"
    if master.kind == "local":
        memory_bytes = spark.driver_memory_bytes
        memory = f'spark.driver_memory = "{bytes_text(memory_bytes)}"'
    for name in ("writer", "compactor", "reader"):
        share = getattr(scenario.resources, name)
        if share.cores not in (None, cores):
            of_spark = f'spark.master = "{spark.master}" ({available})'
            raise _dishonoured(name, "cores", share.cores, of_spark)
        if share.memory_bytes not in (None, memory_bytes):
            raise _dishonoured(name, "memory", bytes_text(share.memory_bytes), memory)


def _dishonoured(role: str, key: str, share: int | str, of_spark: str) -> OptionError:
    problem = (
        f"cannot be honoured with {of_spark}: one Spark application writes, compacts and reads. Leave the "
        "resource out, set it to what Spark has, or simulate (`run --simulate`), which honours it"
    )
    return OptionError(("resources", role, key), problem, share, code="resources-not-honoured")


def _check_page_cache(scenario: Scenario) -> None:
    """Refuse to drop the page cache of other machines."""
    is_local = parse_master(scenario.spark.master).kind == "local"
    if scenario.page_cache is not None and (scenario.catalog is not None or not is_local):
        problem = (
            "needs tables and readers on this machine: leave it out, or leave out catalog and spark.master"
        )
        raise OptionError(("page_cache",), problem, scenario.page_cache, code="page-cache-elsewhere")
