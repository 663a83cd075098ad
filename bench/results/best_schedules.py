"""The best schedules in hindsight of a scenario, stored beside its simulated runs."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bench.errors import ResultSchemaError

LABEL = "hindsight-"  # of strategies that are such schedules, followed by the rate of queries
_FILE = "hindsight.json"


@dataclass(frozen=True, slots=True)
class BestSchedule:
    """The cheapest schedule of compactions that was found for a rate of queries.

    It runs the planner of the scenario's strategy `strategy`, `planner` in words, at the ticks `ticks`, and
    is stored as a run with the label `label` unless it never compacts. `parts_cpu_s` are the CPU seconds of
    its commits, compactions and queries, added up by the search; no schedule of the planners costs less than
    `bound_cpu_s`, and commits and queries alone take at least `floor_cpu_s`. `same_planners` are the
    strategies whose own schedules were among those searched.
    """

    queries_per_h: float
    strategy: str
    planner: str
    ticks: tuple[int, ...]
    parts_cpu_s: float
    bound_cpu_s: float
    floor_cpu_s: float
    same_planners: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"{LABEL}{self.queries_per_h:.10g}"


@dataclass(frozen=True, slots=True)
class BestSchedules:
    """`search` identifies what was searched; `scenario_hash` is that of the runs beside the file."""

    search: str
    scenario_hash: str
    found: tuple[BestSchedule, ...]


_STORED: TypeAdapter[BestSchedules] = TypeAdapter(BestSchedules)


def write_best_schedules(folder: Path, schedules: BestSchedules) -> None:
    """In the folder of a scenario, which is made if it does not exist."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{_FILE}"
    draft.write_text(json.dumps(asdict(schedules), indent=1), encoding="utf-8")
    draft.replace(folder / _FILE)


def read_best_schedules(folder: Path) -> BestSchedules | None:
    """Of the folder of a scenario; None if none were searched. Raises ResultSchemaError."""
    file = folder / _FILE
    if not file.is_file():
        return None
    try:
        return _STORED.validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise ResultSchemaError(
            "is damaged: remove it, and repeat the command that searched", code="damaged-record", path=file
        ) from error
