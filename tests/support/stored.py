"""Runs that a suite stores without making them."""

from records import commit, end, observed, query
from result_builder import manifest, write_run

from bench.results.folders import load_run


def stored(out, planned, status="finished"):
    """With one commit, and a query of a second."""
    scenario = planned.scenario
    fields = {
        "scenario": scenario.name, "scenario_hash": scenario.hash, "strategy_hash": planned.spec.hash,
        "position": planned.position, "run_id": f"run-{planned.position}",
    }  # fmt: skip
    run_manifest = manifest(planned.spec.label, planned.repetition, **fields)
    folder = out / scenario.name / f"{planned.folder_name}-{planned.position}"
    return load_run(write_run(folder, run_manifest, [commit(), query(), observed(), end(status)]))
