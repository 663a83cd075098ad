"""Records of decisions and compactions, with what plans are expected to do."""

from bench.engines.contract import Observation, Ticket, Version
from bench.engines.format import SizeModel
from bench.replay.execution import Execution
from bench.replay.step_log import PARTITIONS_MAX, StepFields, version_ids
from bench.results.records import CompactionRecord, DecisionRecord, RoleId
from bench.results.values import Cost
from bench.scenario.plugins import name_of
from strategies.plan import Action, Rewrite, describe_action
from strategies.preview import NoPreview, PlanPreview, Preview
from strategies.strategy import Decision


def compaction_record(
    role: RoleId,
    execution: Execution,
    before: Observation | None,
    *,
    size_model: SizeModel | None,
    is_inline: bool = False,
) -> CompactionRecord:
    """The record of an executed plan; without a size model it has no forecast."""
    ticket, outcome = execution.ticket, execution.outcome
    return CompactionRecord(
        **execution.fields(role),
        status=outcome.status,
        error=outcome.error,
        reason=ticket.plan.reason,
        actions=[describe_action(action) for action in ticket.plan.actions],
        plan_kind=ticket.plan.kind,
        executor=ticket.executor or "",
        scheduled_at_ms=ticket.scheduled_at_ms,
        staged=execution.staged,
        before=(before or outcome.observed).table.live,
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


def forecast(ticket: Ticket, size_model: SizeModel) -> dict[str, float] | None:
    """The expected values of a compaction's `change`, by field, from the preview of its plan.

    None if there is no preview, if delete files are rewritten (how many are written depends on their rows),
    and for plans of several actions, because earlier actions change the table for later ones. Byte counts are
    left out if deletes are converted or log files merged: the bytes written then depend on the keys.
    """
    if len(ticket.plan.actions) > 1:
        return None
    action, preview = ticket.plan.actions[0], ticket.preview.actions[0]
    if isinstance(preview, NoPreview) or preview.delete_groups:
        return None
    expected: dict[str, float] = {
        "files_removed_count": preview.files_removed_count,
        "files_added_count": preview.files_added_count,
    }
    if _is_converting(action):
        return expected
    expected["replaced_bytes"] = preview.replaced_bytes
    if all(group.has_exact_rows for group in preview.groups):
        tasks = (task for group in preview.groups for task in group.tasks)
        expected["added_bytes"] = sum(size_model(task.rows, 1) for task in tasks)
    return expected


def decision_record(fields: StepFields, label: str, decision: Decision, read: Cost) -> DecisionRecord:
    """The record of an evaluation; `read` is the cost of reading the table's state for it."""
    plan, rule = decision.plan, decision.rule
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
