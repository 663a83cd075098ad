"""Previews of tables that consist of a state only, without files."""

from dataclasses import dataclass, replace

import pytest
from refused import refused

from bench.engines.existing import TableFacts
from bench.engines.registry import FORMATS
from bench.engines.rewrite_work import rewrite_work
from bench.engines.simulated.steps import Operation, Step, rewrite_step
from bench.preview.preview import NamedPlanners, named_planners, preview_strategy
from bench.scenario.load import load_scenario
from strategies.iceberg.delete_planners import ConvertDeletes, RemoveDanglingDeletes
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, IcebergState
from strategies.iceberg.procedures import RewriteDataFiles
from strategies.plan import Compact, Plan, Reason, Rewrite
from strategies.preview import Preview
from strategies.state import MIB, PartitionStats

ICEBERG = FORMATS["iceberg"]
OLD, NEW = IcebergDataFile("a", MIB, 10, "", 1), IcebergDataFile("b", MIB, 10, "", 3)
DELETES = IcebergDeleteFile("d", 700, 5, "", 2, kind=DeleteKind.EQUALITY)
DANGLING = IcebergDeleteFile("e", 90, 5, "", 1, kind=DeleteKind.EQUALITY)


@dataclass
class StateOnly:
    """An existing table without files; `narrowed_to` is the state that an action may touch."""

    state: IcebergState
    narrowed_to: IcebergState | None = None
    facts = TableFacts("t", "m", 2, None, None, "", (), (), ())

    def narrowed(self, action):
        return action, self.narrowed_to or self.state

    def shortfall(self, action, state):
        return None

    def planner_problem(self, planner):
        return None

    def dropped_deletes(self, action, preview):
        return ()


@dataclass(frozen=True)
class Fixed:
    """Plans these actions."""

    actions: tuple

    def decide(self, state):
        return Plan(self.actions, Reason.OTHER)


@dataclass(frozen=True)
class Within:
    """Compacts these partitions."""

    partitions: tuple[str, ...] | None

    def decide(self, state):
        return Plan((Compact(self.partitions),), Reason.OTHER)


def table(*deletes, files=(OLD, NEW)):
    return StateOnly(IcebergState(60_000, 8 * MIB, data_files=files, delete_files=deletes))


def previewed(planner, existing, table_format=ICEBERG):
    return preview_strategy(NamedPlanners("p", ((planner, None),)), existing, table_format)


def test_a_conversion_costs_what_its_files_and_deletes_do():
    found = previewed(ConvertDeletes(), table(DELETES))
    assert [group.convert_paths for group in found.plan.actions[0].groups] == [("a",)]
    step = rewrite_step(Operation.CONVERT, rewrite_work([found.preview]), 2)
    assert (found.cpu_s, found.calibrated) == (ICEBERG.engines.estimates().price(step, 1).cpu_s, True)


def test_a_planner_knows_what_the_format_is_expected_to_cost_and_of_no_history():
    seen = []

    @dataclass(frozen=True)
    class Spy:
        def decide(self, state):
            seen.append(state)

    assert previewed(Spy(), table()).preview is None
    (state,) = seen
    assert state.cost_priors["spark"].fixed_cpu_s > 0
    assert (state.executor, state.compactions, state.probes, state.probe_latency_s) == ("spark", (), (), None)


def test_the_executor_of_a_rule_is_known_to_its_planner_and_in_the_cost():
    seen = []

    @dataclass(frozen=True)
    class Spy:
        def decide(self, state):
            seen.append(state.executor)

    rewrite = RewriteDataFiles(options={"min-input-files": 2})
    named = NamedPlanners("p", ((Spy(), "single-node"), (Spy(), None), (rewrite, "single-node")))
    found = preview_strategy(named, table(), ICEBERG)
    assert seen == ["single-node", "spark"]
    step = rewrite_step(Operation.SINGLE_NODE, rewrite_work([found.preview]), 2)
    assert found.cpu_s == ICEBERG.engines.estimates().price(step, 1).cpu_s > 0


def test_the_executors_of_a_scenarios_rules_are_taken():
    scenario = load_scenario("policies-append")
    ((_, own),) = named_planners("amoro", (), scenario).pairs
    ((_, other),) = named_planners("amoro-single-node", (), scenario).pairs
    assert (own, other) == (None, "single-node")


def test_dropping_delete_files_costs_a_rewrite_of_nothing():
    coefficients = ICEBERG.engines.estimates()
    found = previewed(RemoveDanglingDeletes(), table(DANGLING))
    assert found.plan.actions[0].removed_deletes == ("e",)
    assert found.cpu_s == coefficients.price(Step(Operation.REWRITE, {"s": 1, "s_per_live_file": 2}), 1).cpu_s


def test_a_rewrite_costs_what_its_groups_do():
    found = previewed(RewriteDataFiles(options={"min-input-files": 2}), table())
    assert found.preview.files_removed_count == 2
    step = rewrite_step(Operation.REWRITE, rewrite_work([found.preview]), 2)
    assert found.cpu_s == ICEBERG.engines.estimates().price(step, 1).cpu_s > 0


def test_the_bytes_of_dropped_delete_files_are_summed_over_actions():
    actions = tuple(Rewrite((), MIB, (key,)) for key in ("d", "e"))
    found = previewed(Fixed(actions), table(replace(DELETES, data_sequence_number=1), DANGLING))
    assert found.preview.dropped_bytes == 790


def test_a_shortfall_concerns_the_partitions_that_a_plan_names():
    paths = []

    class Recording(StateOnly):
        def shortfall(self, action, state):
            paths.append({file.path for file in state.data_files})

    files = tuple(replace(file, partition=f"day={day}") for file, day in ((OLD, 1), (NEW, 2)))
    partitions = {file.partition: PartitionStats(1) for file in files}
    existing = Recording(IcebergState(60_000, 8 * MIB, data_files=files, partitions=partitions))
    for named in (None, ("day=2",)):
        previewed(Within(named), existing)
    assert paths == [{"a", "b"}, {"b"}]


@pytest.mark.parametrize(("is_narrowed", "count"), [(False, 1), (True, 2)])
def test_an_action_is_previewed_once_unless_its_files_were_narrowed(is_narrowed, count):
    seen = []

    def counting(action, state) -> Preview:
        seen.append(state)
        return ICEBERG.engines.planning.preview(action, state)

    planning = replace(ICEBERG.engines.planning, preview=counting)
    existing = table()
    if is_narrowed:
        existing.narrowed_to = replace(existing.state, data_files=(OLD,))
    previewed(
        RewriteDataFiles(), existing, replace(ICEBERG, engines=replace(ICEBERG.engines, planning=planning))
    )
    assert len(seen) == count
    assert seen[-1] is existing.state


@pytest.mark.parametrize(
    ("name", "options", "code", "path", "text"),
    [
        ("nope", [], "unknown-name", '--strategy "nope"', '--strategy "nope": unknown planner; '),
        ("never", ["a"], "not-a-setting", "--option", "--option: a is not a setting: write key=value, e.g."),
        ("never", ["type.x=1"], "not-a-table", "type", "--option type.x=1: type: is not a table"),
        ("never", ["--set=1"], "unknown-name", "--set", "--option: --set = 1: unknown key"),
    ],
)  # fmt: skip
def test_an_error_in_an_option_names_the_option_and_has_its_path(name, options, code, path, text):
    with refused(code, path) as caught:
        named_planners(name, options, None)
    assert str(caught.value).startswith(text)
