from reports.verdicts.judge import compare_strategies, compare_with_old


def test_all_strategies_of_a_group_lend_their_noise(group):
    found = compare_strategies(group, "query_mean_s", "never", "every-1min")
    assert (found.method, found.n) == ("moderated t", 3)
    runs = sum(len(group.runs_with("query_mean_s", label)) for label in group.strategies)
    assert found.freedom <= runs - len(group.strategies)


def test_a_strategy_equals_itself_in_the_same_results(group):
    found = compare_with_old(group, group, "query_mean_s", "never")
    assert (found.ratio, found.n, found.verdict) == (1.0, 3, "undecided")
