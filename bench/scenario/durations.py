"""How long real runs of the shipped scenarios take, as far as runs of them are published."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

FILE = Path(str(files("workloads"))) / "durations.toml"  # `tools/durations.py` writes it


@dataclass(frozen=True, slots=True)
class RunDuration:
    """How long a run takes on two cores, by so many published runs."""

    run_s: int
    runs: int


@cache
def run_durations() -> Mapping[str, RunDuration]:
    """By the name of the scenario."""
    document = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: RunDuration(**table) for name, table in document.items()}
