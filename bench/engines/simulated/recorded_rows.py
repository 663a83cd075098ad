"""Which rows of an imported table are still live in a simulation of it.

A recorded commit deletes rows of a file that the stream wrote, or replaces that file; compactions may have
put its rows elsewhere since. So the rows of each such file, a *source*, are followed through compactions.
Most files are never named again: their rows are only counted. Deletions of which only the partition is known
are expected to hit all its rows alike; that is one chance of survival for each partition, whatever the number
of its files.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from bench.engines.simulated.key_ranges import KeyRange
from bench.engines.simulated.live_rows import ROUNDING_ERROR_ROWS, SURE, LiveRows, Place
from strategies.series import Run
from strategies.state import DataFile
from workloads.commit import CommitSpec
from workloads.recorded import NO_RECORDED_CHANGE
from workloads.schema import Schema

_RECORDED = "recorded/"


def recorded_path(file_id: int) -> str:
    """The path of a file that the stream of an imported table wrote."""
    return f"{_RECORDED}{file_id:09}"


def is_recorded(path: str) -> bool:
    return path.startswith(_RECORDED)


@dataclass(slots=True)
class _Source:
    """The live rows of a file of the stream, when the logarithm of its partition's chance was `log_then`.

    `holders` are the files that have some of them now.
    """

    partition: str
    rows: float
    log_then: float
    holders: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Held:
    """A file: its rows when it was written, its live rows without source as of `log_then`, and its sources.

    `shares` are the parts (0..1) of the sources that it has, by their paths.
    """

    rows: int
    partition: str
    own: float
    log_then: float
    shares: dict[str, float] = field(default_factory=dict)


class RecordedRows:
    """The live rows of files by their `origin`, like `LiveRows`; here runs have one file each."""

    def __init__(self) -> None:
        self._sources: dict[str, _Source] = {}  # by the path that the stream gave the file
        self._held: dict[str, _Held] = {}
        self._log = defaultdict[str, float](float)  # by partition: the logarithm of the chance of survival
        self._live = defaultdict[str, float](float)  # rows by partition
        self._change = NO_RECORDED_CHANGE  # of the last commit
        self._ids: Mapping[str, int] = {}  # of its files, by their paths
        self._lost: dict[str, float] = {}

    @property
    def total(self) -> int:
        return round(sum(self._live.values()))

    @property
    def lost(self) -> Mapping[str, float]:
        """The rows that the last commit deleted by name, by file."""
        return self._lost

    def holders(self, file_ids: Iterable[int]) -> list[str]:
        """The files that hold rows of these files of the stream, each once."""
        sources = (self._sources.get(recorded_path(id_)) for id_ in file_ids)
        return list(dict.fromkeys(origin for s in sources if s is not None for origin in sorted(s.holders)))

    def commit(self, spec: CommitSpec) -> None:
        """Delete what a commit removes from older files, or hits in them; its own files follow by `add`."""
        change = self._change = spec.recorded or NO_RECORDED_CHANGE
        self._ids = {recorded_path(file.id): file.id for file in change.added}
        self._lost = {}
        for file in change.removed:
            self._lose(recorded_path(file.id), math.inf)
        for id_, rows in change.hits.items():
            self._lose(recorded_path(id_), rows)
        if not spec.is_initial:
            self.hit_partitions()

    def hit_partitions(self) -> None:
        """Delete the rows of the last commit of which only the partition is known; "" is all of them."""
        for partition, rows in self._change.partition_hits.items():
            hit = [partition] if partition else list(self._live)
            before = sum(self._live[name] for name in hit)
            if before <= 0:
                continue
            chance = 1 - min(SURE, rows / before)
            for name in hit:
                self._log[name] += math.log(chance)
                self._live[name] *= chance

    def hit_file(self, origin: str, rows: float) -> float:
        """Delete rows of a file that has no sources; returns how many it had of them."""
        held = self._held[origin]
        now = self._now(origin)
        lost = min(now, rows)
        held.own, held.log_then = now - lost, self._log[held.partition]
        self._live[held.partition] -= lost
        self._lost[origin] = self._lost.get(origin, 0.0) + lost
        return lost

    def _lose(self, path: str, rows: float) -> None:
        source = self._sources.get(path)
        if source is None:
            return
        before = self._rows_of(source)
        lost = min(before, rows)
        for origin in sorted(source.holders):  # the order of a set differs from process to process
            self._lost[origin] = self._lost.get(origin, 0.0) + lost * self._held[origin].shares[path]
        source.rows, source.log_then = before - lost, self._log[source.partition]
        self._live[source.partition] -= lost

    def add(self, run: Run[Any], live_rows: float, keys: KeyRange | None = None) -> None:
        """Add a file of the last commit, less the rows that this commit deletes of it."""
        partition, own_id = run.first.partition, self._ids.get(run.origin)
        own_hits = 0.0 if own_id is None else self._change.hits.get(own_id, 0.0)
        rows = max(0.0, live_rows - own_hits)
        log_now = self._log[partition]
        if own_id in self._change.followed:
            self._sources[run.origin] = _Source(partition, rows, log_now, {run.origin})
            self._held[run.origin] = _Held(run.first.rows, partition, 0.0, log_now, {run.origin: 1.0})
        else:
            self._held[run.origin] = _Held(run.first.rows, partition, rows, log_now)
        self._live[partition] += rows

    def replace(self, inputs: Iterable[Run[Any]], outputs: Sequence[DataFile], added_rows: int = 0) -> None:
        """Replace files by others with their live rows and `added_rows`, each in proportion to its rows."""
        own, shares = 0.0, defaultdict[str, float](float)
        for run in inputs:
            held = self._held.pop(run.origin)
            left = self._own_rows(held)
            own += left
            self._live[held.partition] -= left
            for path, share in held.shares.items():
                source = self._sources[path]
                source.holders.discard(run.origin)
                if source.rows:
                    shares[path] += share
                elif not source.holders:
                    del self._sources[path]
        if not outputs:
            self._drop(shares)
        rows = max(1, sum(file.rows for file in outputs))
        for file in outputs:
            part = file.rows / rows
            self.add(file, added_rows * part)
            held = self._held[file.origin]
            held.own += own * part
            held.shares |= {path: share * part for path, share in shares.items()}
            self._live[file.partition] += own * part
            for path in shares:
                self._sources[path].holders.add(file.origin)

    def _drop(self, shares: Mapping[str, float]) -> None:
        """Forget sources with files that leave the table."""
        for path, share in shares.items():
            source = self._sources[path]
            rows = self._rows_of(source)
            self._live[source.partition] -= share * rows
            source.rows, source.log_then = (1 - share) * rows, self._log[source.partition]
            if not source.holders:
                del self._sources[path]

    def kept(self, runs: Iterable[Run[Any]]) -> int:
        """How many rows a rewrite of files writes: their live rows, rounded up."""
        return math.ceil(sum(self._now(run.origin) for run in runs) - ROUNDING_ERROR_ROWS)

    def live(self, origin: str, offset: int = 0) -> int:
        return min(self._held[origin].rows, round(self._now(origin)))

    def dead(self, origin: str, offset: int = 0) -> int:
        return self._held[origin].rows - self.live(origin)

    def fallen(self) -> dict[Place, int]:
        """The files that lost rows to the last commit by name, with the live rows left in them."""
        return {(origin, 0): self.live(origin) for origin in self._lost if origin in self._held}

    def watch(self, place: Place, level: int) -> None:
        """Nothing: `fallen` reports every file."""

    def _now(self, origin: str) -> float:
        held = self._held[origin]
        sources = (share * self._rows_of(self._sources[path]) for path, share in held.shares.items())
        return self._own_rows(held) + sum(sources)

    def _own_rows(self, held: _Held) -> float:
        return held.own * math.exp(self._log[held.partition] - held.log_then)

    def _rows_of(self, source: _Source) -> float:
        return source.rows * math.exp(self._log[source.partition] - source.log_then)


FileRows: TypeAlias = LiveRows | RecordedRows


def file_rows(schema: Schema) -> FileRows:
    """The live rows of a table: an imported one, whose sizes `schema` has, or one of a generated stream."""
    return RecordedRows() if schema.of_table else LiveRows()
