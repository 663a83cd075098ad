"""What the format makes of a scenario's tables and rules, and Spark of its resources."""

import os
from dataclasses import replace
from typing import NoReturn

from bench.engines.keys import bytes_text
from bench.engines.registry import FORMATS
from bench.engines.spark.master import parse_master
from bench.errors import ScenarioError
from bench.scenario.scenario import Scenario
from bench.scenario.values import KeyPath, OptionError


def check_tables(scenario: Scenario) -> None:
    """Let the format judge the properties of each strategy's table, keys that name columns, and the rules.

    Raises OptionError.
    """
    judge = FORMATS[scenario.table.format].table
    maintenance = [
        (("maintenance", number), replace(rule, delay_ms=0))
        for number, rule in enumerate(scenario.maintenance)
    ]
    for index, spec in enumerate(scenario.strategies):
        table = scenario.table_of(spec)
        unsuited = judge.property_problem(table)
        if unsuited is not None:
            name, problem = unsuited
            place: KeyPath = ("strategies", index) if name in spec.properties else ("table",)
            raise OptionError((*place, "properties", name), problem, table.properties[name])
        found = judge.key_problem(table)
        if found is not None:
            key, problem = found
            raise OptionError(("table", key), problem, getattr(scenario.table.keys, key))
        for path, rule in (*scenario.placed_rules(spec), *maintenance):
            delayed = replace(rule, delay_ms=rule.delay_or(scenario.compaction_delay_ms))
            refusal = judge.rule_problem(table, delayed)
            if refusal is not None:
                is_own = path[0] == "maintenance" or path[1] == index
                of_table = "" if is_own else f" (in strategy {spec.label!r}, which switches to these rules)"
                raise OptionError((*path, "planner"), refusal + of_table)


def check_real_resources(scenario: Scenario) -> None:
    """Refuse resource shares that the scenario's Spark, which does everything, cannot honour.

    Raises ScenarioError naming both values. On a cluster Spark decides what a step gets, so that a share can
    only be honoured where the master says how many cores there are.
    """
    master = parse_master(scenario.spark.master)
    cores = master.cores_on(os.cpu_count())
    has = "as many cores as the cluster gives" if cores is None else f"{cores} cores"
    memory_bytes = scenario.spark.driver_memory_bytes if master.kind == "local" else None
    memory = (
        "the memory of its executors"
        if memory_bytes is None
        else f'spark.driver_memory = "{bytes_text(memory_bytes)}"'
    )
    for name, share in scenario.resources:
        if share.cores not in (None, cores):
            given = f"{name}.cores = {share.cores}"
            _refuse_share(scenario, given, f'spark.master = "{scenario.spark.master}" ({has})')
        if share.memory_bytes not in (None, memory_bytes):
            _refuse_share(scenario, f'{name}.memory = "{bytes_text(share.memory_bytes)}"', memory)


def _refuse_share(scenario: Scenario, given: str, of_spark: str) -> NoReturn:
    raise ScenarioError(
        f"{scenario.name}: resources.{given} cannot be honoured with {of_spark}: one Spark application "
        "writes, compacts and reads. Leave the resource out, set it to what Spark has where that is known, "
        "or simulate (`run --simulate`), which honours it"
    )
