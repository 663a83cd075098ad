"""Checks of scenarios with a real clock on real tables, on which each role is a process."""

import os

import psutil

from bench.engines.keys import bytes_text
from bench.engines.master import parse_master
from bench.engines.registry import FORMATS
from bench.scenario.roles import cores_of, roles_of
from bench.scenario.scenario import Scenario
from bench.scenario.values import OptionError
from bench.text import human_bytes


def check_real_clock(scenario: Scenario) -> None:
    """Raises ScenarioError for what roles that are processes cannot do, or have no room for."""
    refusals = (_refused_rule(scenario), _refused_key(scenario), _too_large(scenario))
    for error in filter(None, refusals):
        raise error.within(scenario.name)


def check_simulated_clock(scenario: Scenario) -> None:
    """Raises ScenarioError for what only processes at real time have."""
    if scenario.roles.pin:
        problem = "binds processes to cores, and a simulation has none: leave it out"
        raise OptionError(("roles", "pin"), problem, True, code="unsupported").within(scenario.name)


def _refused_key(scenario: Scenario) -> OptionError | None:
    refused = FORMATS[scenario.table.format].engines.processes_refused
    if refused is not None:
        return OptionError(("clock",), f"{refused}: add --simulate", "real", code="unsupported")
    if parse_master(scenario.spark.master).kind != "local":
        why = "starts each role on this machine, so it needs a local master: leave spark.master out"
        return OptionError(("clock",), why, "real", code="unsupported")
    if scenario.page_cache is not None:
        why = 'would drop the page cache while others read: leave it out, or set clock = "virtual"'
        return OptionError(("page_cache",), why, scenario.page_cache, code="unsupported")
    return None


def _refused_rule(scenario: Scenario) -> OptionError | None:
    """A rule with a manner that the clock itself has: a compaction takes the time that it takes."""
    for index, spec in enumerate(scenario.strategies):
        for number, rule in enumerate(spec.strategy.rules):
            keys = {"delay": bool(rule.delay_ms), "concurrent": rule.is_concurrent, "inline": rule.is_inline}
            key = next((name for name, is_set in keys.items() if is_set), None)
            if key is not None:
                why = "emulates what a real clock does: leave it out, since roles work at the same time"
                path = ("strategies", index, "rules", number, key)
                return OptionError(path, why, code="redundant")
    return None


def _too_large(scenario: Scenario) -> OptionError | None:
    shares = [scenario.share_of(role) for role in roles_of(scenario)]
    cores, here = sum(cores_of(scenario, role) for role in roles_of(scenario)), len(os.sched_getaffinity(0))
    if cores > here and scenario.roles.pin:
        why = f"needs cores of its own for each role: {cores}, and this machine has {here}"
        return OptionError(("roles", "pin"), why, True, code="too-many-cores")
    if cores > here and not scenario.roles.oversubscribe:
        why = (
            f"the roles want {cores} cores, and this machine has {here}: lower resources.*.cores, or set "
            "roles.oversubscribe = true"
        )
        return OptionError(("roles",), why, code="too-many-cores")
    wanted = sum(share.memory_bytes or scenario.spark.driver_memory_bytes for share in shares)
    memory_bytes = psutil.virtual_memory().total
    if wanted > memory_bytes:
        why = (
            f"the roles want {bytes_text(wanted)}, and this machine has {human_bytes(memory_bytes)}: lower "
            "resources.*.memory or spark.driver_memory"
        )
        return OptionError(("resources",), why, code="too-much-memory")
    return None
