"""What a strategy would do to a table that is already there, by numbers. Nothing is written."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.engines import capabilities
from bench.engines.iceberg.model.coefficients import iceberg_coefficients
from bench.engines.simulated.costs import rewrite_cost
from bench.errors import ScenarioError
from bench.scenario import file as scenario_file
from bench.scenario import plugins
from bench.scenario.scenario import Scenario
from bench.scenario.values import OptionError
from strategies.iceberg.files import IcebergState
from strategies.iceberg.preview import Preview, PreviewError, preview_action
from strategies.iceberg.resurrection import resurrection
from strategies.iceberg.rewrite_options import rewrite_options
from strategies.plan import (
    Action,
    Capability,
    Compact,
    Native,
    Plan,
    PlanError,
    Rewrite,
    capabilities_of,
    check_plan,
    describe_action,
)
from strategies.preview import try_preview
from strategies.state import StateError
from strategies.strategy import Planner

# The paths of the data files that may hold rows of a SQL filter.
Filter = Callable[[str], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """The planners to ask in order, and how the user named them."""

    name: str
    planners: tuple[Planner, ...]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why `rewrite_data_files` leaves a table as it is: its thresholds, and how far the files are from them.

    A candidate is below `min_bytes` or above `max_bytes`; `candidates_together_count` are in the
    partition that has most. A group needs `needed_count` of them, or 2 of more than `target_bytes`.
    """

    files_count: int
    candidates_count: int
    candidates_together_count: int
    needed_count: int
    min_bytes: int
    max_bytes: int
    target_bytes: int


@dataclass(frozen=True, slots=True)
class DryRun:
    """What the planners answered, and what the plan of the last one asked does to the files.

    `preview_action` is None exactly without a plan. `veto` is why an engine would refuse to carry it out.
    `cpu_s`, which is rough, is also None where delete files are rewritten. `shortfall` is set where
    `rewrite_data_files` would find nothing.
    """

    candidate: Candidate
    asked: tuple[Planner, ...]
    plan: Plan | None = None
    preview: Preview | None = None
    veto: str | None = None
    shortfall: Shortfall | None = None
    cpu_s: float | None = None
    calibrated: bool = False


def candidate_of(name: str, options: Sequence[str], scenario: Scenario | None) -> Candidate:
    """The planners of a scenario's strategy, or the one planner called `name` with its `options` set.

    A planner's name is its registered one, an entry point's, or module:Class. `options` are key=value
    in the notation of scenarios. Raises ScenarioError.
    """
    labels = {spec.label: spec.strategy for spec in scenario.strategies} if scenario else {}
    if name in labels:
        if options:
            raise ScenarioError(
                f"--option {options[0]}: {name} is a strategy of the scenario: change it there, or name a "
                "planner by --strategy"
            )
        return Candidate(name, tuple(rule.planner for rule in labels[name].rules))
    try:
        return Candidate(name, (_planner(name, options),))
    except OptionError as error:
        if error.path == ("type",):
            listed = f"; strategies of the scenario: {', '.join(labels)}" if labels else ""
            raise ScenarioError(str(error).replace("type = ", "--strategy ", 1) + listed) from error
        said = str(error) if error.path else f"{' '.join(options)}{error}"
        raise ScenarioError(f"--option {said}") from error


def _planner(name: str, options: Sequence[str]) -> Planner:
    table: dict[str, Any] = {"type": name}
    for option in options:
        try:
            path = scenario_file.override(table, option)
        except ScenarioError as error:
            raise ScenarioError(_as_option(str(error))) from None
        if path == ("type",):
            raise ScenarioError(f"--option {option}: the planner's name is that of --strategy")
    return plugins.build(plugins.PLANNER, table, (), Path.cwd())


def _as_option(text: str) -> str:
    """What is wrong with a `--set`, told of an `--option`."""
    if "write key=value" in text:
        return text.partition(": write")[0].replace("--set", "--option", 1) + (
            ": write key=value, e.g. --option options.min-input-files=2"
        )
    return text.replace("--set", "--option")


def dry_run(candidate: Candidate, state: IcebergState, matching: Filter, branch: str | None = None) -> DryRun:
    """Ask the planners in order, as at a look where every trigger fires: the first that plans wins.

    `state` is of `branch`, the main one for None. Raises ScenarioError where a planner fails, its plan
    depends on more than metadata tells, or the metadata is at odds with Iceberg's rules.
    """
    try:
        return _answered(candidate, state, matching, branch)
    except StateError as error:
        raise ScenarioError(
            f"{candidate.name}: the table cannot be planned for: {error}; check the table with its own engine"
        ) from error


def _answered(candidate: Candidate, state: IcebergState, matching: Filter, branch: str | None) -> DryRun:
    for index, planner in enumerate(candidate.planners):
        plan = _decided(planner, state)
        if plan is None:
            continue
        _check_capabilities(planner, plan)
        narrowed = [_narrowed(action, state, matching, branch) for action in plan.actions]
        preview = _joined(
            _expanded(action, *told) for action, told in zip(plan.actions, narrowed, strict=True)
        )
        coefficients = iceberg_coefficients()
        return DryRun(
            candidate, candidate.planners[: index + 1], plan, preview,
            veto=_veto(narrowed),
            shortfall=None if preview.groups else _shortfall(*narrowed[0]),
            cpu_s=None if preview.delete_groups else rewrite_cost(coefficients, preview, cores=1).cpu_s,
            calibrated=coefficients.calibrated,
        )  # fmt: skip
    return DryRun(candidate, candidate.planners)


def _veto(narrowed: Iterable[tuple[Action, IcebergState]]) -> str | None:
    """Why an engine would refuse the plan: rows that would come back, or that might for all that is known."""
    try:
        judged = (
            resurrection(action, try_preview(action, state, preview_action), state)
            for action, state in narrowed
        )
        return next(filter(None, judged), None)
    except ValueError as error:
        return f"whether deleted rows would come back cannot be judged: {error}"


def _decided(planner: Planner, state: IcebergState) -> Plan | None:
    name = plugins.in_words(planner)
    try:
        plan = planner.decide(state)
        if plan is not None:
            check_plan(state, plan)
    except PlanError as error:
        raise ScenarioError(f"{name}: a plan nobody can carry out: {error}; correct the planner") from error
    except StateError:
        raise
    except Exception as error:  # a planner may be anybody's
        raise ScenarioError(
            f"{name}: failed: {type(error).__name__}: {error}; correct the planner"
        ) from error
    return plan


def _check_capabilities(planner: Planner, plan: Plan) -> None:
    foreign = capabilities_of(plan) - capabilities.ICEBERG
    if foreign:
        raise ScenarioError(
            f"{plugins.in_words(planner)}: plans {', '.join(sorted(foreign))}, which Iceberg has not; name a "
            "planner for Iceberg"
        )


def _narrowed(
    action: Action, state: IcebergState, matching: Filter, branch: str | None
) -> tuple[Action, IcebergState]:
    """The action without a filter, and the state with only the files the filter may match."""
    if not isinstance(action, Native) or action.command is not Capability.REWRITE_DATA_FILES:
        return action, state
    where, on = action.arguments.get("where"), action.arguments.get("branch")
    if on is not None and on != (branch or "main"):
        raise ScenarioError(
            f"{describe_action(action)}: the table was read at another branch; give --branch {on}"
        )
    arguments = {key: text for key, text in action.arguments.items() if key not in ("where", "branch")}
    if where is not None:
        paths = matching(where)
        state = replace(state, data_files=tuple(file for file in state.data_files if file.path in paths))
    return replace(action, arguments=arguments), state


def _expanded(action: Action, told: Action, state: IcebergState) -> Preview:
    try:
        return preview_action(told, state)
    except PreviewError as error:
        raise ScenarioError(
            f"{describe_action(action)}: metadata does not tell what it would do: {error}; try it on a "
            "copy of the table"
        ) from error
    except ValueError as error:
        raise ScenarioError(f"{describe_action(action)}: {error}; correct the option") from error


def _joined(expansions: Iterable[Preview]) -> Preview:
    """Several actions as one, each told for the table as it stands now."""
    found = list(expansions)
    return Preview(
        tuple(group for preview in found for group in preview.groups),
        sum(preview.planned_groups_count for preview in found),
        tuple(group for preview in found for group in preview.delete_groups),
    )


def _shortfall(action: Action, state: IcebergState) -> Shortfall | None:
    """The thresholds that kept every file out; None where they are not those of `rewrite_data_files`."""
    if isinstance(action, Rewrite) or (
        isinstance(action, Native) and action.command is not Capability.REWRITE_DATA_FILES
    ):
        return None
    files = state.data_files
    if isinstance(action, Compact) and action.partitions is not None:
        files = [file for file in files if file.partition in action.partitions]
    options = rewrite_options(action.options, state.target_file_size_bytes)
    candidates = Counter(
        file.partition
        if file.spec_id == state.spec_id
        else None  # older specs share one, as in `preview_action`
        for file in files
        if not options.min_bytes <= file.size_bytes <= options.max_bytes
    )
    return Shortfall(
        files_count=len(files),
        candidates_count=candidates.total(),
        candidates_together_count=max(candidates.values(), default=0),
        needed_count=max(2, options.min_input_files),  # one file alone is not merged
        min_bytes=options.min_bytes,
        max_bytes=options.max_bytes,
        target_bytes=options.target_bytes,
    )
