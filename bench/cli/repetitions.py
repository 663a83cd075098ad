"""What a command says of too few repetitions, before anything has run."""

from bench.results.metrics import MIN_RUNS
from bench.results.records import Mode
from bench.text import counted


def few_repetitions(count: int, mode: Mode) -> str | None:
    """What so few repetitions cannot tell; None where there are enough, or where nothing is noisy."""
    if mode == "simulated" or count >= MIN_RUNS:
        return None
    return f"{counted(count, 'repetition')}: values only, no intervals; --repetitions {MIN_RUNS} gives them"
