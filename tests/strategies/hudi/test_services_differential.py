"""Plans of table services compared with those of Hudi's own planners, on folders that both read."""

import itertools
from collections import Counter

import pytest
from hudi_service_cases import SERVICES, service_cases
from hudi_service_oracle import HudiServiceOracle, ServicePlan
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from profiles import of_thorough

from bench.engines.existing import TableAddress
from bench.engines.hudi.existing_table import open_existing
from strategies.hudi import clustering_plan, files, log_compaction_plan
from strategies.hudi.clustering_plan import clustering_options, plan_clustering
from strategies.hudi.commands import Command
from strategies.hudi.compaction_plan import compaction_settings, plan_compaction
from strategies.hudi.compaction_strategies import class_names, strategy_of
from strategies.hudi.incremental import INCREMENTAL
from strategies.hudi.log_compaction_plan import blocks_min, plan_log_compaction

pytestmark = pytest.mark.spark

EXAMPLES = 150  # of each service in the thorough profile, as the floors
MAX_FILE_BYTES = 120
FLOORS = {
    "planned": 80,
    "compacts a group with a pending log compaction": 5,
    "leaves out a group with a pending plan": 15,
    "decided by the last log compaction": 20,
    "incremental": 20,
    "missing partitions": 5,
    "unpartitioned, and cut short": 3,
}


@pytest.fixture(scope="module")
def answers(spark, tmp_path_factory):
    """Cases with the table's state and Hudi's plan, which ours equals."""
    oracle, root = HudiServiceOracle(spark), tmp_path_factory.mktemp("tables")
    numbers, found = itertools.count(), []

    @settings(
        max_examples=round(of_thorough(EXAMPLES)),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(st.data())
    def compare(service, data):
        case = data.draw(service_cases(service))
        folder = case.build(root / str(next(numbers))).path
        state = open_existing(TableAddress(str(folder))).state
        further = {
            "hoodie.compaction.strategy": class_names("UnBounded"),
            "hoodie.parquet.max.file.size": str(MAX_FILE_BYTES),
        }
        answer = oracle.plan(case.service, folder, case.planned_at, {**case.options, **further})
        assert ours(case, state) == comparable(answer)
        found.append((case, state, answer))

    for service in SERVICES:
        compare(service)
    return found


def comparable(plan):
    """A plan without the order in which it names groups, which follows from Hudi's listing."""
    return {frozenset(merged) for merged in plan.groups}, plan.missing_partitions


def ours(case, state):
    match case.service:
        case Command.COMPACTION:
            settings = compaction_settings(case.options, None)
            plan = plan_compaction(state, strategy_of("UnBounded"), settings, MAX_FILE_BYTES)
            groups = [(operation.slice.group,) for operation in plan.operations]
            missing = plan.missing_partitions
        case Command.LOG_COMPACTION:
            groups = [(merged.group,) for merged in plan_log_compaction(state, blocks_min(case.options))]
            missing = ()
        case _:
            options = clustering_options(case.options, MAX_FILE_BYTES)
            plan = plan_clustering(state, options, MAX_FILE_BYTES)
            groups = [tuple(each.group for each in group.slices) for group in plan.groups]
            missing = plan.missing_partitions
    noted = None if missing is None or not groups else frozenset(missing)
    return comparable(ServicePlan(tuple(groups), noted))


def test_plans_equal_those_of_hudi_whatever_is_pending(answers):
    counts = Counter(name for answer in answers for name in traits(*answer))
    print(f"\n{len(answers)} cases;", dict(counts))
    assert [name for name, floor in FLOORS.items() if counts[name] < of_thorough(floor)] == []


def traits(case, state, answer):
    """What a case shows."""
    pending = frozenset[files.FileGroupId]().union(*state.pending_groups.values())
    planned = {files.FileGroupId(*group) for merged in answer.groups for group in merged}
    if planned:
        yield "planned"
    if planned & pending:
        yield "compacts a group with a pending log compaction"
    if any(files.busy_groups(state.pending_groups, case.service)):
        yield "leaves out a group with a pending plan"
    if case.service is Command.LOG_COMPACTION and any(each.is_log_compaction for each in state.timeline):
        yield "decided by the last log compaction"
    if case.options.get(INCREMENTAL) == "true" and not all(each.is_pending for each in state.timeline):
        yield "incremental"
    if answer.missing_partitions:
        yield "missing partitions"
    if case.service is Command.CLUSTERING and not case.partitions_count and planned:
        options = clustering_options(case.options, MAX_FILE_BYTES)
        slices = clustering_plan._eligible(state, options.small_bytes)[""]
        if options.is_incremental and not _GROUPS(slices, options, MAX_FILE_BYTES)[1]:
            yield "unpartitioned, and cut short"


def _busy_with_anything(pending, service):
    return frozenset[files.FileGroupId]().union(*pending.values())


_SINCE, _GROUPS = log_compaction_plan._since_log_compaction, clustering_plan._groups


@pytest.mark.parametrize(
    ("owner", "name", "mutant"),
    [
        (files, "busy_groups", _busy_with_anything),
        (files, "busy_groups", lambda pending, service: frozenset()),
        (log_compaction_plan, "_since_log_compaction", lambda timeline: _SINCE(timeline) + 1),
        (log_compaction_plan, "_since_log_compaction", len),
        (clustering_plan, "_groups", lambda *given: (_GROUPS(*given)[0], True)),
    ],
)
def test_a_rule_changed_by_a_little_gives_other_plans(answers, monkeypatch, owner, name, mutant):
    monkeypatch.setattr(owner, name, mutant)
    assert any(ours(case, state) != comparable(answer) for case, state, answer in answers)
