"""Fits the shipped coefficients to the published runs and to calibration runs: `make coefficients`.

    tools/published/calibration/FORMAT.tar.xz   the runs of `compactbench calibrate FORMAT`

`python -m tools.calibrating FORMAT RESULTS` packs them.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.calibration.calibration import documented
from bench.calibration.coefficients_file import with_fitted
from bench.calibration.machine_speed import at_one_speed
from bench.calibration.measured import MeasuredStep, measured_steps
from bench.cli.model_validation import resimulated
from bench.engines.registry import FORMATS
from bench.engines.simulated.costs import shipped_file
from bench.results.folders import load_runs
from bench.results.records import Manifest
from tools.publishing import FOLDER, entries, pack, unpack

CALIBRATION = FOLDER / "calibration"
# The median of the first suites that timed the fixed work. Earlier runs, on machines of the same kinds, count
# as if theirs took as long; by the median of all runs, each suite of a slow machine would make them faster.
FIXED_WORK_CPU_S = 0.037


def published_steps() -> tuple[list[MeasuredStep], list[Manifest], float | None]:
    """The measured steps of all published runs that can be simulated, at the speed of one machine.

    The manifests of these runs come with them, and that machine's fixed work (`at_one_speed`). Left out are
    runs with a real clock, whose steps wait for cores, those that are held out to judge the fit, and those
    on other storage than a local disk.
    """
    steps: list[MeasuredStep] = []
    manifests: list[Manifest] = []
    fitted_to = (one.archive for one in entries() if not (one.is_held_out or one.is_elsewhere))
    for archive in (*fitted_to, *sorted(CALIBRATION.glob("*.tar.xz"))):
        runs = [run for run in unpack(archive) if not run.manifest.is_live]
        if any(run.manifest.mode == "real" for run in runs):
            steps += measured_steps(resimulated(runs, archive, quiet=True))
            manifests += [run.manifest for run in runs]
            print(f"{archive.stem}: {len(steps)} steps so far", file=sys.stderr)
    at_speed, fixed_work_cpu_s = at_one_speed(steps, FIXED_WORK_CPU_S)
    return at_speed, manifests, fixed_work_cpu_s


def judged_and_beside(steps: Iterable[MeasuredStep]) -> tuple[list[MeasuredStep], list[MeasuredStep]]:
    """The steps whose errors count, and those of calibration runs, which are fitted to and not judged."""
    every = list(steps)
    calibrating = [step for step in every if step.strategy.startswith("calibrate-")]
    others = [step for step in every if not step.strategy.startswith("calibrate-")]
    return others, calibrating


def main(arguments: Sequence[str]) -> None:
    """Fit, or pack the calibration runs of a format."""
    if arguments:
        table_format, folder = arguments
        runs = [run for run in load_runs(Path(folder)) if run.manifest.format == table_format]
        pack(runs, CALIBRATION / f"{table_format}.tar.xz")
        return
    steps, manifests, fixed_work_cpu_s = published_steps()
    for name in FORMATS:
        judged, beside = judged_and_beside(step for step in steps if step.format == name)
        calibration, file = documented(judged, name, fixed_work_cpu_s, manifests, beside), shipped_file(name)
        file.write_text(with_fitted(file, calibration), encoding="utf-8")
        for figure, error in calibration.errors.items():
            print(f"{name} {figure}: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
