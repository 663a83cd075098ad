"""How far comparisons can be trusted: false verdicts on equals, a known difference, spread of sittings.

Run by `make trust` on the results of the scenario `trust`. `twelve` and `twelve-again` are one strategy;
`ten` makes 10 of its 12 compactions. Verdicts are counted over blocks of repetitions and over all of them.
A sitting is a suite, one `compactbench run`: make several on different days, with --resume and more
repetitions or into folders of their own, and the spread between them is what `compare --sitting-sd` needs.
It is written to `sittings.json` in the first folder.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.results.folders import RunResult, load_runs
from bench.results.metrics import METRICS
from reports.data.group import RunGroup, run_groups
from reports.verdicts.contrasts import Contrast, metrics_with_figures, with_baselines
from reports.verdicts.samples import samples
from reports.verdicts.sittings import SittingEffect, estimate_effect

BLOCK = 5
COST = "compaction_cpu_s"
SAME, FEWER, BASELINE = "twelve-again", "ten", "twelve"
SITTINGS = "sittings.json"


def main() -> None:
    folders = [Path(argument) for argument in sys.argv[1:]]
    runs = load_runs(*folders)
    repetitions = sorted({run.manifest.repetition for run in runs})
    starts = range(0, len(repetitions) - BLOCK + 1, BLOCK)
    blocks = [group_of(runs, repetitions[start : start + BLOCK]) for start in starts]
    everything = group_of(runs, repetitions)
    measured = [m.name for m in METRICS if m.basis == "timing" and m.name in metrics_with_figures(everything)]
    print(f"{len(runs)} runs, {len(repetitions)} repetitions, {len(blocks)} blocks of {BLOCK}\n")
    if SAME in everything.strategies:
        print_same(blocks, everything, measured)
    if FEWER in everything.strategies:
        print_known(blocks, everything)
    effects = sitting_effects(everything, measured)
    print_sittings(effects)
    if effects:
        write_effects(folders[0] / SITTINGS, effects)


def group_of(runs: Sequence[RunResult], repetitions: Sequence[int]) -> RunGroup:
    return run_groups(run for run in runs if run.manifest.repetition in repetitions)[0]


def sitting_effects(group: RunGroup, metrics: Sequence[str]) -> dict[str, SittingEffect]:
    """The effect of sittings on each metric; empty if all runs were made in one."""
    effects = {metric: estimate_effect([*samples(group, metric).values()]) for metric in metrics}
    return {metric: effect for metric, effect in effects.items() if effect is not None}


def write_effects(path: Path, effects: dict[str, SittingEffect]) -> None:
    """Write the file that `compare --sitting-sd` reads."""
    content = {name: {"sd": round(e.sd, 5), "sittings": round(e.freedom) + 1} for name, e in effects.items()}
    path.write_text(json.dumps(content, indent=1) + "\n")
    print(f"written to {path}: compactbench compare OLD NEW --sitting-sd {path}")


def print_sittings(effects: dict[str, SittingEffect]) -> None:
    if not effects:
        print("\nsittings: one only; make another on another day to learn how far they are apart")
        return
    print("\nsittings: sd between them (of logs), as a share")
    for metric, effect in effects.items():
        print(f"{metric:<26}{effect.sd:>8.1%}  of {round(effect.freedom) + 1}")


def print_same(blocks: Sequence[RunGroup], everything: RunGroup, metrics: Sequence[str]) -> None:
    print(f"A/A: {SAME} against {BASELINE}, measured metrics")
    in_blocks = [contrasts(block, SAME, metrics) for block in blocks]
    overall = contrasts(everything, SAME, metrics)
    print(
        f"{'metric':<26}{'ratio':>8}  {'95 % interval':<16}{'n':>3}  {'all':<10}called in blocks of {BLOCK}"
    )
    for index, contrast in enumerate(overall):
        called = sum(is_called(block[index]) for block in in_blocks)
        print(f"{contrast.metric.name:<26}{cells(contrast)}{called:>4} of {len(blocks)}")
    print_share(f"blocks of {BLOCK}", [contrast for block in in_blocks for contrast in block])
    print_share("all repetitions", overall)


def print_share(what: str, overall: Sequence[Contrast]) -> None:
    """Figures that are zero on both sides, or missing, can show nothing and are left out."""
    compared = [contrast for contrast in overall if contrast.comparison.error is not None]
    called = sum(map(is_called, compared))
    share = f"{called / len(compared):.1%}" if compared else "-"
    print(f"called different, {what}: {called} of {len(compared)} = {share} (goal: <= 5 to 10 %)")


def print_known(blocks: Sequence[RunGroup], everything: RunGroup) -> None:
    print(f"\nknown difference: {BASELINE} against {FEWER}, {COST}; by number of compactions 12 / 10 = 1.20x")
    for number, block in enumerate([*blocks, everything], 1):
        (contrast,) = with_baselines(block, {BASELINE: FEWER}, [COST])
        name = f"block {number}" if number <= len(blocks) else "all"
        print(f"{name:<26}{cells(contrast)}")


def contrasts(group: RunGroup, strategy: str, metrics: Sequence[str]) -> list[Contrast]:
    """Each metric on its own: a page of one contrast is not corrected for others."""
    return [with_baselines(group, {strategy: BASELINE}, [metric])[0] for metric in metrics]


def is_called(contrast: Contrast) -> bool:
    return contrast.comparison.verdict in ("more", "less")


def cells(contrast: Contrast) -> str:
    comparison = contrast.comparison
    if comparison.ratio is None or comparison.low is None or comparison.high is None:
        return f"{'-':>8}  {comparison.reason[:15]:<16}{comparison.n:>3}  {comparison.verdict:<10}"
    interval = f"{comparison.low:.3f} to {comparison.high:.3f}"
    return f"{comparison.ratio:>8.3f}  {interval:<16}{comparison.n:>3}  {comparison.verdict:<10}"


if __name__ == "__main__":
    main()
