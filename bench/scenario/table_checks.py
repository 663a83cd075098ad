"""Checks of a whole scenario: by the format of its tables, and by the Spark that real runs use."""

import os
from collections.abc import Iterator
from dataclasses import replace

from bench.engines.keys import bytes_text
from bench.engines.master import parse_master
from bench.engines.registry import FORMATS
from bench.errors import ScenarioError
from bench.scenario.scenario import Scenario
from bench.scenario.values import KeyPath, OptionError
from strategies.strategy import Rule


def check_tables(scenario: Scenario) -> None:
    """Let the format judge the properties of each strategy's table, keys that name columns, and the rules.

    Raises OptionError.
    """
    for error in _errors(scenario):
        raise error


def _errors(scenario: Scenario) -> Iterator[OptionError]:
    rules_of_format = FORMATS[scenario.table.format].table
    maintenance: list[tuple[KeyPath, Rule]] = [
        (("maintenance", number), replace(rule, delay_ms=0))
        for number, rule in enumerate(scenario.maintenance)
    ]
    for index, spec in enumerate(scenario.strategies):
        table = scenario.table_of(spec)
        if unsuited := rules_of_format.property_problem(table):
            name, problem = unsuited
            place: KeyPath = ("strategies", index) if name in spec.properties else ("table",)
            yield OptionError((*place, "properties", name), problem, table.properties[name])
        if unsuited := rules_of_format.key_problem(table):
            key, problem = unsuited
            yield OptionError(("table", key), problem, getattr(scenario.table.keys, key))
        for path, rule in (*scenario.placed_rules(spec), *maintenance):
            delayed = replace(rule, delay_ms=rule.delay_or(scenario.compaction_delay_ms))
            if refusal := rules_of_format.rule_problem(table, delayed):
                is_own = path[0] == "maintenance" or path[1] == index
                switching = "" if is_own else f" (in strategy {spec.label!r}, which switches to these rules)"
                yield OptionError((*path, "planner"), refusal + switching)


def check_real_resources(scenario: Scenario) -> None:
    """Refuse resource shares that the scenario's Spark, which does everything, cannot honour.

    Raises ScenarioError naming both values. On a cluster Spark decides what a step gets, so that a share can
    only be honoured if the master names the number of cores.
    """
    spark, master = scenario.spark, parse_master(scenario.spark.master)
    cores = master.cores_on(os.cpu_count())
    has = "as many cores as the cluster gives" if cores is None else f"{cores} cores"
    memory_bytes, memory = None, "the memory of its executors"
    if master.kind == "local":
        memory_bytes = spark.driver_memory_bytes
        memory = f'spark.driver_memory = "{bytes_text(memory_bytes)}"'
    for name, share in scenario.resources:
        if share.cores not in (None, cores):
            raise _refusal(
                scenario, f"{name}.cores = {share.cores}", f'spark.master = "{spark.master}" ({has})'
            )
        if share.memory_bytes not in (None, memory_bytes):
            raise _refusal(scenario, f'{name}.memory = "{bytes_text(share.memory_bytes)}"', memory)


def _refusal(scenario: Scenario, share: str, of_spark: str) -> ScenarioError:
    return ScenarioError(
        f"{scenario.name}: resources.{share} cannot be honoured with {of_spark}: one Spark application "
        "writes, compacts and reads. Leave the resource out, set it to what Spark has, or simulate "
        "(`run --simulate`), which honours it"
    )
