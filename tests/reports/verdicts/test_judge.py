from reports.verdicts.judge import compare_strategies


def test_all_strategies_of_a_group_lend_their_noise(group):
    found = compare_strategies(group, "query_mean_s", "never", "every-1min")
    assert (found.method, found.n) == ("moderated t", 3)
    runs = sum(len(group.runs_with("query_mean_s", label)) for label in group.strategies)
    assert found.freedom <= runs - len(group.strategies)
