"""The table in docs/hudi-example.md says what the wiki says, and what the planner does."""

from pathlib import Path

import pytest
from hudi_tables import DAY_MS, hudi_table, slice_files

from strategies.hudi.compaction_plan import plan_compaction
from strategies.hudi.compaction_strategies import Settings, strategy_of
from strategies.hudi.dates import day_of
from strategies.state import MIB

PAGE = Path(__file__).parents[3] / "docs" / "hudi-example.md"
DAYS = [f"03/{day:02}" for day in range(13, 6, -1)]
BY_THE_WIKI = {  # its days for x = 3, by their positions in DAYS
    "DayBased": DAYS[:3],
    "BoundedPartitionAware": DAYS[:5],
    "UnBoundedPartitionAware": DAYS[5:],
    "UnBounded": DAYS,
}
MARKS = {(True, True): "both", (True, False): "wiki", (False, True): "code", (False, False): "\N{EN DASH}"}


def rows():
    """The cells of the table by strategy and day."""
    head, _, *lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    days = [cell.strip() for cell in head.split("|")[2:-1]]
    cells = ([cell.strip("* ") for cell in line.split("|")[1:-1]] for line in lines)
    return {first.strip("`"): dict(zip(days, marks, strict=True)) for first, *marks in cells}


@pytest.mark.parametrize("strategy", BY_THE_WIKI)
def test_each_cell_of_the_table_is_computed_again(strategy):
    today = day_of("2020/03/11")
    files = [file for day in DAYS for file in slice_files(day, f"2020/{day}", log_bytes=[MIB])]
    table = hudi_table(files, epoch_ms=DAY_MS * today)
    settings = Settings(target_partitions=3, today=today)
    plan = plan_compaction(table, strategy_of(strategy), settings, max_file_bytes=120 * MIB)
    by_the_code = {operation.slice.group.file_id for operation in plan.operations}
    by_the_wiki = BY_THE_WIKI[strategy]
    assert rows()[strategy] == {day: MARKS[day in by_the_wiki, day in by_the_code] for day in DAYS}


def test_the_table_has_no_other_strategies():
    assert rows().keys() == BY_THE_WIKI.keys()
