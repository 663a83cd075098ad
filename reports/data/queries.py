"""The queries of a scenario: their texts, and what a chart calls the primary one."""

import re
from typing import Any

from bench.results.records import Manifest
from reports.data.group import RunGroup

_SAYS_NOTHING = re.compile(r"(?:primary|main|test|probe|query|sql|q|[\W\d_])*", re.IGNORECASE)


_LATENCIES_OF = {"read by new sessions": "long-lived sessions", "read by each query": "new sessions"}


def query_text(group: RunGroup, name: str) -> str | None:
    queries: Any = group.manifest.scenario_text.get("probes", ())
    return next((query["sql"] for query in queries if query["name"] == name), None)


def query_name(group: RunGroup) -> str:
    """The name of the primary query, or its text where a name such as "primary" or "q1" says nothing."""
    name = group.manifest.primary_probe
    text = query_text(group, name) if _SAYS_NOTHING.fullmatch(name) else None
    return name if text is None else " ".join(text.split())


def sessions_of(manifest: Manifest) -> str | None:
    """The sessions whose queries the latencies are of; None where a run does not say, as simulated ones."""
    return _LATENCIES_OF.get(manifest.notes.get("table_metadata", ""))
