"""What happened to runs, in words: figures not used, runs gone or not read, machines that were busy."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from bench.results.folders import RunResult, missing_positions, nested_folders
from bench.results.rows import Row, slowdown
from bench.text import counted, human_number, human_percent, named_once

_UNEVEN_ABOVE = 0.1  # `slowdown` from which it is worth a word


def gaps(row: Row) -> str:
    """The runs whose figures are not used, or only in part: "1 failed, 2 interrupted"; empty if none."""
    counts = {
        "failed": row.failed,
        "interrupted": row.interrupted,
        f"replaced ({'; '.join(dict.fromkeys(row.replaced))})": len(row.replaced),
        "without valid timings": row.timings_invalid,
    }
    return ", ".join(f"{count} {fate}" for fate, count in counts.items() if count)


def absences(runs: Iterable[RunResult]) -> Iterator[str]:
    """Runs that were made and are gone, inferred from the gaps in the positions of the others."""
    for folder, missing in missing_positions(runs):
        who = f"run at position {missing[0]} is" if len(missing) == 1 else (
            f"runs at positions {named_once(map(str, missing))} are")  # fmt: skip
        yield f"{folder}: the {who} not in the results"


def not_read(results: Iterable[Path]) -> Iterator[str]:
    """Results folders in those that were read: `run --out results/mine` makes one in the default folder."""
    for folder in results:
        nested = nested_folders(folder)
        if nested:
            names = named_once(map(str, nested))
            yield f"not read: {names}, results folders in {folder}; name one to read it"


def disturbance(row: Row) -> str:
    """How far other processes used the machine during the runs; empty if they did not."""
    cores = row.disturbed_cores
    if not cores:
        return ""
    runs = counted(len(cores), "run")
    most = human_number(max(cores))
    return f"other processes used up to {most} cores during {runs}, so times are longer and noisier"


def uneven_speed(rows: Iterable[Row]) -> str:
    """How much slower the machine was during some runs than during others; empty if it hardly was.

    Neighbours outside of this machine are in it, unlike in `disturbance`.
    """
    share = slowdown(rows)
    if share is None or share <= _UNEVEN_ABOVE:
        return ""
    return (
        f"the machine was slower during some runs: a fixed piece of work took up to {human_percent(share)} "
        "longer than in the fastest run"
    )
