"""Conclusions that the figures of a run group do not support."""

from collections.abc import Iterator

from bench.text import human_bytes
from reports.data.group import RunGroup
from reports.page.sections.notes import LIMITS, noted
from reports.phrases import Sentence, Verbatim, say

_ONE_MACHINE = say(
    "Everything ran on one machine: no network, no object store, no scheduler, no other tenants."
)
_ELSEWHERE = ("machines", "storage")  # notes of runs on other machines or storage
_OF_THE_MODEL = (
    say("Nothing was measured: all times come from a cost model and its coefficients."),
    say(
        "The model prices files, bytes and tasks independently of each other. It has no caches and no other "
        "tenants, and it is valid only near the file and table sizes that its coefficients were fitted to."
    ),
)
_WARMING_UP = say(
    "Java's compiler makes queries faster for most of an hour, so latency over time may fall while the table "
    "gets slower to query: compare strategies at the same moment."
)
_CONTROL = say(
    " A control query of constant work runs at the same ticks; ", Verbatim("compactbench export"),
    " lists it in the table ", Verbatim("controls"), ".",
)  # fmt: skip
_OF_FORMATS = say(
    "Each format is measured with a single engine, at the settings above. Another engine may reverse a "
    "comparison of formats."
)


def limits(group: RunGroup) -> tuple[Sentence, ...]:
    of_the_runs = [LIMITS[note] for note in LIMITS if note in noted(group)]
    of_formats = (_OF_FORMATS,) if len(group.parts) > 1 else ()
    if group.is_simulated:
        return (*_OF_THE_MODEL, *of_formats, *of_the_runs, *_of_the_data(group))
    went_elsewhere = any(key in _ELSEWHERE for key, _ in noted(group))
    warming_up = _WARMING_UP if group.manifest.is_live else _WARMING_UP + _CONTROL
    of_the_place = () if went_elsewhere else (_ONE_MACHINE,)
    return (*of_the_place, *of_formats, *of_the_runs, *_of_the_data(group), warming_up)


def _of_the_data(group: RunGroup) -> Iterator[Sentence]:
    known = [volume for row in group.rows if (volume := row.values["ingested_bytes"]) is not None]
    if not known:
        return
    volume = max(known)
    yield say(
        f"The stream contains {human_bytes(volume)} of data. Fixed costs (planning, commit, task start) "
        "weigh more on a small table than on a large one, so ratios between strategies may not carry over."
    )
