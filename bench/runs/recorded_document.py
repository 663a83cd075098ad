"""The scenario that a run recorded, to run some of its strategies again."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from bench.errors import ScenarioError
from bench.results.records import Manifest


def recorded_document(manifest: Manifest, labels: Sequence[str], suffix: str = "") -> dict[str, Any]:
    """The scenario without variants and with these strategies, then those that they switch to.

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
    switched_to = (switch["strategy"] for label in labels for switch in strategies[label].get("switch", ()))
    document["strategies"] = [
        {**strategies[name], "label": name} for name in dict.fromkeys((*labels, *switched_to))
    ]
    return document
