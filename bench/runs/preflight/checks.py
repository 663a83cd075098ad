"""The checks before a run: capabilities, resources, Java, jars, disk space and a first table."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import psutil

from bench.engines import runtime
from bench.engines.keys import bytes_text, value_text
from bench.engines.master import parse_master
from bench.engines.registry import FORMATS, engine_kind
from bench.engines.simulated.costs import shipped_file
from bench.engines.simulated.steps import Operation
from bench.errors import MissingRuntimeError, ScenarioError
from bench.results.records import Mode
from bench.runs.preflight.places import check_places
from bench.runs.preflight.real_clock import check_simulated_clock
from bench.runs.preflight.real_run import check_real_run
from bench.runs.preflight.space import check_space
from bench.runs.suite.cases import PlannedRun
from bench.scenario.catalog import catalog_properties, configured_catalog, has_shared_catalog
from bench.scenario.plugins import name_of
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec
from bench.scenario.values import OptionError, path_text
from bench.scenario.variants import BASE, Variant
from bench.text import human_bytes
from strategies.plan import Capability
from strategies.planner import traits_of
from strategies.strategy import Rule

_KEYS: Mapping[str, str] = {  # the scenario's key that needs a capability
    Capability.MERGE: "writer.upsert_mode",
    Capability.ROW_FILTER: "where",
}
# Keys that change nothing in a simulation; the first two are Spark's own settings, of which it may read some.
_OF_REAL_RUNS = ('spark."spark.', "spark.spark.", "catalog", "compaction_memory", "warm_up_rounds")
_REMEDIES: Mapping[Mode, str] = {"real": "", "simulated": ". Change it, or run without --simulate"}


def check(planned: Sequence[PlannedRun], out: Path, *, keep_tables: bool) -> None:
    """Raises ScenarioError or MissingRuntimeError for runs that cannot work."""
    chosen = {(run.scenario.name, run.spec.label) for run in planned}
    for scenario, mode in _scenarios(planned):
        specs = [spec for spec in scenario.strategies if (scenario.name, spec.label) in chosen]
        check_supported(scenario, mode, specs)
    real = [run for run in planned if run.mode == "real"]
    if real:
        _check_real(real, out, keep_tables=keep_tables)


def _scenarios(planned: Sequence[PlannedRun]) -> Iterable[tuple[Scenario, Mode]]:
    """Each scenario once in each of its variants."""
    pairs = ((run.scenario, run.mode) for run in planned)
    return {(scenario.name, scenario.variant_label): (scenario, mode) for scenario, mode in pairs}.values()


def _check_real(planned: Sequence[PlannedRun], out: Path, *, keep_tables: bool) -> None:
    _check_folder(out, "choose another --out")
    _check_folder(runtime.cache_folder(), "set COMPACTBENCH_CACHE to another folder")
    home = runtime.java_home()
    scenarios = [scenario for scenario, _ in _scenarios(planned)]
    for scenario in scenarios:
        _check_memory(scenario)
        _check_modules(scenario, home)
    for table_format in {scenario.table.format for scenario in scenarios}:
        runtime.jars(table_format)
    check_space(planned, out, keep_tables=keep_tables)
    check_places(planned, out)


def _check_folder(folder: Path, remedy: str) -> None:
    """Spark reads paths as URIs and as patterns, and its scratch folders as a list; DuckDB reads patterns."""
    reserved = sorted(set(str(folder)) & set("%#?*[]{},"))
    if reserved:
        problem = f"Spark and DuckDB would misread {' '.join(reserved)} in the paths of tables: {remedy}"
        raise ScenarioError(problem, code="bad-name", path=folder)


def _check_memory(scenario: Scenario) -> None:
    needed_bytes, total_bytes = scenario.spark.driver_memory_bytes, psutil.virtual_memory().total
    if needed_bytes > total_bytes:
        raise ScenarioError(
            f'spark.driver_memory = "{bytes_text(needed_bytes)}": this machine has only '
            f"{human_bytes(total_bytes)}; lower it",
            code="out-of-range",
            path=scenario.name,
        )


def _check_modules(scenario: Scenario, home: Path) -> None:
    catalog = FORMATS[scenario.table.format].catalog
    for module in catalog.needed_java_modules(configured_catalog(scenario).properties):
        modules = runtime.java_modules(home)
        if modules is not None and module not in modules:
            raise MissingRuntimeError(
                f"{catalog.java_modules[module]} needs the Java module {module}, which {home} does not have: "
                f"{runtime.INSTALL_FULL_JDK}",
                code="module-missing",
                path=scenario.name,
            )


def check_supported(scenario: Scenario, mode: Mode, specs: Iterable[StrategySpec]) -> None:
    """Raises ScenarioError for writers, resources or strategies that the engine does not support."""
    try:
        (check_real_run if mode == "real" else check_simulated_clock)(scenario)
    except OptionError as error:
        raise error.within(scenario.name) from None
    if mode == "real":
        _check_catalog(scenario)
    elif scenario.variant is not None:
        _check_modelled(scenario, scenario.variant)
    _check_settings(scenario, mode)
    _check_probes(scenario, mode)
    for spec in specs:
        rules = spec.strategy.rules
        _check_needs(scenario, mode, f"strategy {spec.label!r}", scenario.needs_of(spec), rules)
        _check_executors(scenario, mode, spec.label, rules)
    _check_needs(scenario, mode, "maintenance", scenario.maintenance_needs(), scenario.maintenance)


def check_coefficients(coefficients: Path, scenarios: Iterable[Scenario]) -> None:
    """Raises ScenarioError for a file that a format or an executor of the scenarios cannot use."""
    for scenario in scenarios:
        known = FORMATS[scenario.table.format].engines.estimates(coefficients).operations
        rules = (rule for spec in scenario.strategies for rule in spec.strategy.rules)
        executor = next((rule.executor for rule in rules if rule.executor), None)
        if executor is not None and Operation.SINGLE_NODE not in known:
            raise ScenarioError(
                f"has no [operations.{Operation.SINGLE_NODE}], which executor {executor} needs: copy it from "
                f"{shipped_file(scenario.table.format)}",
                code="missing",
                path=coefficients,
            )


def _check_catalog(scenario: Scenario) -> None:
    """Refuse properties without a catalog, except caches, and places outside of a run's namespace."""
    properties, table_format = configured_catalog(scenario).properties, FORMATS[scenario.table.format]
    others = sorted(key for key in properties if not key.startswith("cache"))
    if others and not has_shared_catalog(scenario):
        raise ScenarioError(
            f"{', '.join(others)} needs a catalog: set catalog.properties.type to one of "
            f"{', '.join(sorted(table_format.catalog.types))}, or set catalog-impl",
            code="key-missing",
            path=scenario.name,
        )
    refused = table_format.catalog.problem(properties)
    if refused is not None:
        name, problem = refused
        path, value = catalog_properties(scenario)[name]
        problem = f"{path_text(path)} = {value_text(value)}: {problem}"
        raise ScenarioError(problem, code="not-allowed", path=scenario.name)


def _check_modelled(scenario: Scenario, variant: Variant) -> None:
    """Refuse a variant with keys that a simulation does not model: its results would show no difference."""
    heeded = engine_kind(scenario.table.format, "simulated").heeded_settings
    of_real_runs = (key for key in variant.changes if key.startswith(_OF_REAL_RUNS))
    ignored = [key for key in of_real_runs if key.removeprefix("spark.").strip('"') not in heeded]
    if "spark.master" in variant.changes and parse_master(scenario.spark.master).cores is None:
        ignored.append(f'spark.master = "{scenario.spark.master}"')
    if ignored:
        raise ScenarioError(
            f"variant {variant.label!r} sets {', '.join(ignored)}, which a simulation does not model: choose "
            f"other variants with --only variant=LABEL ({BASE} is the scenario without changes), or run "
            "without --simulate",
            code="no-effect",
            path=scenario.name,
        )


def _check_settings(scenario: Scenario, mode: Mode) -> None:
    """Refuse settings of Spark that affect the files of a table, but not in this engine."""
    kind = engine_kind(scenario.table.format, mode)
    for name, value in scenario.spark.settings.items():
        problem = kind.setting_problem(name)
        if problem is not None:
            problem = f'spark."{name}" = {value_text(value)}: {problem}'
            raise ScenarioError(problem, code="no-effect", path=scenario.name)


def _check_probes(scenario: Scenario, mode: Mode) -> None:
    kind = engine_kind(scenario.table.format, mode)
    for probe in scenario.probes:
        problem = kind.probe_problem(probe.sql, scenario.partitioning)
        if problem is not None:
            raise ScenarioError(
                f"probe {probe.name!r}: {problem}{_REMEDIES[mode]}", code="unsupported", path=scenario.name
            )


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
            f"{part} needs {needed}, which the {mode} {scenario.table.format} engine does not support; it "
            f"supports {', '.join(sorted(able))}{''.join(instead) or _REMEDIES[mode]}",
            code="unsupported",
            path=scenario.name,
        )


def _check_executors(scenario: Scenario, mode: Mode, label: str, rules: Iterable[Rule]) -> None:
    """Refuse an executor that the engine does not have, or that cannot execute what a rule may plan.

    Executors without Spark know neither the catalogs that Spark may be configured with nor their places.
    """
    executors = engine_kind(scenario.table.format, mode).executors
    for rule in rules:
        if rule.executor is None:
            continue
        where = f"strategy {label!r}: executor = {rule.executor!r}"
        if rule.executor not in executors:
            engine = f"the {mode} {scenario.table.format} engine"
            problem = f"{where}: {engine} has no such executor{_REMEDIES[mode]}"
            raise ScenarioError(problem, code="unknown-name", path=scenario.name)
        if has_shared_catalog(scenario):
            raise ScenarioError(
                f"{where} reaches tables in the run's own folder only, and catalog "
                f"{configured_catalog(scenario).name!r} is elsewhere: leave out the catalog, or the executor",
                code="unsupported",
                path=scenario.name,
            )
        missing = sorted(traits_of(rule.planner).needs - executors[rule.executor])
        if missing:
            raise ScenarioError(
                f"{where} cannot execute {', '.join(missing)}, which planner {name_of(type(rule.planner))} "
                f"may plan; it executes {', '.join(sorted(executors[rule.executor]))}: use another planner, "
                "or leave the executor out",
                code="unsupported",
                path=scenario.name,
            )


def _planners(rules: Iterable[Rule]) -> dict[str, str]:
    """The planner that needs each capability, unless both have the same name."""
    planners = {name_of(type(rule.planner)): traits_of(rule.planner).needs for rule in rules}
    return {need: f"planner {name}" for name, needs in planners.items() for need in needs if need != name}
