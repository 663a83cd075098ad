"""The Python planner of position deletes against Iceberg's: the same tables and options, the same plans."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from iceberg_oracle import JavaGroup
from planner_cases import position_delete_cases
from profiles import of_thorough

from strategies.iceberg.commands import Command
from strategies.iceberg.files import DeleteKind
from strategies.iceberg.preview import preview_action
from strategies.partitions import fields_of, is_null
from strategies.plan import Native

pytestmark = pytest.mark.spark

# Of the thorough profile, as the floors. Hypothesis also draws constants of all modules that are loaded, so
# the numbers vary with code elsewhere.
EXAMPLES, CASES = 700, 350
FLOORS = {
    "planned": 250, "group filtered": 100, "rewrite all": 60, "several groups": 120, "ordered": 20,
    "several specs": 5, "null partition": 40, "vectors too": 80, "vectors alone": 80,
}  # fmt: skip


def ours(case):
    action = Native(Command.REWRITE_POSITION_DELETE_FILES, {}, case.options)
    preview, options = preview_action(action, case.state), case.figures
    assert preview.groups == ()
    return [
        JavaGroup(
            group.partition, tuple(f.path for f in group.files), group.input_bytes, 0,
            options.split_bytes(group.input_bytes), options.max_output_file_bytes,
            options.expected_output_files(group.input_bytes), None,
        )
        for group in preview.delete_groups
    ]  # fmt: skip


def comparable(groups, case):
    """Without what Iceberg leaves open: the order of partitions and, of several specs, that of files."""
    if not case.is_ordered:
        groups = [replace(g, paths=tuple(sorted(g.paths))) for g in groups]
    alike = [replace(g, partition=frozenset(values(g.partition))) for g in groups]
    in_order = {name: [g for g in alike if g.partition == name] for name in {g.partition for g in alike}}
    order = case.figures.job_order
    key = order.split("-")[0]
    sums = {"bytes": [g.input_bytes for g in alike], "files": [len(g.paths) for g in alike]}
    return Counter(alike), in_order, sums.get(key)


def values(partition):
    return ((name, value) for name, value in fields_of(partition).items() if not is_null(value))


def traits(case, groups):
    options, deletes = case.figures, case.state.delete_files
    planned = {path for group in groups for path in group.paths}
    candidates = {d.path for d in deletes if not options.is_right_size(d.size_bytes)}
    kinds = {d.kind for d in deletes if d.path in planned}
    return {
        "planned": bool(groups),
        "group filtered": not options.rewrite_all and not candidates <= planned,
        "rewrite all": options.rewrite_all and bool(groups),
        "several groups": len(groups) > 1,
        "ordered": options.job_order != "none" and len(groups) > 1,
        "several specs": any(
            len({d.spec_id for d in deletes if d.path in group.paths}) > 1 for group in groups
        ),
        "null partition": any("null" in d.partition for d in deletes if d.path in planned),
        "vectors too": len(kinds) > 1,
    }


def test_plans_equal_those_of_iceberg_in_cases_of_every_sort(oracle):
    counts, states = Counter(), set()

    @settings(
        max_examples=round(of_thorough(EXAMPLES)), derandomize=True, database=None, deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )  # fmt: skip
    @given(position_delete_cases())
    def compare(case):
        found, deletes = ours(case), case.state.delete_files
        vectors = tuple(d for d in deletes if d.kind is DeleteKind.DELETION_VECTOR)
        if vectors:
            # The action looks for other files before it asks the planner (requiresRewriteToDVs).
            assert ours(replace(case, state=replace(case.state, delete_files=vectors))) == []
            counts["vectors alone"] += 1
        if len(vectors) == len(deletes):
            return
        answer = oracle.plan_deletes(case)
        assert len(found) == answer.planned_groups_count
        assert comparable(found, case) == comparable(list(answer.groups), case)
        states.add(hash((case.state.delete_files, tuple(case.options.items()))))
        counts.update(name for name, seen in traits(case, found).items() if seen)

    compare()
    print(f"\n{len(states)} distinct states;", dict(counts))
    assert len(states) >= of_thorough(CASES)
    assert [name for name, floor in FLOORS.items() if counts[name] < of_thorough(floor)] == []
