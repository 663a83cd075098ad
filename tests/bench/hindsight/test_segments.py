"""What is said of evaluations against what an engine does."""

from bench.hindsight.search import hindsight_scenario
from bench.hindsight.segments import segments


def test_an_evaluation_that_finds_too_few_files_compacts_nothing():
    settings = [
        "duration=6min",
        "workload.files_per_commit=1",
        'strategies=[{ label = "five", rules = [{ trigger = { type = "every", interval = "1min" }, '
        'planner = { type = "iceberg.rewrite_data_files" } }] }]',
    ]
    scenario, _ = hindsight_scenario("append-only", settings)
    (spec,) = scenario.strategies
    never, *after = segments(scenario, spec, None, range(1, 7))
    assert never.compacts.tolist() == [False] * 5 + [True] * 2
    assert 0 < never.evaluation_cpu_s[4] < never.evaluation_cpu_s[5]
    assert [one and one.start for one in after] == [None] * 4 + [5, 6]
    assert not after[4].compacts.any()
