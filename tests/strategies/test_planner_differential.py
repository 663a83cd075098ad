"""The Python planner against Iceberg's: the same tables, the same options, the same plans."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from iceberg_oracle import IcebergOracle, JavaGroup, as_java_group
from planner_cases import Case, Coverage, cases

from strategies.expand import expand
from strategies.rewrite_options import JobOrder

pytestmark = pytest.mark.spark

EXAMPLES, CASES = 2_500, 2_000  # Hypothesis repeats about a fifth
FLOORS = {
    "planned": 1_000,
    "group filtered": 200,
    "deletes triggered": 150,
    "several groups": 300,
    "several groups of a partition": 100,
    "truncated": 50,
    "old spec": 100,
    "ordered": 50,
    "several tasks": 300,
    "many tasks": 50,
    "deletes weigh": 300,
    "deletion vectors": 100,
    "shuffled": 50,
}
SORT_KEYS = {
    JobOrder.BYTES_ASC: lambda group: group.input_bytes,
    JobOrder.BYTES_DESC: lambda group: -group.input_bytes,
    JobOrder.FILES_ASC: lambda group: len(group.paths),
    JobOrder.FILES_DESC: lambda group: -len(group.paths),
}


@pytest.fixture(scope="module")
def oracle(spark):
    return IcebergOracle(spark)


@pytest.fixture(scope="module")
def coverage():
    return Coverage()


def test_plans_equal_those_of_iceberg(oracle, coverage):
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(cases())
    def compare(case):
        plan = expand(case.action, case.state)
        ours = [as_java_group(group, case.is_shuffled) for group in plan.groups]
        theirs, planned_groups_count = oracle.plan(case)
        assert comparable(ours, case) == comparable(theirs, case)
        assert plan.planned_groups_count == planned_groups_count
        coverage.add(case, plan)

    compare()
    print(f"\n{len(coverage.states)} distinct states;", dict(coverage.counts))
    assert coverage.counts["cases"] >= CASES
    assert len(coverage.states) >= CASES
    assert {
        name: coverage.counts[name] for name, floor in FLOORS.items() if coverage.counts[name] < floor
    } == {}


def comparable(groups: list[JavaGroup], case: Case) -> object:
    """Groups without what Iceberg leaves open: the order of partitions and, of some files, theirs."""
    key = SORT_KEYS.get(case.figures.job_order)
    if not case.is_ordered:
        groups = [replace(g, paths=tuple(sorted(g.paths)), task_bytes=None) for g in groups]
    by_partition = {
        name: [g for g in groups if g.partition == name] for name in {g.partition for g in groups}
    }
    return Counter(groups), [key(group) for group in groups] if key else None, by_partition
