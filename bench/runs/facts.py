"""What a compactbench says of itself to another one that is about to start its workers.

The other one runs this file by its path, with the Python and the code of the compactbench in question, so
`bench` means that one here. Where that has no such module, the question ends in a refusal.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


def facts(
    scenarios: Mapping[str, str], overrides: Sequence[str], schema_version: int | None = None
) -> dict[str, Any]:
    """The version of its results, the form of its manifests, records and jobs, and its view of `scenarios`.

    `scenarios` are files by name. If its results have another version than `schema_version`, that is all. A
    scenario that it cannot read makes a `problem`.
    """
    import bench
    from bench.results import records

    told: dict[str, Any] = {
        "folder": str(Path(str(bench.__file__)).parents[1]),
        "schema_version": records.SCHEMA_VERSION,
        "version": _version(),
    }
    if schema_version not in (None, records.SCHEMA_VERSION):
        return told
    from pydantic import TypeAdapter

    from bench.runs import provenance
    from bench.runs.jobs import RunJob

    told |= {
        "git": provenance.source(),
        "manifest": records.Manifest.model_json_schema(),
        "records": TypeAdapter(records.Record).json_schema(),
        "job": RunJob.model_json_schema(),
    }
    try:
        told["scenarios"] = {name: _seen(file, overrides) for name, file in scenarios.items()}
    except Exception as error:  # of any kind: the code is not ours
        told["problem"] = f"{type(error).__name__}: {error}"
    return told


def _version() -> str | None:
    try:
        return version("compactbench")
    except PackageNotFoundError:
        return None


def _seen(file: str, overrides: Sequence[str]) -> dict[str, Any]:
    """How it identifies a scenario, its strategies and its stream."""
    from bench.scenario.scenario import load_scenario
    from workloads.partitioning import Partitioning

    scenario = load_scenario(file, overrides)
    shape = tuple(scenario.workload.shape(
        scenario.seed, scenario.commits_count, scenario.commit_interval_ms, Partitioning()
    ))  # fmt: skip
    commits = ((c.index, c.at_ms, c.first_row, c.rows, c.writers, c.is_initial) for c in shape)
    return {
        "hash": scenario.hash,
        "strategies": [spec.label for spec in scenario.strategies],
        "commits": _digest(commits),  # when, how many rows, in how many files
        "shapes": _digest(shape),  # in all detail, which a simulation goes by
    }


def _digest(parts: Iterable[object]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(repr(part).encode())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    sys.stdout.write(f"\n{json.dumps(facts(**asked))}\n")
