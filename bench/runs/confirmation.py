"""Strategies that were simulated, to be run for real."""

import json
from collections.abc import Sequence
from pathlib import Path

from bench.errors import ScenarioError
from bench.results.records import Manifest
from bench.runs.recorded_document import recorded_document
from bench.scenario.load import scenario_of
from bench.scenario.scenario import Scenario
from bench.secrets import HIDDEN


def real_scenario(manifest: Manifest, labels: Sequence[str]) -> Scenario:
    """The scenario of a simulated run with these of its strategies.

    Raises ScenarioError if it cannot be run for real from what the run recorded.
    """
    problem = None
    if manifest.variant is not None:
        problem = "the strategies of a variant were simulated; run the scenario itself"
    elif manifest.is_imported:
        problem = "an imported table has no rows, so it can only be simulated"
    document = {} if problem else recorded_document(manifest, labels)
    if HIDDEN in json.dumps(document):
        problem = "secrets of the scenario are not recorded; run its file with `compactbench run`"
    if problem:
        raise ScenarioError(problem, code="not-real", path=manifest.scenario)
    return scenario_of(Path(f"{manifest.scenario}.toml"), document)
