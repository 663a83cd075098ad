"""The strategy in force: the rules of one label, until a switch replaces them by another's."""

from collections.abc import Mapping

from strategies.state import TableState
from strategies.strategy import Decision, Rule, Strategy
from strategies.triggers import RuleMemory


class ActiveStrategy:
    """Evaluates a strategy's rules, keeps what the rules remember, and switches when it is time.

    `switches` are (scenario milliseconds, label), ascending. A strategy that takes over has no memory yet.
    """

    def __init__(
        self, label: str, strategies: Mapping[str, Strategy], switches: tuple[tuple[int, str], ...] = ()
    ) -> None:
        self._strategies, self._switches = strategies, switches
        self._strategy = strategies[label]
        self._memories: tuple[RuleMemory, ...] = self._strategy.fresh_memories(0, 0)

    def decide(self, state: TableState) -> tuple[str, tuple[Decision, ...]]:
        """The label in force and the decisions of its rules. Raises PlanError on an invalid plan."""
        while self._switches and self._switches[0][0] <= state.observed_at_ms:
            (at_ms, label), self._switches = self._switches[0], self._switches[1:]
            self._strategy = self._strategies[label]
            self._memories = self._strategy.fresh_memories(at_ms, state.commits_total_count)
        decisions, self._memories = self._strategy.decide(state, self._memories)
        return self._strategy.label, decisions

    def rule(self, decision: Decision) -> Rule:
        """The rule that made a decision of the latest evaluation."""
        return self._strategy.rules[decision.rule_index]
