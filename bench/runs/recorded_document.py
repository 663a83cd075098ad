"""The scenario that a run recorded, to run some of its strategies again."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from bench.errors import ScenarioError
from bench.results.records import Manifest


def recorded_document(manifest: Manifest, labels: Sequence[str], suffix: str = "") -> dict[str, Any]:
    """The scenario without variants and with these strategies.

    `suffix` is what the labels have in addition in the variant of the run. Secrets are hidden in it. Raises
    ScenarioError if it was not recorded.
    """
    document: dict[str, Any] = deepcopy(dict(manifest.scenario_text))
    document.pop("variants", None)
    strategies = {
        str(table.get("label")).removesuffix(suffix): table for table in document.get("strategies", ())
    }
    if not strategies.keys() >= {*labels}:
        raise ScenarioError("its scenario was not recorded", code="not-recorded", path=manifest.run_id)
    document["strategies"] = [{**_loadable(strategies[name]), "label": name} for name in labels]
    return document


def _loadable(strategy: Mapping[str, Any]) -> dict[str, Any]:
    """A strategy without the empty key `switch`, which earlier versions recorded for each."""
    return {key: value for key, value in strategy.items() if (key, value) != ("switch", [])}
