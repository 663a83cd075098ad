"""Which partitions each strategy compacts, which it leaves waiting, and how the plans of two differ."""

from collections.abc import Mapping, Sequence
from itertools import product

from bench.results.folders import RunResult
from bench.results.partition_rounds import (
    Round,
    Wait,
    is_known,
    longest_wait,
    never_taken,
    read_amplification,
    rounds,
    rounds_alike,
    rounds_to_drain,
    waiting_bytes_mean,
)
from bench.text import MISSING, human_bytes, human_duration, human_ratio
from reports.charts.partitions import applies
from reports.data.group import RunGroup
from reports.page.tables import Cell, Column, Table
from reports.phrases import Verbatim, counted, say, separated

_NAMES_SHOWN = 3
_PARTITIONS_SHOWN = 12
_STRATEGY = Column("Strategy", is_number=False)
_OF_FIRST_RUNS = "Of the first usable repetition of each strategy."
_WAITING_NOTE = (
    "A round is a compaction, also one that found nothing to do. Rounds to drain: rounds until every "
    "backlogged partition was compacted, that is each that had delete or log files at the first round. "
    "Longest wait: how long a partition had such files until it was compacted, in scenario time. Waiting: "
    "the bytes of all delete and log files, mean over time."
)
_READ_NOTE = (
    "Bytes that a reader of a whole partition reads (data, delete and log files), as a mean over time, "
    "relative to the strategy with the fewest."
)
_ALIKE_NOTE = (
    "How often two strategies took the same partitions when both had a round; a dash if they never had one "
    "at the same time. Earlier choices affect the table that each strategy then sees."
)


def partition_tables(group: RunGroup) -> tuple[Table, ...]:
    """Waiting times, read amplification and pairs of plans; no table if all plans are alike."""
    if not applies(group) or not all(map(is_known, group.first_runs.values())):
        return ()
    done = {label: rounds(run) for label, run in group.first_runs.items()}
    compacting = {label: its for label, its in done.items() if any(round_.taken for round_ in its)}
    tables = (_waiting(group, done), _amplification(group), _alike(compacting))
    return tuple(table for table in tables if table is not None)


def _waiting(group: RunGroup, done: Mapping[str, Sequence[Round]]) -> Table:
    columns = (
        _STRATEGY, Column("Rounds"), Column("Partitions", "per round"),
        Column("Never compacted", is_number=False), Column("Rounds to drain"),
        Column("Longest wait"), Column("Waiting", "mean"),
    )  # fmt: skip
    rows = tuple(_waits(label, its, group.first_runs[label]) for label, its in done.items())
    return Table(
        columns, rows, f"{_WAITING_NOTE} {_OF_FIRST_RUNS}", caption="Who is compacted, and who waits"
    )


def _waits(label: str, done: Sequence[Round], run: RunResult) -> tuple[Cell, ...]:
    drained, waiting_bytes = rounds_to_drain(done), waiting_bytes_mean(run)
    wait = _wait(longest_wait(run))
    waiting = MISSING if waiting_bytes is None else human_bytes(waiting_bytes)
    if not done:
        return (Cell(Verbatim(label)), Cell("0"), *(Cell(MISSING) for _ in range(3)), wait, Cell(waiting))
    taken = sum(len(round_.taken) for round_ in done) / len(done)
    return (
        Cell(Verbatim(label)),
        Cell(str(len(done))),
        Cell(f"{taken:.1f}"),
        _named(sorted(never_taken(done))),
        Cell(f"more than {len(done)}" if drained is None else str(drained)),
        wait,
        Cell(waiting, value=waiting_bytes),
    )


def _wait(longest: Wait | None) -> Cell:
    if longest is None:
        return Cell(MISSING)
    at_least = "at least " if longest.is_open else ""
    return Cell(f"{at_least}{human_duration(longest.wait_ms / 1000)}", value=longest.wait_ms)


def _named(names: Sequence[str]) -> Cell:
    if not names:
        return Cell("none")
    if len(names) > _NAMES_SHOWN:
        return Cell(counted(len(names), "partition", "partitions"))
    return Cell(separated(", ", [say(Verbatim(name)) for name in names]))


def _amplification(group: RunGroup) -> Table | None:
    """A column for each partition, the last by name first; None for one partition or too many."""
    read = read_amplification(group.first_runs)
    names = sorted({name for its in read.values() for name in its}, reverse=True)
    if not 1 < len(names) <= _PARTITIONS_SHOWN:
        return None
    rows = tuple(
        (Cell(Verbatim(label)), *(_ratio(its.get(name)) for name in names)) for label, its in read.items()
    )
    columns = (_STRATEGY, *(Column(name) for name in names))
    return Table(
        columns, rows, f"{_READ_NOTE} {_OF_FIRST_RUNS}", caption="Read amplification of each partition"
    )


def _ratio(ratio: float | None) -> Cell:
    return Cell(MISSING) if ratio is None else Cell(human_ratio(ratio), value=ratio)


def _alike(done: Mapping[str, Sequence[Round]]) -> Table | None:
    if len(done) < 2:
        return None
    alike = {(a, b): rounds_alike(done[a], done[b]) for a, b in product(done, done)}
    rows = tuple(
        (Cell(Verbatim(a)), *(_share(*alike[a, b]) if a != b else Cell("") for b in done)) for a in done
    )
    columns = (_STRATEGY, *(Column(label) for label in done))
    return Table(
        columns, rows, f"{_ALIKE_NOTE} {_OF_FIRST_RUNS}", caption="Plans of two strategies that are alike"
    )


def _share(same: int, common: int) -> Cell:
    return Cell(f"{same} of {common}", value=same / common) if common else Cell(MISSING)
