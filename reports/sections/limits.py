"""What must not be read out of the figures of a section."""

from collections.abc import Iterator

from reports.load import Section
from reports.phrases import Sentence, say
from reports.sections.method import topics
from reports.text import format_bytes


def limits(section: Section) -> tuple[Sentence, ...]:
    """The gravest first. What a run notes itself, the method tells; it is not said twice."""
    if section.is_simulated:
        return (*_of_the_model(), *_of_the_data(section))
    return (*_of_the_set_up(section), *_of_the_data(section), *_of_the_statistics())


def _of_the_model() -> Iterator[Sentence]:
    yield say("Nothing was measured: all seconds come from a cost model and its constants.")
    yield say(
        "The model prices files, bytes and tasks one by one: it knows no caches and no other tenants, and "
        "nothing of sizes beyond those its constants were taken from."
    )


def _of_the_set_up(section: Section) -> Iterator[Sentence]:
    yield say("One machine: no network, no object store, no other tenants, no scheduler.")
    yield say(
        "A virtual clock stands still during compaction: it flatters long compactions, knows no "
        "conflicts between writer and compactor and no queries that compete with either. The duty "
        "cycle above says how much that hides."
    )
    if "Storage" not in topics(section):
        yield say(
            "Files written a moment ago are in the page cache, so reading costs less than from storage."
        )


def _of_the_data(section: Section) -> Iterator[Sentence]:
    volume = max((row.values["ingested_bytes"] or 0 for row in section.rows), default=0)
    yield say(
        f"The stream holds {format_bytes(volume)} of data. Fixed costs (planning, commit, task start) "
        "weigh more here than on a large table; ratios between strategies need not carry over."
    )
    if "Keys" not in topics(section) and section.manifest.workload in ("append", "upsert"):
        yield say(
            "Keys are handed out in ascending order, so that file statistics exclude most files from "
            "a lookup by key. With random keys such a probe would open more of them."
        )


def _of_the_statistics() -> Iterator[Sentence]:
    yield say(
        "The interval of the latency's slope allows for slow moments of the machine, not for a drift through "
        "the whole run, which counts as a rise."
    )
