"""Which partitions each strategy compacts, which wait, and what readers of each partition pay."""

from bench.results.folders import RunResult
from bench.results.partition_rounds import (
    is_known,
    longest_wait,
    never_taken,
    read_amplification,
    rounds,
    waiting_bytes_mean,
)
from bench.text import MISSING, counted, human_duration
from reports.charts.partitions import applies
from reports.data.group import RunGroup
from reports.page.tables import Cell, Column, Table, figure_cell
from reports.phrases import Verbatim, say, separated

_NAMES_SHOWN = 3
_PARTITIONS_SHOWN = 12
_FIRST_RUNS = "From the first usable repetition of each strategy."
_WAITING_COLUMNS = (
    Column("Strategy", is_number=False), Column("Compactions"), Column("Partitions", "per compaction"),
    Column("Never compacted", is_number=False), Column("Longest wait"), Column("Waiting", "mean"),
)  # fmt: skip
_WAITING_NOTE = (
    "Compactions include those that found nothing to do. Never compacted: partitions that still have delete "
    "or log files after the last compaction, and that no compaction took. Longest wait: how long a partition "
    "had such files until it was compacted, in scenario time. Waiting: the bytes of all delete and log "
    f"files, mean over time. {_FIRST_RUNS}"
)
_READ_NOTE = (
    "Bytes that a query of a whole partition reads (data, delete and log files), mean over time, relative to "
    f"the strategy under which it reads the fewest. {_FIRST_RUNS}"
)


def partition_tables(group: RunGroup) -> tuple[Table, ...]:
    """Waiting times and read amplification; no table if all strategies compact the same partitions."""
    if not applies(group) or not all(map(is_known, group.first_runs.values())):
        return ()
    rows = tuple(_waiting(label, run) for label, run in group.first_runs.items())
    waiting = Table(_WAITING_COLUMNS, rows, _WAITING_NOTE, caption="Who is compacted, and who waits")
    amplification = _amplification(group)
    return (waiting,) if amplification is None else (waiting, amplification)


def _waiting(label: str, run: RunResult) -> tuple[Cell, ...]:
    done, wait, waiting_bytes = tuple(rounds(run)), longest_wait(run), waiting_bytes_mean(run)
    at_least = "at least " if wait is not None and wait.is_open else ""
    wait_text = MISSING if wait is None else f"{at_least}{human_duration(wait.wait_ms / 1000)}"
    taken = sum(len(round_.taken) for round_ in done)
    return (
        Cell(Verbatim(label)),
        Cell(str(len(done))),
        Cell(f"{taken / len(done):.1f}" if done else MISSING),
        _names(sorted(never_taken(done))) if done else Cell(MISSING),
        Cell(wait_text, value=None if wait is None else wait.wait_ms),
        figure_cell("bytes", waiting_bytes),
    )


def _names(partitions: list[str]) -> Cell:
    if not partitions:
        return Cell("none")
    if len(partitions) > _NAMES_SHOWN:
        return Cell(counted(len(partitions), "partition"))
    return Cell(separated(", ", [say(Verbatim(name)) for name in partitions]))


def _amplification(group: RunGroup) -> Table | None:
    """A column for each partition, the last by name first; None for one partition or too many."""
    by_strategy = read_amplification(group.first_runs)
    names = sorted({name for ratios in by_strategy.values() for name in ratios}, reverse=True)
    if not 1 < len(names) <= _PARTITIONS_SHOWN:
        return None
    rows = tuple(
        (Cell(Verbatim(label)), *(figure_cell("ratio", ratios.get(name)) for name in names))
        for label, ratios in by_strategy.items()
    )
    columns = (Column("Strategy", is_number=False), *(Column(name) for name in names))
    return Table(columns, rows, _READ_NOTE, caption="Read amplification of each partition")
