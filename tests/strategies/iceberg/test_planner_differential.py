"""The Python planner against Iceberg's: the same tables, the same options, the same plans."""

from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from iceberg_oracle import JavaGroup, as_java_group
from planner_cases import Case, cases
from planner_coverage import Coverage
from profiles import of_thorough
from pyspark.errors import IllegalArgumentException, NumberFormatException

from strategies.iceberg import rewrite_options
from strategies.iceberg import scan_tasks as scan_task_groups
from strategies.iceberg.deletes import index as delete_index
from strategies.iceberg.deletes import keyed_files
from strategies.iceberg.files import IcebergDataFile, IcebergState
from strategies.iceberg.preview import preview_action
from strategies.iceberg.rewrite_options import JobOrder

pytestmark = pytest.mark.spark

share_of = partial(of_thorough, at_least=0.25)
EXAMPLES, CASES = 3_200, 2_500  # of the thorough profile; Hypothesis repeats about a fifth
# Of the thorough profile too: half of what is drawn, or less, which varies with Hypothesis and with our code.
FLOORS = {
    "planned": 1_000,
    "group filtered": 200,
    "deletes triggered": 150,
    "several groups": 300,
    "several groups of a partition": 100,
    "truncated": 50,
    "null partition": 50,
    "old spec": 100,
    "ordered": 50,
    "several tasks": 300,
    "many tasks": 50,
    "deletes weigh": 300,
    "shuffled": 50,
    "keys miss": 300,
    "keys miss, and the plan differs": 100,
    "keys meet": 300,
    "one side without bounds": 200,
    "no metrics": 100,
    "nulls meet": 50,
    "nulls alone": 100,
    "required key": 100,
    "text key": 100,
    "global equality": 100,
    "equality of a partition": 200,
    "positions of a partition": 200,
    "positions of a file": 200,
    "deletion vectors": 100,
    "vector hides positions": 8,
    "mixed": 200,
}
SORT_KEYS = {
    JobOrder.BYTES_ASC: lambda group: group.input_bytes,
    JobOrder.BYTES_DESC: lambda group: -group.input_bytes,
    JobOrder.FILES_ASC: lambda group: len(group.paths),
    JobOrder.FILES_DESC: lambda group: -len(group.paths),
}


@pytest.fixture(scope="module")
def answers(oracle):
    """Cases with Java's plans of them, which Python's plans equal."""
    found = []

    @settings(
        max_examples=round(share_of(EXAMPLES)),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(cases())
    def compare(case):
        answer = oracle.plan(case)
        ours, theirs = both(case, answer)
        assert ours == theirs
        assert applied(case) == answer.applied
        found.append((case, answer))

    compare()
    return found


def test_plans_equal_those_of_iceberg_in_cases_of_every_sort(answers):
    coverage = Coverage()
    for case, _ in answers:
        coverage.add(case, preview_action(case.action, case.state))
    print(f"\n{len(coverage.states)} distinct states;", dict(coverage.counts))
    assert min(coverage.counts["cases"], len(coverage.states)) >= share_of(CASES)
    assert [name for name, floor in FLOORS.items() if coverage.counts[name] < share_of(floor)] == []


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (keyed_files, "bisect_right", bisect_left),  # equality deletes as old as the file apply
        (delete_index, "bisect_left", bisect_right),  # position deletes as old as the file do not
        (keyed_files._Group, "_all_overlap", lambda *_: True),  # bounds tell nothing
        (scan_task_groups, "_DEFAULT_LOOKBACK", 9),
        (rewrite_options, "_MIN_FACTOR", 0.74),
        (rewrite_options, "_SPLIT_OVERHEAD_BYTES", 5121),
        (rewrite_options, "_TOLERATED_FACTOR", 1.11),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_rule_changed_by_a_little_gives_other_plans(answers, monkeypatch, module, name, value):
    monkeypatch.setattr(module, name, value)
    pairs = (both(case, answer) for case, answer in answers)
    assert any(ours != theirs for ours, theirs in pairs)


@pytest.mark.parametrize(
    "options",
    [
        {"target-file-size-bytes": "0"},
        {"min-file-size-bytes": "100"},
        {"min-file-size-bytes": "-1"},
        {"max-file-size-bytes": "100"},
        {"min-input-files": "0"},
        {"max-file-group-size-bytes": "0"},
        {"delete-file-threshold": "-1"},
        {"delete-ratio-threshold": "0"},
        {"delete-ratio-threshold": "1.01"},
        {"max-files-to-rewrite": "0"},
        {"rewrite-job-order": "largest"},
        {"min-input-files": "1_0"},
        {"min-input-files": " 2"},
        {"min-input-files": "2147483648"},
        {"max-file-group-size-bytes": "9223372036854775808"},
        {"delete-ratio-threshold": "nan"},
        {"delete-ratio-threshold": "NaN"},
        {"rewrite-job-order": "bytes--desc"},
    ],
    ids=str,
)
def test_iceberg_refuses_the_same_options(oracle, options):
    state = IcebergState(0, 100, data_files=(IcebergDataFile("f", 1, 1),))
    case = Case(((),), state, options, is_shuffled=False, format_version=2, is_ordered=True)
    with pytest.raises(ValueError, match=next(iter(options))):
        preview_action(case.action, state)
    with pytest.raises((IllegalArgumentException, NumberFormatException)):
        oracle.plan(case)


@pytest.mark.parametrize(
    "options",
    [
        {"min-input-files": "+2"},
        {"min-input-files": "\uff12"},
        {"delete-ratio-threshold": " 0.3f\t", "min-input-files": "2"},
        {"delete-ratio-threshold": "0x1p-2", "rewrite-all": "TRUE"},
        {"rewrite-all": "yes"},
        {"rewrite-job-order": "Bytes_DESC", "min-input-files": "2"},
    ],
    ids=str,
)
def test_iceberg_reads_the_same_texts(oracle, options):
    state = IcebergState(0.0, 100, data_files=(IcebergDataFile("f", 1, 1), IcebergDataFile("g", 1, 1)))
    case = Case(((),), state, options, is_shuffled=False, format_version=2, is_ordered=True)
    ours, theirs = both(case, oracle.plan(case))
    assert ours == theirs


def both(case, answer):
    """Python's plan and Java's, in a form that is equal if they are."""
    plan = preview_action(case.action, case.state)
    ours = [as_java_group(group, case.figures) for group in plan.groups]
    theirs = list(answer.groups)
    planned_count = len(plan.groups) + plan.excluded_groups_count
    return (comparable(ours, case), planned_count), (comparable(theirs, case), answer.planned_groups_count)


def applied(case):
    """Delete files and their bytes by data file, as `JavaPlan` has them."""
    index = delete_index.index_deletes(case.state.delete_files)
    files = case.state.data_files if case.state.delete_files else ()
    found = {file.path: index.applying_to(file) for file in files}
    return {path: (deletes.files_count, deletes.size_bytes) for path, deletes in found.items()}


def comparable(groups: list[JavaGroup], case: Case) -> object:
    """Groups without what Iceberg leaves open: the order of partitions and, of some files, theirs."""
    key = SORT_KEYS.get(case.figures.job_order)
    if not case.is_ordered:
        groups = [replace(g, paths=tuple(sorted(g.paths)), task_bytes=None) for g in groups]
    by_partition = {
        name: [g for g in groups if g.partition == name] for name in {g.partition for g in groups}
    }
    return Counter(groups), [key(group) for group in groups] if key else None, by_partition
