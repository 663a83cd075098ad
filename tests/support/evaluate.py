def evaluate(strategy, state, memories):
    """The decisions of the rules that are not inline, and what each rule remembers afterwards."""
    after, decisions = list(memories), []
    for decision, memory in strategy.evaluate(state, memories):
        decisions.append(decision)
        after[decision.rule_index] = memory
    return tuple(decisions), tuple(after)
