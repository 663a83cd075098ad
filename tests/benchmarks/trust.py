"""What comparisons are worth here: how often equals are told apart, and a known difference found.

Run by `make trust` on the results of the scenario `trust`. `twelve` and `twelve-again` are one strategy;
`ten` makes 10 of its 12 compactions. Verdicts are counted over blocks of repetitions and over all of them.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from bench.results.folders import RunResult, load_runs
from bench.results.rows import METRICS
from reports.contrasts import Contrast, metrics_with_figures, with_baseline
from reports.load import RunGroup, run_groups

BLOCK = 5
COST = "compaction_cpu_s"
SAME, FEWER, BASELINE = "twelve-again", "ten", "twelve"


def main() -> None:
    runs = load_runs(Path(sys.argv[1]))
    repetitions = sorted({run.manifest.repetition for run in runs})
    starts = range(0, len(repetitions) - BLOCK + 1, BLOCK)
    blocks = [group_of(runs, repetitions[start : start + BLOCK]) for start in starts]
    everything = group_of(runs, repetitions)
    measured = [m.name for m in METRICS if not m.exact and m.name in metrics_with_figures(everything)]
    print(f"{len(runs)} runs, {len(repetitions)} repetitions, {len(blocks)} blocks of {BLOCK}\n")
    if SAME in everything.strategies:
        print_same(blocks, everything, measured)
    if FEWER in everything.strategies:
        print_known(blocks, everything)


def group_of(runs: Sequence[RunResult], repetitions: Sequence[int]) -> RunGroup:
    return run_groups(run for run in runs if run.manifest.repetition in repetitions)[0]


def print_same(blocks: Sequence[RunGroup], everything: RunGroup, metrics: Sequence[str]) -> None:
    print(f"A/A: {SAME} against {BASELINE}, measured metrics")
    in_blocks = [contrasts(block, SAME, metrics) for block in blocks]
    overall = contrasts(everything, SAME, metrics)
    print(
        f"{'metric':<26}{'ratio':>8}  {'95 % interval':<16}{'n':>3}  {'all':<10}called in blocks of {BLOCK}"
    )
    for index, found in enumerate(overall):
        called = sum(is_called(block[index]) for block in in_blocks)
        print(f"{found.metric.name:<26}{told(found)}{called:>4} of {len(blocks)}")
    print_share(f"blocks of {BLOCK}", [one for block in in_blocks for one in block])
    print_share("all repetitions", overall)


def print_share(what: str, found: Sequence[Contrast]) -> None:
    """Figures that are zero on both sides, or missing, can show nothing and are left out."""
    made = [one for one in found if one.found.low is not None and one.found.verdict != "equal"]
    called = sum(map(is_called, made))
    print(
        f"called different, {what}: {called} of {len(made)} = {called / len(made):.1%} (goal: <= 5 to 10 %)"
    )


def print_known(blocks: Sequence[RunGroup], everything: RunGroup) -> None:
    print(f"\nknown difference: {BASELINE} against {FEWER}, {COST}; by number of compactions 12 / 10 = 1.20x")
    for number, block in enumerate([*blocks, everything], 1):
        (found,) = with_baseline(block, FEWER, [BASELINE], [COST])
        name = f"block {number}" if number <= len(blocks) else "all"
        print(f"{name:<26}{told(found)}")


def contrasts(group: RunGroup, strategy: str, metrics: Sequence[str]) -> list[Contrast]:
    return list(with_baseline(group, BASELINE, [strategy], metrics))


def is_called(contrast: Contrast) -> bool:
    return contrast.found.verdict in ("more", "less")


def told(contrast: Contrast) -> str:
    found = contrast.found
    if found.ratio is None or found.low is None or found.high is None:
        return f"{'-':>8}  {found.reason[:15]:<16}{found.n:>3}  {found.verdict:<10}"
    interval = f"{found.low:.3f} to {found.high:.3f}"
    return f"{found.ratio:>8.3f}  {interval:<16}{found.n:>3}  {found.verdict:<10}"


if __name__ == "__main__":
    main()
