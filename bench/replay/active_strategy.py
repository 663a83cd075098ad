"""A strategy with what its rules remember, and the records of its decisions."""

from collections.abc import Iterator
from dataclasses import dataclass

from bench.replay.step_log import Fields
from bench.results.values import Cost
from bench.scenario.plugins import name_of
from strategies.plan import describe_action
from strategies.planner import traits_of
from strategies.state import TableState
from strategies.strategy import Decision, Rule, Strategy, Verdict
from strategies.triggers import trigger_traits


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """What a rule declares and what it is called, which never changes."""

    trigger: str
    planner: str
    trigger_reads_state: bool
    planner_reads_state: bool
    may_plan: bool

    @classmethod
    def of(cls, rule: Rule) -> "RuleFacts":
        planner = traits_of(rule.planner)
        return cls(
            name_of(type(rule.trigger)),
            name_of(type(rule.planner)),
            trigger_traits(rule.trigger).reads_state,
            planner.reads_state,
            planner.may_plan,
        )

    def reads_state(self, verdict: Verdict) -> bool:
        """Whether an evaluation needed the state of the table.

        It did if the trigger needs the state, or if the trigger fired and the planner needs it. An interval
        does not need it, nor does a planner that only calls a command of the format.
        """
        if self.trigger_reads_state:
            return self.may_plan
        return verdict is not Verdict.NOT_DUE and self.planner_reads_state


class ActiveStrategy:
    """Evaluates a strategy's rules, and keeps their memories."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._memories = strategy.fresh_memories()
        self._facts = [*map(RuleFacts.of, strategy.rules)]

    @property
    def label(self) -> str:
        return self._strategy.label

    def facts_of(self, decision: Decision) -> RuleFacts:
        """Of the rule that decided."""
        return self._facts[decision.rule_index]

    def decide(self, state: TableState, *, is_inline: bool = False) -> Iterator[Decision]:
        """The decisions of the inline rules or of the other rules, each made when the iterator reaches it.

        Raises PlanError on an invalid plan.
        """
        memories = list(self._memories)
        for decision, memory in self._strategy.evaluate(state, self._memories, is_inline=is_inline):
            memories[decision.rule_index] = memory
            self._memories = tuple(memories)
            yield decision

    @property
    def has_inline_rules(self) -> bool:
        """Whether commits evaluate rules."""
        return any(rule.is_inline for rule in self._strategy.rules)


def add_decision(fields: Fields, label: str, decision: Decision, facts: RuleFacts, read: Cost) -> None:
    """Add an evaluation to the fields of its step; `read` is the cost of reading the state for it."""
    plan = decision.plan
    fields |= {
        "status": decision.verdict.value,
        "strategy": label,
        "rule": decision.rule_index,
        "trigger": facts.trigger,
        "planner": facts.planner,
        "state_wall_s": read.wall_s,
        "state_cpu_s": read.cpu_s,
    }
    if decision.figures:
        fields["figures"] = dict(decision.figures)
    if plan is not None:
        fields |= {
            "reason": plan.reason,
            "detail": plan.detail,
            "actions": [describe_action(action) for action in plan.actions],
        }
