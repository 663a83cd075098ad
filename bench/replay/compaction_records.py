"""Records of decisions and compactions."""

from bench.engines.contract import Observation, Version
from bench.engines.format import SizeModel
from bench.replay.execution import Executed
from bench.replay.forecast import forecast
from bench.replay.step_log import PARTITIONS_MAX, StepFields, version_ids
from bench.results.records import CompactionRecord, DecisionRecord
from bench.results.values import Cost
from bench.scenario.plugins import name_of
from strategies.plan import Action, Rewrite, describe_action
from strategies.preview import NoPreview, PlanPreview, Preview
from strategies.strategy import Decision, Rule


def compaction_record(
    fields: StepFields,
    executed: Executed,
    before: Observation,
    *,
    size_model: SizeModel | None,
    is_inline: bool = False,
) -> CompactionRecord:
    """The record of an executed plan; without a size model it has no forecast."""
    ticket, outcome = executed.ticket, executed.outcome
    return CompactionRecord(
        **fields,
        status=outcome.status,
        error=outcome.error,
        reason=ticket.plan.reason,
        actions=[describe_action(action) for action in ticket.plan.actions],
        plan_kind=ticket.plan.kind,
        executor=ticket.executor or "",
        scheduled_at_ms=ticket.scheduled_at_ms,
        staged=executed.staged,
        before=before.table.live,
        after=outcome.observed.table.live,
        change=outcome.change,
        versions=version_ids(outcome.versions),
        partitions=rewritten_partitions(outcome.observed, outcome.versions),
        forecast=forecast(ticket, size_model) if size_model else None,
        answer=dict(outcome.answer) or None,
        is_sorted=_is_sorted(ticket.preview),
        is_converting=any(map(_is_converting, ticket.plan.actions)),
        is_inline=is_inline,
    )


def rewritten_partitions(after: Observation, versions: tuple[Version, ...]) -> list[str] | None:
    """The partitions in which versions replaced files; None if there are too many to name.

    If a version does not know its partitions, these are the ones that have lost files since the last
    observation: nothing else has run since then.
    """
    known = [version.rewritten for version in versions if version.rewritten is not None]
    is_complete = known and len(known) == len(versions)
    rewritten = frozenset[str]().union(*known) if is_complete else after.rewritten
    return sorted(rewritten) if len(rewritten) <= PARTITIONS_MAX else None


def _is_converting(action: Action) -> bool:
    return isinstance(action, Rewrite) and any(group.convert_paths for group in action.groups)


def _is_sorted(preview: PlanPreview) -> bool | None:
    """Whether an action orders rows by value; None if that depends on an action without a preview."""
    if any(isinstance(action, Preview) and action.is_sorted for action in preview.actions):
        return True
    return None if any(isinstance(action, NoPreview) for action in preview.actions) else False


def decision_record(
    fields: StepFields, label: str, rule: Rule, decision: Decision, read: Cost
) -> DecisionRecord:
    """The record of an evaluation; `read` is the cost of reading the table's state for it."""
    plan = decision.plan
    return DecisionRecord(
        **fields,
        status=decision.verdict.value,
        strategy=label,
        rule=decision.rule_index,
        trigger=name_of(type(rule.trigger)),
        planner=name_of(type(rule.planner)),
        reason=plan.reason if plan else None,
        detail=plan.detail if plan else "",
        actions=[describe_action(action) for action in plan.actions] if plan else [],
        figures=dict(decision.figures) or None,
        state_wall_s=read.wall_s,
        state_cpu_s=read.cpu_s,
    )
