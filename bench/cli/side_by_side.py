"""Real and simulated runs of one strategy beside each other, as `show --side-by-side` prints them."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from bench.keys import duration_ms_text
from bench.results.agreement import Pair
from bench.results.records import CompactionRecord
from reports.text import format_value

COLUMNS = (
    "scenario", "strategy", "tick", "at_ms", "real", "simulated", "same_decision", "real_status",
    "simulated_status", "real_files_in", "simulated_files_in", "real_files_out", "simulated_files_out",
    "same_files", "real_written_bytes", "simulated_written_bytes",
)  # fmt: skip
TABLE_COLUMNS = ("strategy", "at", "decision", "simulated", "files", "simulated", "written", "simulated")
SAME = "same"


def full_line(pair: Pair) -> tuple[Any, ...]:
    """One evaluation as programs read it."""
    done = pair.compactions
    return (
        pair.scenario, pair.strategy, pair.tick, pair.at_ms,
        *(one.decision if one else None for one in pair.evaluations), pair.same_decision,
        *_each(done, "status"), *_each(done, "files_removed_count"), *_each(done, "files_added_count"),
        pair.same_files, *_each(done, "added_bytes"),
    )  # fmt: skip


def table_line(pair: Pair) -> tuple[str, ...]:
    """One evaluation as people read it: what is the same in both modes is printed once."""
    decided = [one.decision if one else "not evaluated" for one in pair.evaluations]
    files = [_files(done) if done else "-" for done in pair.compactions]
    written = [format_value("bytes", c.added_bytes) if c else "-" for c in pair.compactions]
    return (
        pair.strategy, duration_ms_text(pair.at_ms), decided[0], SAME if pair.same_decision else decided[1],
        files[0], SAME if pair.same_files else files[1], *written,
    )  # fmt: skip


def _files(done: CompactionRecord) -> str:
    """What became of the files, delete files apart where there were any."""
    told = f"{done.status} {done.files_removed_count} -> {done.files_added_count}"
    if not (done.delete_files_removed_count or done.delete_files_added_count):
        return told
    return f"{told}, deletes {done.delete_files_removed_count} -> {done.delete_files_added_count}"


def has_effect_or_differs(pair: Pair) -> bool:
    """Whether something was done, or decided differently."""
    return any(pair.compactions) or not pair.same_decision


def agreements(pairs: Sequence[Pair]) -> Iterator[str]:
    """A line a strategy: how many decisions and compactions are alike, and how close their bytes."""
    for label, group in groupby(pairs, key=lambda pair: pair.strategy):
        looks = tuple(group)
        compacted = [pair for pair in looks if any(pair.compactions)]
        decisions = f"{sum(p.same_decision for p in looks)} of {len(looks)} decisions alike"
        files = f"{sum(p.same_files for p in compacted)} of {len(compacted)} compactions with the same files"
        yield f"{label}: {decisions}, {files}{_bytes_apart(compacted)}"


def _bytes_apart(compacted: Sequence[Pair]) -> str:
    real, simulated = (
        sum(done.added_bytes for pair in compacted if (done := pair.compactions[side])) for side in (0, 1)
    )
    return f", {simulated / real:.2f}x the bytes written" if real else ""


def _each(done: Sequence[CompactionRecord | None], name: str) -> Iterator[Any]:
    return (getattr(found, name) if found else None for found in done)
