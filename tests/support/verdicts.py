"""The verdicts of a page with one run group alone."""

from reports.data.group import RunGroup
from reports.verdicts.page_verdicts import PageVerdicts, page_verdicts


def verdicts_of(group: RunGroup) -> PageVerdicts:
    (verdicts,) = page_verdicts([group])
    return verdicts
