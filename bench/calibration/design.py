"""The calibration runs of each format (`bench.engines.calibrating`)."""

import random
from pathlib import Path

from bench.engines.calibrating import Document, Level
from bench.engines.registry import FORMATS
from bench.scenario.load import scenario_of
from bench.scenario.scenario import Scenario

SEED = 20260101
_COMMITS = 8


def design(table_format: str) -> list[Scenario]:
    """The scenarios of a format, in an order that is the same each time and mixes large and small."""
    levels = [*FORMATS[table_format].engines.simulated.calibrating.levels]
    random.Random(SEED).shuffle(levels)  # noqa: S311
    return [
        scenario_of(Path(f"calibrate-{table_format}-{level.name}.toml"), _document(table_format, level))
        for level in levels
    ]


def _document(table_format: str, level: Level) -> Document:
    return {
        "description": f"A calibration run of {table_format}: {level.name}.",
        "seed": SEED,
        "duration": f"{_COMMITS}min",
        "commit_interval": "1min",
        "probe_every": "2min",
        "table": {"format": table_format, "target_file_size": "16MiB", **level.table},
        "workload": level.workload,
        "strategies": [{"label": "calibrate", **level.strategy}],
        "maintenance": FORMATS[table_format].engines.simulated.calibrating.maintenance,
    }
