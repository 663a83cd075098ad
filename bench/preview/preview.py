"""What a strategy would do to an existing table, in figures. Nothing is written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.engines.contract import Cores
from bench.engines.existing import ExistingTable, Shortfall
from bench.engines.format import Format
from bench.engines.keys import unknown_columns, value_text
from bench.engines.rewrite_work import finds_nothing, rewrite_work
from bench.engines.simulated.steps import plan_step
from bench.errors import ScenarioError
from bench.scenario import file as scenario_file
from bench.scenario import plugins
from bench.scenario.scenario import Scenario
from bench.scenario.values import OptionError
from bench.secrets import key_of
from strategies.plan import Action, Compact, Plan, PlanError, capabilities_of, describe_action
from strategies.planner import Planner, consult, traits_of
from strategies.preview import Converted, NoPreview, PlanPreview, Preview, PreviewError, try_preview
from strategies.state import OWN_EXECUTOR, StateError, TableState
from workloads.schema import ORDERS


@dataclass(frozen=True, slots=True)
class NamedPlanners:
    """Planners in the order of evaluation, each with its executor, and the name that the user gave for them.

    The executor None is the engine itself.
    """

    name: str
    pairs: tuple[tuple[Planner, str | None], ...]

    @property
    def planners(self) -> tuple[Planner, ...]:
        return tuple(planner for planner, _ in self.pairs)


@dataclass(frozen=True, slots=True)
class StrategyPreview:
    """The decisions of the planners, and what the plan of the last one does to the files.

    `evaluated` are the planners up to the first that planned. `preview` is None exactly if there is no plan.
    `veto` is why an engine would refuse to execute the plan. `cpu_s` is a rough estimate: None without a plan
    or coefficients, and for rewritten delete files and converted deletes, whose size depends on rows.
    `shortfall` is set if the format's rewrite command would find nothing to do. `dropped_deletes_max_count`
    is the most delete files that the commit drops, in addition to the plan's, as no data file needs them.
    """

    named: NamedPlanners
    evaluated: tuple[Planner, ...]
    plan: Plan | None = None
    preview: Preview | None = None
    veto: str | None = None
    shortfall: Shortfall | None = None
    cpu_s: float | None = None
    calibrated: bool = False
    dropped_deletes_max_count: int = 0


def named_planners(name: str, options: Sequence[str], scenario: Scenario | None) -> NamedPlanners:
    """The planners of the scenario's strategy called `name`, or else the planner of that name.

    A planner is named as in the registry, by an entry point, or as module:Class. `options` are key=value
    in the notation of scenarios, and are refused for a strategy. Raises ScenarioError.
    """
    scenarios = (scenario, *scenario.variants) if scenario else ()
    strategies = {spec.label: spec.strategy for variant in scenarios for spec in variant.strategies}
    if name in strategies:
        if options:
            raise ScenarioError(
                f"--option {key_of(options[0])} is for a planner, and {name} is a strategy of the scenario: "
                "change it there, or name a planner with --strategy",
                code="exclusive",
            )
        return NamedPlanners(name, tuple((rule.planner, rule.executor) for rule in strategies[name].rules))
    try:
        return NamedPlanners(name, ((_planner(name, options), None),))
    except OptionError as error:
        if error.keys == ("type",):
            listed = f"; strategies of the scenario: {', '.join(strategies)}" if strategies else ""
            shown = value_text(name)
            problem = str(error).removeprefix(f"type = {shown}: ") + listed
            raise ScenarioError(problem, code=error.code, path=f"--strategy {shown}") from error
        raise error.within("--option" if error.keys else f"--option {' '.join(options)}") from error


def _planner(name: str, options: Sequence[str]) -> Planner:
    table: dict[str, Any] = {"type": name}
    for option in options:
        if scenario_file.override(table, option, "--option") == ("type",):
            problem = "--strategy names the planner: leave this option out"
            raise ScenarioError(problem, code="set-elsewhere", path=f"--option {option}")
    return plugins.build(plugins.PLANNER, table, Path.cwd())


def preview_strategy(named: NamedPlanners, table: ExistingTable, table_format: Format) -> StrategyPreview:
    """Evaluate the planners in order, as if every trigger had fired: the first one that plans wins.

    Raises ScenarioError if a planner does not support the table or fails, if the effect of its plan cannot be
    predicted from metadata, or if the metadata violates the rules of the format.
    """
    for planner in named.planners:
        _check_planner(planner, table, table_format)
    try:
        return _evaluated(named, table, table_format)
    except StateError as error:
        raise ScenarioError(
            f"no plan is possible for this table: {error}; check the table with its own engine",
            code="damaged",
            path=named.name,
        ) from error


def _check_planner(planner: Planner, table: ExistingTable, table_format: Format) -> None:
    name, facts, traits = plugins.in_words(planner), table.facts, traits_of(planner)
    problem = unknown_columns(traits.columns, facts.columns) or table.planner_problem(planner)
    if problem:
        raise ScenarioError(problem, code="unsupported", path=name)
    version, highest = facts.format_version, traits.max_format_version
    if version is not None and highest is not None and version > highest:
        raise ScenarioError(
            f"supports tables up to format version {highest}, and this one has version {version}: name "
            "another planner",
            code="wrong-version",
            path=name,
        )
    _check_capabilities(name, "needs", traits.needs, table_format)


def _evaluated(named: NamedPlanners, table: ExistingTable, table_format: Format) -> StrategyPreview:
    state = table.state
    # The schema hardly matters.
    cost_priors = table_format.engines.cost_priors(ORDERS, state.properties, Cores().reader)
    seen = replace(state, cost_priors=cost_priors)
    for index, (planner, executor) in enumerate(named.pairs):
        plan = _decision(planner, replace(seen, executor=executor or OWN_EXECUTOR))
        if plan is None:
            continue
        _check_capabilities(plugins.in_words(planner), "plans", capabilities_of(plan), table_format)
        narrowed = [table.narrowed(action) for action in plan.actions]
        previews = [
            _previewed(action, narrowed_action, files, table_format)
            for action, (narrowed_action, files) in zip(plan.actions, narrowed, strict=True)
        ]
        preview, is_noop = _joined(previews), finds_nothing(plan, rewrite_work(previews))
        cpu_s, calibrated = _cost(plan, preview, state, table_format, executor)
        return StrategyPreview(
            named, named.planners[: index + 1], plan, preview,
            veto=_veto(plan, narrowed, previews, state, table_format),
            shortfall=_shortfall(table, *narrowed[0]) if is_noop else None,
            cpu_s=cpu_s, calibrated=calibrated,
            dropped_deletes_max_count=len({
                key
                for action, action_preview in zip(plan.actions, previews, strict=True)
                for key in table.dropped_deletes(action, action_preview)
            }),
        )  # fmt: skip
    return StrategyPreview(named, named.planners)


def _shortfall(table: ExistingTable, action: Action, state: TableState) -> Shortfall | None:
    """Why an action rewrites nothing, judged by the files of its partitions; "" is the whole table."""
    if isinstance(action, Compact) and action.partitions is not None and "" not in action.partitions:
        files = tuple(file for file in state.data_files if file.partition in action.partitions)
        state = replace(state, data_files=files)
    return table.shortfall(action, state)


def _veto(
    plan: Plan,
    narrowed: Sequence[tuple[Action, TableState]],
    previews: Sequence[Preview],
    state: TableState,
    table_format: Format,
) -> str | None:
    """Why an engine would refuse the plan: engines judge actions as planned, not narrowed by a filter."""
    planning = table_format.engines.planning
    whole: list[Preview | NoPreview] = [
        preview
        if narrowed_action == action and files is state
        else try_preview(action, state, planning.preview)
        for action, (narrowed_action, files), preview in zip(plan.actions, narrowed, previews, strict=True)
    ]
    return planning.veto(plan, PlanPreview(state.version, tuple(whole)), state)


def _cost(
    plan: Plan, preview: Preview, state: TableState, table_format: Format, executor: str | None
) -> tuple[float | None, bool]:
    """The CPU seconds of the plan in a warm JVM, None if unknown, and whether they are calibrated."""
    if preview.delete_groups:
        return None, False
    engines = table_format.engines
    estimates, table_amounts = engines.estimates(), engines.simulated.table_amounts(state.properties)
    step = plan_step(plan, rewrite_work([preview]), [preview], len(state.data_files), executor)
    return estimates.price(step.on_table(table_amounts), 1).cpu_s, estimates.is_fitted(step.operation)


def _decision(planner: Planner, state: TableState) -> Plan | None:
    name = plugins.in_words(planner)
    try:
        return consult(planner, state).plan
    except PlanError as error:
        raise ScenarioError(
            f"invalid plan: {error}; correct the planner", code="bad-plan", path=name
        ) from error
    except StateError:
        raise
    except Exception as error:
        raise ScenarioError(
            plugins.with_traceback("the planner failed"), code="plugin-failed", path=name
        ) from error


def _check_capabilities(name: str, verb: str, needed: frozenset[str], table_format: Format) -> None:
    foreign = needed - table_format.engines.capabilities
    if foreign:
        title = table_format.words.title
        raise ScenarioError(
            f"{verb} {', '.join(sorted(foreign))}, which {title} does not have: name a planner for {title}",
            code="unsupported",
            path=name,
        )


def _previewed(action: Action, narrowed: Action, state: TableState, table_format: Format) -> Preview:
    try:
        return table_format.engines.planning.preview(narrowed, state)
    except PreviewError as error:
        raise ScenarioError(
            f"its effect does not follow from metadata: {error}; try it on a copy of the table",
            code="not-predictable",
            path=describe_action(action),
        ) from error
    except ValueError as error:
        raise ScenarioError(
            f"{error}; correct the option", code="invalid", path=describe_action(action)
        ) from error


def _joined(previews: Sequence[Preview]) -> Preview:
    return Preview(
        tuple(group for preview in previews for group in preview.groups),
        tuple(group for preview in previews for group in preview.delete_groups),
        sum(preview.dropped_bytes for preview in previews),
        any(preview.is_sorted for preview in previews),
        sum((preview.converted for preview in previews), Converted()),
        sum(preview.excluded_groups_count for preview in previews),
    )
