"""Which strategies are drawn and listed as not told apart."""

from records import commit, compaction, end, query, run

from reports.data.group import RunGroup, run_groups
from reports.verdicts.apart import clusters, not_told_apart


def strategy(label: str, cpu_s: float, latencies: list[float], mode: str = "real") -> list:
    return [
        run(commit(), *([compaction(cpu_s=cpu_s * (1 + 0.01 * n))] if cpu_s else []), query(latency), end(),
            strategy=label, repetition=n, mode=mode)
        for n, latency in enumerate(latencies, 1)
    ]  # fmt: skip


def group(*strategies: list) -> RunGroup:
    (made,) = run_groups([one for runs in strategies for one in runs])
    return made


NEVER, QUIET = strategy("never", 0, [9.0, 9.05, 9.1]), strategy("quiet", 1.0, [4.0, 4.01, 4.02])


def test_a_strategy_that_one_figure_tells_apart_is_dominated():
    made = group(NEVER, QUIET, strategy("dearer", 1.2, [4.0, 4.02, 4.03]))
    assert not_told_apart(made) == {}
    same = group(NEVER, QUIET, strategy("same", 1.001, [4.0, 4.02, 4.03]))
    assert not_told_apart(same) == {"same": "quiet"}
    assert clusters(same) == (("quiet", "same"),)


def test_a_cluster_has_no_two_strategies_that_are_told_apart():
    quiet = [strategy(f"dear-{n}", 5.0 + n, [9.0 + n, 9.01 + n, 9.02 + n]) for n in range(8)]
    noisy = strategy("noisy", 1.5, [2.2, 2.5, 2.8])
    made = group(
        NEVER, QUIET, noisy, strategy("slow", 1.5, [2.61, 2.6, 2.6]),
        strategy("slower", 1.5, [2.85, 2.86, 2.85]), *quiet,
    )  # fmt: skip
    assert not_told_apart(made) == {"slow": "noisy", "slower": "noisy"}
    assert clusters(made) == (("noisy", "slow"),)


def test_modelled_strategies_are_alike_within_two_percent_of_each_figure():
    made = group(*(
        strategy(label, cost_s, [query_s], "simulated")
        for label, cost_s, query_s in (
            ("never", 0, 9.0), ("one", 4.0, 1.5), ("near", 4.05, 1.52), ("far", 4.05, 1.55),
        )
    ))  # fmt: skip
    assert not_told_apart(made) == {"near": "one"}
    assert clusters(made) == (("one", "near"),)
