"""What a reader must know about simulated figures, as on the page."""

from collections.abc import Iterable

from bench.cli.output import print_remark
from bench.results.folders import RunResult
from reports.data.group import RunGroup, run_groups


def print_cautions_of_runs(runs: Iterable[RunResult]) -> None:
    simulated = [run for run in runs if run.manifest.mode == "simulated"]
    for group in run_groups(simulated):
        print_cautions(group)


def print_cautions(group: RunGroup) -> None:
    """The grave ones about a simulation, on stderr; none for real runs."""
    if not group.is_simulated:
        return
    from reports.page.sections.cautions import cautions  # loads SciPy, which other rows do not wait for

    for caution in cautions(group):
        if caution.is_grave:
            print_remark(f"{group.manifest.scenario}: {caution.text}")
