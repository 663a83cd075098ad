"""Simulated results of runs that went beyond what the cost model was fitted to."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from result_builder import build_results

_OF_RUNS = {"mean_absolute": 0.1, "strategies": 9, "streams": 10**9}
ERRORS = {
    "compaction_cpu_s": {"log_sd": 0.3, "ratio_log_sd": 0.1, **_OF_RUNS},
    "commit_cpu_s": {"log_sd": 0.4, **_OF_RUNS},
    "query_mean_s": {"log_sd": 0.2, "ratio_log_sd": 0.05, **_OF_RUNS},
}


def fitted(errors: Mapping[str, Any] = ERRORS) -> dict[str, Any]:
    """The options of a run by coefficients with these errors."""
    return {"coefficients": {"operations": {"query": {"steps": 9}}, "errors": errors}}


def results_beyond_fit(
    folder: Path,
    beyond_fit: Mapping[str, Any],
    mode: str = "simulated",
    options: Mapping[str, Any] | None = None,
    strategies: Mapping[str, int | None] | None = None,
) -> Path:
    """Results in which the runs of `every-2min` went beyond it."""
    made = strategies or {"never": None, "every-2min": 2}
    build_results(folder, made, 1, 4, mode=mode, options=fitted() if options is None else options)
    for path in folder.rglob("events.jsonl"):
        lines = path.read_text().splitlines()
        if '"strategy": "every-2min"' in path.read_text():
            lines[-1] = json.dumps({**json.loads(lines[-1]), "beyond_fit": beyond_fit})
        path.write_text("".join(f"{line}\n" for line in lines))
    return folder
