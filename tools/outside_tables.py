"""Two published tables, predicted by the simulator. `make outside-tables` writes the figures of the page.

The tables were measured on clusters that we do not have. A cluster is described by two numbers: how fast its
cores are, and what a compaction or a query takes besides (the start of a job, a catalog that is far away).
Both are fitted to two rows of the append-only table, and predict its other rows and the table of upserts.
Nothing says which two rows are right, so every choice is shown.

Source of the published figures: the comparison that Apache Amoro published, as in docs/results.md.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

from bench.cli.simulating import simulated_aside
from bench.results.rows import run_figures
from bench.runs.suite.cases import plan_runs
from bench.scenario.load import load_scenario
from tools.publishing import FOLDER

FILE = FOLDER / "outside-tables.json"
COMPACTION, BEFORE, AFTER = "compaction_s", "query_before_s", "query_after_s"
_DECIMALS = 3

# Wall seconds of all compactions, and of the mean query before one.
APPEND = {
    "every-1min": {COMPACTION: 394, BEFORE: 0.7},
    "amoro": {COMPACTION: 90, BEFORE: 1.0},
    "every-10min": {COMPACTION: 75.3, BEFORE: 1.7},
    "every-60min": {COMPACTION: 23.8, BEFORE: 7.0},
}
UPSERT = {
    "spark-10min-deletes": {COMPACTION: 2596, BEFORE: 36.8, AFTER: 29.0},
    "amoro": {COMPACTION: 583, BEFORE: 32.8, AFTER: 30.6},
}
_APPEND_SETTINGS = (
    "jvm=warm", "resources.writer={cores=8}", "resources.compactor={cores=1}", "resources.reader={cores=4}",
)  # fmt: skip
# 500 million rows and 230 GB are 460 bytes a row. The widest orders table has 78, so it has either of them.
_UPSERT_SETTINGS = (
    "jvm=warm", "resources.writer={cores=8}", "resources.compactor={cores=32}",
    "resources.reader={cores=32}", "workload.columns=40",
)  # fmt: skip
SIZES = {"500 M rows, 39 GB": 500_000_000, "2,900 M rows, 226 GB": 2_900_000_000}

Figures = Mapping[str, Mapping[str, float]]


def simulated(name: str, settings: Sequence[str], strategies: Sequence[str]) -> Figures:
    """The figures of each strategy, with the number of its `compactions`."""
    scenario = load_scenario(name, settings)
    runs = plan_runs([scenario], strategies, None, (), mode="simulated")
    return {run.manifest.strategy: _known(run_figures(run)) for run in simulated_aside(runs)}


def _known(figures: Mapping[str, float | None]) -> Mapping[str, float]:
    return {name: value for name, value in figures.items() if value is not None}


def fitted(first: tuple[float, float, float], second: tuple[float, float, float]) -> tuple[float, float]:
    """The seconds of each step and the speed of cores at which two rows are as published.

    Each row is (steps, modelled seconds, published seconds).
    """
    (steps, modelled, published), (other_steps, other_modelled, other_published) = first, second
    determinant = steps * other_modelled - other_steps * modelled
    start_s = (published * other_modelled - other_published * modelled) / determinant
    per_modelled = (steps * other_published - other_steps * published) / determinant
    return start_s, 1 / per_modelled


def _steps(figures: Mapping[str, float], metric: str) -> float:
    return figures["compactions"] if metric == COMPACTION else 1.0


def _choices(append: Figures, upsert: Figures, metric: str) -> Iterator[dict[str, Any]]:
    """For each pair of rows: what was fitted, and what it predicts."""
    for pair in combinations(APPEND, 2):
        rows = [
            (_steps(append[one], metric), append[one][metric], float(APPEND[one][metric])) for one in pair
        ]
        start_s, speed = fitted(rows[0], rows[1])
        predicted = partial(_predicted, metric=metric, start_s=start_s, speed=speed)
        yield {
            "fitted_to": list(pair),
            "start_s": round(start_s, _DECIMALS),
            "core_speed": round(speed, _DECIMALS),
            "append": {one: predicted(append[one]) for one in APPEND if one not in pair},
            "upsert": {one: predicted(upsert[one]) for one in UPSERT},
        }


def _predicted(figures: Mapping[str, float], metric: str, start_s: float, speed: float) -> float:
    return round(_steps(figures, metric) * start_s + figures[metric] / speed, _DECIMALS)


def document() -> dict[str, Any]:
    append = simulated("append-only", _APPEND_SETTINGS, [*APPEND])
    upserts = {
        size: simulated("upsert", [*_UPSERT_SETTINGS, f"workload.initial_rows={rows}"], [*UPSERT])
        for size, rows in SIZES.items()
    }
    by_rows = next(iter(upserts.values()))
    return {
        "published": {"append": APPEND, "upsert": UPSERT},
        "choices": {metric: [*_choices(append, by_rows, metric)] for metric in (COMPACTION, BEFORE)},
        "as_here": {
            size: {one: {name: round(upsert[one][name], _DECIMALS) for name in UPSERT[one]} for one in UPSERT}
            for size, upsert in upserts.items()
        },
    }


def main() -> None:
    FILE.write_text(json.dumps(document(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
