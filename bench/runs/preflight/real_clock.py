"""Checks of scenarios with a real clock on real tables, on which each role is a process or a thread."""

import os

import psutil

from bench.engines.format import Engines
from bench.engines.keys import bytes_text, duration_ms_text
from bench.engines.master import parse_master
from bench.engines.registry import FORMATS
from bench.scenario.catalog import catalog_properties
from bench.scenario.roles import COMPACTOR, READER, WRITER, roles_of, wanted_cores
from bench.scenario.scenario import Scenario
from bench.scenario.values import OptionError
from bench.text import human_bytes

# Of a role outside of its heap, in JVM and Python: the least by which resident memory exceeded the heap's
# limit in 13 published runs on Hudi tables that filled a heap of 4 GiB (722 to 809 MiB).
BESIDE_HEAP_BYTES = 720 * 2**20
_IN_MEMORY = (":memory:", ":mem:", "mode=memory", "InMemoryCatalog")  # of JDBC drivers and of Iceberg


def check_real_clock(scenario: Scenario) -> None:
    """Raises OptionError for what roles that work at the same time cannot do, or have no room for."""
    _check_rules(scenario)
    _check_keys(scenario)
    _check_tables(scenario)
    if _engines(scenario).roles_are_threads:
        _check_shares(scenario)
        _check_executors(scenario)
    _check_size(scenario)


def check_simulated_clock(scenario: Scenario) -> None:
    """Raises OptionError for what only roles at real time have."""
    if scenario.roles.pin:
        problem = "binds processes to cores, and a simulation has none: leave it out"
        raise OptionError(("roles", "pin"), problem, True, code="unsupported")
    if (count := scenario.roles.compactors_count) > 1:
        problem = "counts processes, and a simulation has one compactor: leave it out"
        raise OptionError(("roles", "compactor", "count"), problem, count, code="unsupported")


def _check_keys(scenario: Scenario) -> None:
    if parse_master(scenario.spark.master).kind != "local":
        why = "starts each role on this machine, so it needs a local master: leave spark.master out"
        raise OptionError(("clock",), why, "real", code="unsupported")
    if (count := scenario.roles.compactors_count) > 1 and not _engines(scenario).shares_compaction:
        why = f"several compactors cannot share the plans of {_title(scenario)} tables: leave it out"
        raise OptionError(("roles", "compactor", "count"), why, count, code="unsupported")
    properties = catalog_properties(scenario)
    for key, value in properties.values():
        if any(mark in value for mark in _IN_MEMORY):
            why = (
                "keeps tables in the memory of one process, but each role is a process of its own: name a "
                "catalog that all roles can open"
            )
            raise OptionError(key, why, value, code="unsupported")
    cached = properties.get("cache-enabled")
    if cached is not None and cached[1].lower() == "true":
        key, value = cached
        why = "would let a role read an outdated table after another role has changed it: leave it out"
        raise OptionError(key, why, value, code="unsupported")
    if scenario.page_cache is not None:
        why = 'would drop the page cache while others read: leave it out, or set clock = "virtual"'
        raise OptionError(("page_cache",), why, scenario.page_cache, code="unsupported")


def _check_rules(scenario: Scenario) -> None:
    """Refuse manners that the clock itself has: a compaction takes the time that it takes."""
    why = 'is only for clock = "virtual"; with clock = "real", roles do work at the same time: leave it out'
    if scenario.compaction_delay_ms:
        delay = duration_ms_text(scenario.compaction_delay_ms)
        raise OptionError(("compaction_delay",), why, delay, code="redundant")
    for index, spec in enumerate(scenario.strategies):
        for number, rule in enumerate(spec.strategy.rules):
            keys = {"delay": bool(rule.delay_ms), "inline": rule.is_inline}
            key = next((name for name, is_set in keys.items() if is_set), None)
            if key is not None:
                path = ("strategies", index, "rules", number, key)
                raise OptionError(path, why, code="redundant")


def _check_tables(scenario: Scenario) -> None:
    for index, spec in enumerate(scenario.strategies):
        why = _engines(scenario).at_once_problem(scenario.table_of(spec), scenario.spark.settings)
        if why is not None:
            raise OptionError(("strategies", index), why, spec.label, code="unsupported")


def _check_shares(scenario: Scenario) -> None:
    """What a thread cannot have for itself."""
    if scenario.roles.pin:
        why = f"binds processes to cores, and roles on {_title(scenario)} tables share one: leave it out"
        raise OptionError(("roles", "pin"), why, True, code="unsupported")
    for role in (WRITER, COMPACTOR, READER):
        memory_bytes = scenario.share_of(role).memory_bytes
        if memory_bytes is not None:
            why = (
                f"roles on {_title(scenario)} tables share one JVM: leave it out, and set spark.driver_memory"
            )
            path = ("resources", role, "memory")
            raise OptionError(path, why, bytes_text(memory_bytes), code="unsupported")


def _check_executors(scenario: Scenario) -> None:
    """An executor that commits from outside of the JVM in which the roles are safe from each other."""
    for index, spec in enumerate(scenario.strategies):
        for number, rule in enumerate(spec.strategy.rules):
            if rule.executor is not None:
                why = (
                    f"commits to {_title(scenario)} tables by itself, and others could overwrite its version "
                    "at the same time: leave it out"
                )
                path = ("strategies", index, "rules", number, "executor")
                raise OptionError(path, why, rule.executor, code="unsupported")


def _engines(scenario: Scenario) -> Engines:
    return FORMATS[scenario.table.format].engines


def _title(scenario: Scenario) -> str:
    return FORMATS[scenario.table.format].words.title


def _check_size(scenario: Scenario) -> None:
    fewer = ", roles.compactor.count" if scenario.roles.compactors_count > 1 else ""
    shares = [scenario.share_of(role) for role in roles_of(scenario)]
    cores, here = wanted_cores(scenario), len(os.sched_getaffinity(0))
    if cores > here and scenario.roles.pin:
        why = f"needs {cores} cores, this machine has {here}: lower resources.*.cores{fewer}, or leave it out"
        raise OptionError(("roles", "pin"), why, True, code="too-many-cores")
    if cores > here and not scenario.roles.oversubscribe:
        why = (
            f"the roles want {cores} cores, and this machine has {here}: lower resources.*.cores{fewer}, or "
            "set roles.oversubscribe = true"
        )
        raise OptionError(("roles",), why, code="too-many-cores")
    jvm_bytes = scenario.spark.driver_memory_bytes
    is_one_jvm = _engines(scenario).roles_are_threads
    wanted = [jvm_bytes] if is_one_jvm else [one.memory_bytes or jvm_bytes for one in shares]
    heaps, beside = sum(wanted), len(wanted) * BESIDE_HEAP_BYTES
    memory_bytes = psutil.virtual_memory().total
    if heaps + beside > memory_bytes:
        why = (
            f"the heaps of the roles take {human_bytes(heaps)} when they are full and their processes "
            f"{human_bytes(beside)} more, and this machine has {human_bytes(memory_bytes)}: lower "
            f"resources.*.memory{fewer} or spark.driver_memory"
        )
        raise OptionError(("resources",), why, code="too-much-memory")
