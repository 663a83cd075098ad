"""Our compaction plans beside those of Hudi's own strategies: the same file slices, the same options."""

from collections import Counter
from datetime import UTC, datetime

import pytest
from hudi_cases import cases, of_one_day
from hudi_oracle import HudiOracle, JavaPlan
from hypothesis import HealthCheck, given, settings
from profiles import of_thorough

from strategies.hudi import compaction_strategies
from strategies.hudi.compaction_plan import INCREMENTAL
from strategies.hudi.compaction_strategies import STRATEGIES, Choice, DayBased, LogFileSizeBased, Operation
from strategies.hudi.dates import day_of
from strategies.hudi.planners import Compaction
from strategies.hudi.preview import planned_compaction
from strategies.state import MIB

pytestmark = pytest.mark.spark

EXAMPLES, CASES = 2_150, 2_000  # of the thorough profile, as the floors; Hypothesis repeats a few
FLOORS = {
    "planned": 800,
    "something left out": 200,
    "missing partitions": 80,
    "not incremental": 600,
    "composite": 600,
    "no base file": 500,
    "future partition": 200,
    "hive style": 200,
    "two partitions of one day": 50,
    "equal log bytes": 100,
    "exceeds the target": 50,
    "failed": 20,
    **dict.fromkeys(STRATEGIES, 200),
}


@pytest.fixture(scope="module")
def answers(spark):
    """Cases with the plans of Hudi's classes, None where these failed, which our plans equal."""
    oracle, today = HudiOracle(spark), datetime.now(UTC).date()
    found = []

    def check(case):
        answer = oracle.plan(case)
        assert ours(case) == answer
        found.append((case, answer))

    @settings(
        max_examples=round(of_thorough(EXAMPLES)),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(cases(today))
    def compare(case):
        check(case)

    for case in of_one_day(today):  # random cases seldom show it, and on some days not at all
        check(case)
    compare()
    return found


def ours(case):
    """Our plan of a case as the oracle gives Hudi's."""
    plan = Compaction(case.strategy, case.options).decide(case.state)
    try:
        planned = planned_compaction(plan.actions[0], case.state)
    except ValueError:
        return None
    groups = tuple(operation.slice.group for operation in planned.operations)
    io_mib = sum(operation.io_mib for operation in planned.operations)
    return JavaPlan(groups, planned.missing_partitions, io_mib)


def test_plans_equal_those_of_hudi_in_cases_of_every_sort(answers):
    states = {hash((tuple(c.state.data_files), tuple(c.state.delete_files))) for c, _ in answers}
    counts = Counter(name for case, answer in answers for name in traits(case, answer))
    print(f"\n{len(answers)} cases, {len(states)} distinct tables;", dict(counts))
    assert len({repr(case) for case, _ in answers}) >= of_thorough(CASES)
    assert [name for name, floor in FLOORS.items() if counts[name] < of_thorough(floor)] == []


def traits(case, answer):
    """What a case shows."""
    names = set(case.strategy.split(","))
    yield from names
    if len(names) > 1:
        yield "composite"
    if case.options[INCREMENTAL] == "false":
        yield "not incremental"
    if answer is None:
        yield "failed"
        return
    slices, today = case.state.file_slices, day_of(f"{case.state.calendar_day:%Y/%m/%d}")
    if answer.groups:
        yield "planned"
        if len(answer.groups) < len(slices):
            yield "something left out"
        if any(slices[group].base is None for group in answer.groups):
            yield "no base file"
    if answer.missing_partitions:
        yield "missing partitions"
    target = case.options.get("hoodie.compaction.target.io")
    if target and answer.io_mib > int(target):
        yield "exceeds the target"
    partitions = {group.partition for group in slices}
    if any("=" in partition for partition in partitions):
        yield "hive style"
    try:
        days = [day_of(partition) for partition in partitions]
    except ValueError:
        return
    if max(days, default=today) > today:
        yield "future partition"
    if len(set(days)) < len(days):
        yield "two partitions of one day"
    if len({each.log_bytes for each in slices.values()}) < len(slices):
        yield "equal log bytes"


def _rounded_up(operation):
    own = operation.slice
    return -(-(own.base_bytes + own.log_bytes) // MIB) + own.base_bytes // MIB


_EARLIEST = compaction_strategies._earliest_day


def _latest_by_text(self, partitions, settings):
    return Choice(sorted(partitions, reverse=True)[: settings.target_partitions])


@pytest.mark.parametrize(
    ("owner", "name", "mutant"),
    [
        # As Hudi's documentation has it: today - 3 is no longer among the last 3.
        (compaction_strategies, "_earliest_day", lambda settings: _EARLIEST(settings) + 1),
        (compaction_strategies, "grouped", dict.fromkeys),
        (compaction_strategies, "latest_first", lambda partitions: sorted(partitions, reverse=True)),
        (DayBased, "partitions", _latest_by_text),
        (LogFileSizeBased, "threshold", lambda self, settings: settings.log_bytes_min + 1),
        (Operation, "io_mib", property(_rounded_up)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_rule_changed_by_a_little_gives_other_plans(answers, monkeypatch, owner, name, mutant):
    monkeypatch.setattr(owner, name, mutant)
    assert any(ours(case) != answer for case, answer in answers)
