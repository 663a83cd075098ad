"""What planners are asked in a warm-up, on a simulated table."""

from dataclasses import dataclass, replace

import pytest
from noting_planner import EverySecond
from scenario_builder import SOUND, write
from simulated_tables import make

from bench.engines.contract import Batch
from bench.runs.warm_up import ROUNDS, warm_up
from bench.scenario.scenario import load_scenario
from strategies.amoro.planner import Amoro
from strategies.strategy import Rule
from strategies.triggers import Every


@pytest.fixture
def scenario(tmp_path):
    return load_scenario(write(tmp_path, SOUND))


def plans_of(planner, scenario):
    """In which rounds a planner planned."""
    asked = []

    @dataclass(frozen=True)
    class Watched:
        def decide(self, state):
            plan = planner.decide(state)
            asked.append(plan is not None)
            return plan

        def note(self, state, plan):
            return planner.note(state, plan)

    spec = scenario.strategies[0]
    strategy = replace(spec.strategy, rules=(Rule(Every(60_000), Watched()),))
    own = replace(scenario, strategies=(replace(spec, strategy=strategy),))
    warm_up(own, make(), [Batch(spec, (), spec.expected_bytes) for spec in scenario.shape()])
    return asked


def test_a_planner_that_waits_for_a_second_evaluation_is_warmed_up_too(scenario):
    assert plans_of(EverySecond(), scenario) == [False, True, False, True]


def test_amoro_plans_in_every_round_of_a_warm_up(scenario):
    # Time passes from round to round, so that neither its interval nor a version seen before stops it.
    planner = Amoro({"self-optimizing.minor.trigger.file-count": 2})
    assert plans_of(planner, scenario) == [True] * ROUNDS
