"""Whether the records of a run are complete, in order and its own."""

import hashlib
from collections.abc import Collection, Iterable, Iterator

import numpy as np

from bench.results.records import RunRecord
from bench.results.tables import RunRecords, together

_ROUNDING_S = 1e-6  # by which the end of a step and the start of the next one may overlap


def checksum(run_id: str, stored: Iterable[bytes]) -> str:
    """The SHA-256 in hex of the id of a run and of its records before the last one, as they are stored.

    Records of another run fit in any other way: runs of one scenario have the same steps at the same ticks.
    """
    whole = hashlib.sha256(run_id.encode())
    for part in stored:
        whole.update(part)
    return whole.hexdigest()


def disorder(records: RunRecords, *, at_once: bool = False) -> tuple[int, str] | None:
    """The place of the first record that is doubled or out of order, or follows a gap, and what is wrong.

    Every tick of a replay has a record. Steps of one role follow each other, and so do steps of one kind
    except compactions. If roles worked `at_once`, each of them observed the table by itself, and several may
    have evaluated rules. A run ends once, with the number of its records.
    """
    by_several = {"compaction", "observe", "decision"} if at_once else {"compaction"}
    return min(
        (*_ends(records), *_ticks(records), *_lanes(records, by_several)),
        key=lambda problem: problem[0],
        default=None,
    )


def _ends(records: RunRecords) -> Iterator[tuple[int, str]]:
    ends = records.of(RunRecord)
    for place, written in zip(ends.serials.tolist(), ends.column("records_count").tolist(), strict=True):
        if place + 1 < len(records):
            yield place + 1, "a record after the end of the run"
        if written not in (place, None) and written == written:
            yield place, f"{written:.0f} records were written, and {place} are here"


def _ticks(records: RunRecords) -> Iterator[tuple[int, str]]:
    ticks, ends = _column(records, "tick"), records.of(RunRecord)
    before = np.concatenate([[0], ticks[:-1]])
    is_next = (before <= ticks) & (ticks <= before + 1)
    is_next[ends.where(ends.column("status") == "failed").serials] = True  # at any tick
    for place in np.flatnonzero(~is_next)[:1].tolist():
        yield place, f"tick {ticks[place]} follows tick {before[place]}"


def _lanes(records: RunRecords, by_several: Collection[str]) -> Iterator[tuple[int, str]]:
    started_s, ended_s = _column(records, "started_s"), _column(records, "ended_s")
    roles, is_timed = _column(records, "role"), started_s == started_s
    lanes = {role: np.flatnonzero((roles == role) & is_timed) for role in set(roles.tolist())}
    for kind in records.kinds():
        serials = records.of(kind).serials
        lanes[kind.model_fields["kind"].default] = serials[is_timed[serials]]
    for lane, places in lanes.items():
        if lane in by_several:
            continue
        is_early = started_s[places[1:]] + _ROUNDING_S < ended_s[places[:-1]]
        for place in places[1:][is_early][:1].tolist():
            yield place, f"begins before the previous {lane} step has ended"


def _column(records: RunRecords, name: str) -> np.ndarray:
    """A column of all records, in their order."""
    tables = [records.of(kind) for kind in records.kinds()]
    if not tables:
        return np.empty(0)
    values = together(name, *tables)
    ordered = np.empty_like(values)
    ordered[np.concatenate([table.serials for table in tables])] = values
    return ordered
