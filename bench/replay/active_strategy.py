"""The strategy in force, which a switch may replace by another one, and the records of its decisions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.replay.step_log import Fields
from bench.results.values import Cost
from bench.scenario.plugins import name_of
from strategies.plan import describe_action
from strategies.planner import traits_of
from strategies.state import TableState
from strategies.strategy import Decision, Rule, Strategy, Verdict
from strategies.triggers import RuleMemory, trigger_traits


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
    """Evaluates a strategy's rules, keeps their memories, and switches to other strategies when it is time.

    `switches` are (scenario milliseconds, label), ascending. A strategy that takes over starts without
    memories.
    """

    def __init__(
        self, label: str, strategies: Mapping[str, Strategy], switches: tuple[tuple[int, str], ...] = ()
    ) -> None:
        self._strategies, self._switches = strategies, switches
        self._strategy = strategies[label]
        self._memories: tuple[RuleMemory, ...] = self._strategy.fresh_memories(0, 0)
        self._facts = {name: [*map(RuleFacts.of, of.rules)] for name, of in strategies.items()}

    @property
    def label(self) -> str:
        """The label in force at the latest evaluation."""
        return self._strategy.label

    def facts_of(self, decision: Decision) -> RuleFacts:
        """Of a rule of the strategy in force."""
        return self._facts[self.label][decision.rule_index]

    def decide(self, state: TableState, *, is_inline: bool = False) -> Iterator[Decision]:
        """The decisions of the inline rules or of the other rules, each made when the iterator reaches it.

        Raises PlanError on an invalid plan.
        """
        while self._switches and self._switches[0][0] <= state.observed_at_ms:
            (at_ms, label), self._switches = self._switches[0], self._switches[1:]
            self._strategy = self._strategies[label]
            self._memories = self._strategy.fresh_memories(at_ms, state.commits_total_count)
        memories = list(self._memories)
        for decision, memory in self._strategy.evaluate(state, self._memories, is_inline=is_inline):
            memories[decision.rule_index] = memory
            self._memories = tuple(memories)
            yield decision

    @property
    def has_inline_rules(self) -> bool:
        """Whether commits evaluate rules, now or after a switch."""
        labels = {self._strategy.label, *(label for _, label in self._switches)}
        return any(rule.is_inline for label in labels for rule in self._strategies[label].rules)


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
