"""Writes the stand-in of an imported table: a scenario of synthetic rows, and the rows of each commit."""

from pathlib import Path

from bench.cli.importing import Imported
from bench.cli.writing import writing
from bench.errors import ScenarioError
from bench.importing.stand_in import stand_in, stand_in_text, trace_text
from bench.importing.time_grid import replay_grid
from bench.scenario.load import load_scenario
from bench.text import counted, human_bytes, human_count, human_ratio

_SCALE_MIN, _SCALE_MAX = 1e-6, 1.0
_OVERHEAD_MAX = 1.2


def trace_file_of(target: Path) -> Path:
    return target.with_suffix(".trace.csv")


def scale_of(text: str) -> float:
    """Of "1/100" or "0.01". Raises ScenarioError."""
    over, slash, under = text.partition("/")
    try:
        scale = float(over) / float(under) if slash else float(over)
    except (ValueError, ZeroDivisionError):
        scale = 0.0
    if not _SCALE_MIN <= scale <= _SCALE_MAX:
        problem = "write a share of 1 such as 1/100 or 0.01"
        raise ScenarioError(problem, code="invalid", path=f"--scale {text}")
    return scale


def write_stand_in(imported: Imported, target: Path, scale: float) -> str:
    """Write the stand-in and its rows, and say in words what it has.

    Raises ScenarioError, also if the history does not tell enough.
    """
    history, trace = imported.history, trace_file_of(target)
    made = stand_in(history, replay_grid(history), scale, imported.table_format, imported.name)
    text = stand_in_text(made, history, imported.imports, imported.name, target, trace)
    with writing(trace, "--stand-in"):
        trace.write_text(trace_text(made), encoding="utf-8")
    with writing(target, "--stand-in"):
        target.write_text(text, encoding="utf-8")
    load_scenario(str(target))
    small = ""
    if made.overhead > _OVERHEAD_MAX:
        small = (
            f" (footers make them {human_ratio(made.overhead)} larger than they would be at full scale, so "
            "amplifications differ by about as much: take a larger --scale)"
        )
    return (
        f"the stand-in has {counted(made.commits_count, 'commit')} of "
        f"{counted(made.files_count, 'file')} on average, of about {human_bytes(made.file_bytes)}{small}; "
        f"{human_count(sum(made.rows))} rows in all; a target of "
        f"{human_bytes(made.stream.target_file_size_bytes)}"
    )
