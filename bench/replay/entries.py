"""Records of decisions and compactions, from what the replay knows of them."""

from dataclasses import dataclass

from bench.engines.contract import Cost, Observation, Outcome, Ticket
from bench.engines.format import SizeModel
from bench.replay.fields import Step, compacted_fields
from bench.replay.forecast import forecast
from bench.results.records import CompactionRecord, DecisionRecord
from bench.scenario.plugins import name_of
from strategies.plan import Action, Rewrite, describe_action
from strategies.preview import NoPreview, PlanPreview, Preview
from strategies.strategy import Decision, Rule


@dataclass(frozen=True, slots=True)
class Completed:
    """A plan that was executed, and the table and the latency before; the latency after may come later."""

    step: Step
    ticket: Ticket
    outcome: Outcome
    before: Observation
    query_before_s: float | None


def compaction_record(
    completed: Completed,
    query_after_s: float | None,
    size_model: SizeModel | None,
    *,
    is_inline: bool = False,
) -> CompactionRecord:
    """The record of a compaction; the forecast needs a size model."""
    ticket, outcome = completed.ticket, completed.outcome
    return CompactionRecord(
        **completed.step,
        **compacted_fields(completed.before, outcome.observed, outcome.versions),
        status=outcome.status,
        error=outcome.error,
        reason=ticket.plan.reason,
        actions=[describe_action(action) for action in ticket.plan.actions],
        plan_kind=ticket.plan.kind,
        scheduled_at_ms=ticket.scheduled_at_ms,
        query_before_s=completed.query_before_s,
        query_after_s=query_after_s,
        forecast=forecast(ticket, size_model) if size_model else None,
        answer=dict(outcome.answer) or None,
        is_sorted=_is_sorted(ticket.preview),
        is_converting=any(map(_is_converting, ticket.plan.actions)),
        is_inline=is_inline,
    )


def _is_converting(action: Action) -> bool:
    return isinstance(action, Rewrite) and any(group.convert_paths for group in action.groups)


def _is_sorted(preview: PlanPreview) -> bool | None:
    """Whether an action orders rows by value; None if none is known to, and one has no preview."""
    if any(isinstance(each, Preview) and each.is_sorted for each in preview.actions):
        return True
    return None if any(isinstance(each, NoPreview) for each in preview.actions) else False


def decision_record(step: Step, label: str, rule: Rule, decision: Decision, read: Cost) -> DecisionRecord:
    """The record of an evaluation; `read` is the cost of reading the state that it needed."""
    plan = decision.plan
    return DecisionRecord(
        **step,
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
