"""What runs say in all: the answer in a line, and what a reader must know before trusting it."""

from collections import Counter
from collections.abc import Sequence

from bench.cli.output import print_heading, print_line, print_paragraph, print_remark
from reports.data.group import RunGroup


def print_answers(groups: Sequence[RunGroup]) -> None:
    """For each scenario its answer on stdout, and its grave cautions on stderr."""
    from reports.page.one_line import one_line  # loads SciPy, which other commands do not wait for

    groups_by_scenario = Counter(group.manifest.scenario for group in groups)
    for group in groups:
        m = group.manifest
        name = f"{m.scenario}, {m.mode}" if groups_by_scenario[m.scenario] > 1 else m.scenario
        print_line("")
        if len(groups) > 1:
            print_heading(name)
        for line in one_line(group):
            print_paragraph(str(line))
        print_cautions(group, name=name)


def print_cautions(*groups: RunGroup, name: str | None = None) -> None:
    """The grave ones of one scenario, each once, on stderr, by default under its name."""
    from reports.page.sections.cautions import cautions

    grave = (str(caution.text) for group in groups for caution in cautions(group) if caution.is_grave)
    for text in dict.fromkeys(grave):
        print_remark(f"{name or groups[0].manifest.scenario}: {text}")
