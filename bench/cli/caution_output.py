"""What a reader must know about simulated figures, as on the page."""

from collections.abc import Iterable

from bench.cli.output import print_remark
from bench.results.folders import RunResult
from reports.data.group import RunGroup, run_groups
from reports.page.sections.cautions import cautions


def print_cautions_of_runs(runs: Iterable[RunResult]) -> None:
    for group in run_groups(runs):
        print_cautions(group)


def print_cautions(group: RunGroup) -> None:
    """The grave ones about a simulation, on stderr; none for real runs."""
    for caution in cautions(group) if group.is_simulated else ():
        if caution.is_grave:
            print_remark(f"{group.manifest.scenario}: {caution.text}")
