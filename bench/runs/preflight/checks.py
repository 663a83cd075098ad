"""What is checked before a run starts: capabilities, resources, Java, jars, disk space and a first table."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import psutil

from bench.engines import runtime
from bench.engines.executor import OWN
from bench.engines.keys import bytes_text, value_text
from bench.engines.master import parse_master
from bench.engines.registry import FORMATS, engine_kind
from bench.errors import MissingRuntimeError, ScenarioError
from bench.results.records import Mode
from bench.runs.preflight.places import check_places
from bench.runs.preflight.space import check_space
from bench.runs.suite.cases import PlannedRun
from bench.scenario.catalog import catalog_setting, configured_catalog, has_shared_catalog
from bench.scenario.plugins import name_of
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec
from bench.scenario.table_checks import check_real_resources
from bench.scenario.values import path_text
from bench.scenario.variants import BASE, Variant
from bench.text import human_bytes
from strategies.plan import Capability
from strategies.planner import traits_of
from strategies.strategy import Rule

_KEYS: Mapping[str, str] = {  # the key of a scenario that needs it, where its name is not that key
    Capability.MERGE: "writer.upsert_mode",
    Capability.ROW_FILTER: "where",
}
# Keys that change nothing in a simulation; the first two are Spark's own settings, of which it may heed some.
_OF_REAL_RUNS = ('spark."spark.', "spark.spark.", "catalog", "warm_up_rounds")
_REMEDIES: Mapping[Mode, str] = {"real": "", "simulated": ". Change it, or run without --simulate"}


def check(planned: Sequence[PlannedRun], out: Path, *, keep_tables: bool) -> None:
    """Raises ScenarioError or MissingRuntimeError for anything that could not work."""
    chosen = {(run.source.scenario.name, run.spec.label) for run in planned}
    for scenario, mode in _scenarios(planned):
        specs = [spec for spec in scenario.strategies if (scenario.name, spec.label) in chosen]
        check_supported(scenario, mode, specs)
    real = [run for run in planned if run.mode == "real"]
    if real:
        _check_real(real, out, keep_tables=keep_tables)


def _scenarios(planned: Sequence[PlannedRun]) -> Iterable[tuple[Scenario, Mode]]:
    """Each scenario in each of its variants once."""
    found = ((run.source.scenario, run.mode) for run in planned)
    return {(scenario.name, scenario.variant_label): (scenario, mode) for scenario, mode in found}.values()


def _check_real(planned: Sequence[PlannedRun], out: Path, *, keep_tables: bool) -> None:
    _check_folder(out, "choose another --out")
    _check_folder(runtime.cache_folder(), "set COMPACTBENCH_CACHE to another folder")
    home = runtime.java_home()
    scenarios = [scenario for scenario, _ in _scenarios(planned)]
    for scenario in scenarios:
        _check_memory(scenario)
        _check_modules(scenario, home)
    for table_format, line in {(scenario.table.format, scenario.versions) for scenario in scenarios}:
        runtime.jars(table_format, line)
    check_space(planned, out, keep_tables=keep_tables)
    check_places(planned, out)


def _check_folder(folder: Path, remedy: str) -> None:
    """Spark reads paths as URIs and as patterns, and its scratch folders as a list; DuckDB reads patterns."""
    reserved = sorted(set(str(folder)) & set("%#?*[]{},"))
    if reserved:
        raise ScenarioError(
            f"{folder}: Spark and DuckDB would misread {' '.join(reserved)} in the paths of tables; {remedy}"
        )


def _check_memory(scenario: Scenario) -> None:
    """Java would not start, or the machine would swap."""
    asked_bytes, total_bytes = scenario.spark.driver_memory_bytes, psutil.virtual_memory().total
    if asked_bytes > total_bytes:
        raise ScenarioError(
            f'{scenario.name}: spark.driver_memory = "{bytes_text(asked_bytes)}": this machine has '
            f"{human_bytes(total_bytes)}; lower it"
        )


def _check_modules(scenario: Scenario, home: Path) -> None:
    """Without such a module the run would fail when it first reaches its catalog."""
    catalog = FORMATS[scenario.table.format].catalog
    for module in catalog.needed_java_modules(configured_catalog(scenario).properties):
        modules = runtime.java_modules(home)
        if modules is not None and module not in modules:
            raise MissingRuntimeError(
                f"{scenario.name}: {catalog.java_modules[module]} needs the module {module} of Java, "
                f"which the one at {home} does not have: {runtime.INSTALL_FULL_JDK}"
            )


def check_supported(scenario: Scenario, mode: Mode, specs: Iterable[StrategySpec]) -> None:
    """Raises ScenarioError for writers, resources, or any of these strategies that the engine lacks."""
    if mode == "real":
        check_real_resources(scenario)
        _check_catalog(scenario)
    elif scenario.variant is not None:
        _check_modelled(scenario, scenario.variant)
    _check_settings(scenario, mode)
    needs = scenario.needs()
    for spec in specs:
        rules = scenario.rules_of(spec)
        _check_needs(scenario, mode, f"strategy {spec.label!r}", needs[spec.label], rules)
        _check_executors(scenario, mode, spec.label, rules)
    _check_needs(scenario, mode, "maintenance", scenario.maintenance_needs(), scenario.maintenance)


def _check_catalog(scenario: Scenario) -> None:
    """Of the default catalog only caches may be set: its tables are in the run's folder, and go with it.

    Of another, what would put the tables of runs among those of others is refused.
    """
    properties, table_format = configured_catalog(scenario).properties, FORMATS[scenario.table.format]
    others = sorted(key for key in properties if not key.startswith("cache"))
    if others and not has_shared_catalog(scenario):
        raise ScenarioError(
            f"{scenario.name}: catalog.properties.type is missing, without which {', '.join(others)} would "
            "be of the default catalog, which lies in the run's folder: set it to one of "
            f"{', '.join(sorted(table_format.catalog.types))}, or set a catalog-impl"
        )
    found = table_format.catalog.problem(properties)
    if found is not None:
        name, problem = found
        path, value = catalog_setting(scenario, name)
        raise ScenarioError(f"{scenario.name}: {path_text(path)} = {value_text(value)}: {problem}")


def _check_modelled(scenario: Scenario, variant: Variant) -> None:
    """Refuse a variant that a simulation would show as equal, since it does not know what is set."""
    heeded = engine_kind(scenario.table.format, "simulated").heeded_settings
    ignored = (key for key in variant.changes if key.startswith(_OF_REAL_RUNS))
    unknown = [key for key in ignored if key.removeprefix("spark.").strip('"') not in heeded]
    if "spark.master" in variant.changes and parse_master(scenario.spark.master).cores is None:
        unknown.append(f'spark.master = "{scenario.spark.master}"')
    unknown += [f"versions = {variant.versions!r}"] if variant.versions else []
    if unknown:
        raise ScenarioError(
            f"{scenario.name}: variant {variant.label!r} sets {', '.join(unknown)}, which a simulation does "
            f"not model: choose others with --only variant=LABEL ({BASE} is the scenario as it is), or run "
            "without --simulate"
        )


def _check_settings(scenario: Scenario, mode: Mode) -> None:
    """Refuse settings of Spark that decide which files there are, and that the engine does not heed."""
    kind = engine_kind(scenario.table.format, mode)
    for name, value in scenario.spark.settings.items():
        problem = kind.setting_problem(name)
        if problem is not None:
            raise ScenarioError(f'{scenario.name}: spark."{name}" = {value_text(value)}: {problem}')


def _check_needs(
    scenario: Scenario, mode: Mode, part: str, needs: frozenset[str], rules: Iterable[Rule]
) -> None:
    able, words = engine_kind(scenario.table.format, mode).capabilities, FORMATS[scenario.table.format].words
    missing = sorted(needs - able)
    if missing:
        asked_by = {**_planners(rules), **_KEYS, **words.asked_by}
        needed = ", ".join(f"{name} ({asked_by[name]})" if name in asked_by else name for name in missing)
        instead = [f". Instead of {name}: {words.instead[name]}" for name in missing if name in words.instead]
        raise ScenarioError(
            f"{scenario.name}: {part} needs {needed}, which the {mode} {scenario.table.format} engine "
            f"does not support; it supports {', '.join(sorted(able))}{''.join(instead) or _REMEDIES[mode]}"
        )


def _check_executors(scenario: Scenario, mode: Mode, label: str, rules: Iterable[Rule]) -> None:
    """Refuse an executor that the engine does not have, or that cannot execute what a rule may plan."""
    executors = engine_kind(scenario.table.format, mode).executors
    for rule in rules:
        if rule.executor in (None, OWN):
            continue
        where = f"{scenario.name}: strategy {label!r}: executor = {rule.executor!r}"
        if rule.executor not in executors:
            raise ScenarioError(
                f"{where}: the {mode} {scenario.table.format} engine has no such executor{_REMEDIES[mode]}"
            )
        missing = sorted(traits_of(rule.planner).needs - executors[rule.executor])
        if missing:
            raise ScenarioError(
                f"{where} cannot execute {', '.join(missing)}, which planner {name_of(type(rule.planner))} "
                f"may plan; it executes {', '.join(sorted(executors[rule.executor]))}: use another planner, "
                "or leave the executor out"
            )


def _planners(rules: Iterable[Rule]) -> dict[str, str]:
    """By capability, the planner that needs it, unless it has the same name."""
    planners = {name_of(type(rule.planner)): traits_of(rule.planner).needs for rule in rules}
    return {need: f"planner {name}" for name, needs in planners.items() for need in needs if need != name}
