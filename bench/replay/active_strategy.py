"""The strategy in force: one label's rules, until a switch puts another's in their place."""

from collections.abc import Mapping

from strategies.state import TableState
from strategies.strategy import Decision, Rule, Strategy
from strategies.triggers import RuleMemory


class ActiveStrategy:
    """Asks a strategy at each look, keeps what its rules remember, and switches when it is time.

    `switches` are (scenario milliseconds, label), ascending; a strategy that takes over starts afresh then.
    """

    def __init__(
        self, label: str, strategies: Mapping[str, Strategy], switches: tuple[tuple[int, str], ...] = ()
    ) -> None:
        self._strategies, self._switches = strategies, switches
        self._strategy = strategies[label]
        self._memories: tuple[RuleMemory, ...] = self._strategy.fresh_memories(0, 0)

    def decide(self, state: TableState) -> tuple[str, tuple[Decision, ...]]:
        """The label in force and its rules' answers. Raises PlanError on a bad plan."""
        while self._switches and self._switches[0][0] <= state.observed_at_ms:
            (at_ms, label), self._switches = self._switches[0], self._switches[1:]
            self._strategy = self._strategies[label]
            self._memories = self._strategy.fresh_memories(at_ms, state.commits_total_count)
        decisions, self._memories = self._strategy.decide(state, self._memories)
        return self._strategy.label, decisions

    def rule(self, decision: Decision) -> Rule:
        """The rule a decision of the latest look came from."""
        return self._strategy.rules[decision.rule_index]
