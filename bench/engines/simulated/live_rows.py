"""Which rows of a simulated table are still live: expected values, from the keys that each commit hits.

A table has one live row per key. Keys that are hit about equally often form a band, and all rows of a
band's keys are equally likely to survive, whichever file they are in. So a commit only multiplies one
chance of survival per band, whatever the number of files. A file remembers how many rows of each band it
started with, and the bands' chances at that time; its live rows are computed on demand.
In this picture the newest keys are the hottest, and a commit has just hit 1 % of the keys of band A,
5 % of B and 30 % of C:

    keys, oldest to newest    |------- band A -------|--- band B ---|- band C -|
    chance before the commit             0.90               0.80         0.50
    the commit multiplies by             0.99               0.95         0.70
    chance after the commit              0.89               0.76         0.35

    file 1, written at chances 1, 1, 1    100 rows of A, 40 of B:          100 x 0.89 + 40 x 0.76 = 119 live
    file 2, written before the commit      20 rows of B, 60 of C:    20 x 0.76/0.80 + 60 x 0.35/0.50 = 61 live

Chances are kept as logarithms. New keys form bands of their own, which `_merged` joins with their
neighbours once both are hit about equally often, so that there are never many. The bands that were joined
are a union-find forest: each keeps its chance relative to the band that it joined (`_Band.root`).

A deletion takes effect with its commit, whichever delete file holds it. The model does not know which keys
a partition holds. It expects a hit in every file whose key range covers the key, so a file may be expected
to have lost a row before its partition has any delete file.
"""

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.engines.simulated.key_ranges import KeyRange
from strategies.preview import RewriteGroup
from strategies.series import Run
from strategies.state import DataFile
from workloads.commit import CommitSpec, KeyShape
from workloads.keys import KeyChoice

_HOTTEST_FACTOR = 2.0  # between the most and the least hit key of a band, for an exponent of 1
SURE = 1 - 1e-9  # the highest chance of a hit: log(0) does not exist
ROUNDING_ERROR_ROWS = 1e-6  # by which a sum of parts may miss a whole number
_LOG_MARGIN = 1e-9  # by which a file is looked at too early rather than too late
_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2  # its multiples, modulo 1, are spread evenly


Place = tuple[str, int]  # of a file: the origin of its run, and its offset in it
# The negative logarithm of the chance at which a file has to be looked at, a serial number, and the file.
_Watched = tuple[float, int, Place]


@dataclass(slots=True)
class _Band:
    """The keys at positions [first, end) in the order of heat, and the chance that a row of them survives.

    The chance counts from the creation of the band. A band that has `joined` another one keeps only its
    chance relative to that band's: the product of both is its own.
    """

    first: int
    end: int
    log_survival: float = 0.0
    rows: float = 0.0  # live rows of its keys, in whichever file
    joined: "_Band | None" = None
    watched: list["_Watched"] = field(default_factory=list)  # a heap

    @property
    def keys(self) -> int:
        return self.end - self.first

    def survives(self, chance: float) -> None:
        self.log_survival += math.log(chance)
        self.rows *= chance

    def join(self, other: "_Band") -> None:
        """Become part of a neighbouring band."""
        other.first, other.end = min(self.first, other.first), max(self.end, other.end)
        other.rows += self.rows
        self.log_survival -= other.log_survival
        self.joined = other
        for neg_log, number, place in self.watched:
            heapq.heappush(other.watched, (neg_log + self.log_survival, number, place))
        self.watched.clear()

    def root(self) -> "_Band":
        """The band that this one has joined, itself if it has joined none; shortens the path to it."""
        if self.joined is None:
            return self
        root = self.joined.root()
        if root is not self.joined:
            self.log_survival += self.joined.log_survival
            self.joined = root
        return root

    def log_now(self) -> float:
        """The logarithm of the chance that a row has survived since the creation of the band."""
        root = self.root()
        return self.log_survival if root is self else self.log_survival + root.log_survival


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of a file that belong to one band: their number when the file was written."""

    band: _Band
    rows: float
    log_then: float

    def rows_now(self) -> float:
        return self.rows * math.exp(self.band.log_now() - self.log_then)


@dataclass(slots=True)
class _RunRows:
    """The rows of each of the `count` files of a run; those at the places `gone` have left the table.

    `first_number` is that of its first file, see `_phase`.
    """

    count: int
    rows: int
    first_number: int
    parts: tuple[_Part, ...]
    gone: set[int] = field(default_factory=set)

    def rows_now(self) -> float:
        """The rows of one file, which may be a fraction."""
        return sum(part.rows_now() for part in self.parts)

    def live(self, rows_now: float, offset: int) -> int:
        """The whole rows of the file at a place."""
        phase = _phase(self.first_number + offset)
        return min(self.rows, math.floor(rows_now + phase + ROUNDING_ERROR_ROWS))

    @property
    def total(self) -> int:
        """The whole rows of all its files in the table."""
        rows_now = self.rows_now()
        if rows_now + ROUNDING_ERROR_ROWS >= self.rows:
            return (self.count - len(self.gone)) * self.rows
        return sum(self.live(rows_now, offset) for offset in range(self.count) if offset not in self.gone)


def _phase(number: int) -> float:
    """The shift (0..1) of the threshold at which the expectation for file `number` is rounded."""
    return number * _GOLDEN_RATIO % 1


@dataclass(slots=True)
class LiveRows:
    """The live rows of a table's data files, updated by each commit and each rewrite.

    Expectations are rounded to whole numbers with a different phase for each file, so that among many files
    that have each lost less than one row the expected number of files lose one. While a stream only appends,
    every row is live and all numbers are exact.
    """

    _bands: list[_Band] = field(default_factory=list)  # in the order of heat
    _mix: list[tuple[_Band, float]] = field(default_factory=list)  # of the last commit's rows, with shares
    _runs: dict[str, _RunRows] = field(default_factory=dict)  # by origin
    _files_added_count: int = 0
    _is_loading: bool = False
    _is_ranked: bool = False  # whether the bands of scattered keys are by rank
    _levels: dict[Place, tuple[int, int]] = field(default_factory=dict)  # watched files: see `watch`
    _watches_count: int = 0

    @property
    def expected(self) -> float:
        """The live rows by the commits alone, independent of the files."""
        return sum(band.rows for band in self._bands)

    @property
    def total(self) -> int:
        return sum(known.total for known in self._runs.values())

    def live(self, origin: str, offset: int = 0) -> int:
        """The live rows of one file, rounded to whole rows; never increases."""
        known = self._runs[origin]
        return known.live(known.rows_now(), offset)

    def dead(self, origin: str, offset: int = 0) -> int:
        return self._runs[origin].rows - self.live(origin, offset)

    def kept(self, runs: Iterable[Run[Any]]) -> int:
        """How many rows a rewrite of data files writes: their live rows, rounded up.

        So no file has fewer rows than are expected to be live in it, and rounding errors do not accumulate.
        """
        expected = sum(run.count * self._runs[run.origin].rows_now() for run in runs)
        return math.ceil(expected - ROUNDING_ERROR_ROWS)

    def commit(self, spec: CommitSpec) -> None:
        """Hit the keys of a commit, and count its rows that are live at its end.

        Its files follow by `add`.
        """
        if spec.keys is not None:
            self._hit(spec, spec.keys)
        elif spec.is_initial:
            self._load(spec.rows)
        else:
            self._hit_any(spec)
        rows = sum(partition.live_rows for partition in spec.partitions)
        for band, share in self._mix:
            band.root().rows += rows * share

    def left_after(self, spec: CommitSpec, places: Iterable[Place]) -> Iterator[int]:
        """The live rows of each file after a commit that is not made, in whole rows."""
        if spec.keys is not None and spec.keys.choice.is_scattered:
            self._bands = self._ranked(spec.keys)
        chances = {id(band): chance for band, chance in self._hits(spec)}
        for origin, offset in places:
            known = self._runs[origin]
            rows = sum(part.rows_now() * (1 - chances[id(part.band.root())]) for part in known.parts)
            yield known.live(rows, offset)

    def _hits(self, spec: CommitSpec) -> Iterator[tuple[_Band, float]]:
        """The chance that a commit hits a key of each band."""
        if spec.keys is not None:
            yield from self._chances(spec, spec.keys)
            return
        hits = max(0, sum(partition.deleted_keys for partition in spec.partitions) - spec.inserts)
        before_rows = self.expected
        for band in self._bands:
            yield band, min(SURE, hits / before_rows) if before_rows else 0.0

    def add(self, run: Run[Any], live_rows: int, keys: KeyRange | None = None) -> None:
        """Add a run of the last commit; `live_rows` of each file's rows outlive that commit.

        Keys are in the range `keys`; None means anywhere. While a table is loaded, that is the range of a
        file of its own, as a run of several files has several ranges.
        """
        mix = _shares_of(keys, self._bands) if self._is_loading else self._mix
        parts = (_Part(band, live_rows * share, band.log_now()) for band, share in mix if share)
        self._add_run(run, tuple(parts))

    def replace(self, inputs: Iterable[Run[Any]], outputs: Sequence[DataFile], added_rows: int = 0) -> None:
        """Replace data files by others that hold their live rows, each in proportion to its rows.

        They also hold `added_rows` rows of the last commit, where a commit rewrites the files it changes.
        """
        replaced = [(run.count, self._take(run)) for run in inputs]
        added = [
            (1, _Part(band, added_rows * share, band.log_now())) for band, share in self._mix if added_rows
        ]
        kept = ((count, part) for count, known in replaced for part in known.parts)
        joined = tuple(_joined((*kept, *added)))
        rows = sum(file.rows for file in outputs)
        for file in outputs:
            share = file.rows / rows
            self._add_run(file, tuple(_Part(p.band, p.rows * share, p.log_then) for p in joined))

    def watch(self, place: Place, level: int) -> None:
        """Let `fallen` report a file once its live rows are below `level`.

        The file has r rows and falls below a level l > 0 not before the chance of one of its bands has fallen
        by the factor l / r, and so long nobody has to look at it.
        """
        known = self._runs[place[0]]
        if any(part.band.joined for part in known.parts):
            known.parts = tuple(_joined((1, part) for part in known.parts))
        rows_now = known.rows_now()
        least_rows = level - _phase(known.first_number + place[1]) - ROUNDING_ERROR_ROWS
        self._watches_count += 1
        self._levels[place] = level, self._watches_count
        if least_rows <= 0:
            return
        log_factor = min(0.0, math.log(least_rows / rows_now)) + _LOG_MARGIN
        for part in known.parts:
            root = part.band.root()
            heapq.heappush(root.watched, (-(root.log_survival + log_factor), self._watches_count, place))

    def fallen(self) -> dict[Place, int]:
        """The live rows of the watched files that have fallen below their levels, in the order of their runs.

        They are not watched any more.
        """
        due: dict[Place, int] = {}
        for band in self._bands:
            while band.watched and -band.watched[0][0] >= band.log_survival:
                _, number, place = heapq.heappop(band.watched)
                level, latest = self._levels.get(place, (0, 0))
                if number == latest:
                    due[place] = level
        fallen: dict[Place, int] = {}
        for place, level in due.items():
            del self._levels[place]
            left = self.live(*place)
            if left < level:
                fallen[place] = left
            else:
                self.watch(place, level)
        return {place: fallen[place] for place in sorted(fallen, key=self._number)}

    def _number(self, place: Place) -> int:
        return self._runs[place[0]].first_number + place[1]

    def _take(self, run: Run[Any]) -> _RunRows:
        known = self._runs[run.origin]
        offsets = range(run.start, run.start + run.count)
        for offset in offsets if self._levels else ():
            self._levels.pop((run.origin, offset), None)
        if run.count == known.count:
            del self._runs[run.origin]
            return known
        known.gone.update(offsets)
        if len(known.gone) == known.count:
            del self._runs[run.origin]
        return known

    def _add_run(self, run: Run[Any], parts: tuple[_Part, ...]) -> None:
        self._runs[run.origin] = _RunRows(run.count, run.first.rows, self._files_added_count + 1, parts)
        self._files_added_count += run.count

    def _load(self, keys: int) -> None:
        """Keys 1 to `keys`, in bands that are fine enough for any later choice of keys.

        How the keys will be hit is still unknown. The keys in a file matter only if the newest keys are the
        hottest, so the bands assume this case.
        """
        self._bands = _bands_of(1, keys + 1, KeyChoice("recent-first", 1.0, keys))
        self._mix = list(_shares_of(None, self._bands))
        self._is_loading = True

    def _hit_any(self, spec: CommitSpec) -> None:
        """Hit any of the older rows: the keys of the commit are unknown."""
        self._is_loading = False
        for band, chance in [*self._hits(spec)]:
            if chance:
                band.survives(1 - chance)
        if not self._bands:
            self._bands.append(_Band(1, 1))
        newest = self._bands[-1]
        newest.end += spec.inserts
        self._mix = [(newest, 1.0)]

    def _hit(self, spec: CommitSpec, keys: KeyShape) -> None:
        """Hit older keys as the workload chooses them, and put the new ones into bands of their own."""
        self._is_loading = False
        self._bands = self._ranked(keys) if keys.choice.is_scattered else self._bands
        hits = [(band, self._hit_band(band, chance)) for band, chance in self._hits(spec)]
        end = keys.population + 1
        new = _bands_of(end, end + keys.new_count, keys.choice)
        self._mix = _mix_of(spec, hits, new)
        self._bands = _merged([*self._bands, *new], end + keys.new_count, keys.choice)

    def _hit_band(self, band: _Band, chance: float) -> float:
        """The expected number of keys that are hit."""
        band.survives(1 - chance)
        return band.keys * chance

    def _chances(self, spec: CommitSpec, keys: KeyShape) -> Iterator[tuple[_Band, float]]:
        """The chance that a key of each band is hit, scaled to the number of keys that the commit changes."""
        draws = spec.updates + spec.deletes
        raw = [
            -math.expm1(-draws * keys.choice.heat(band.first, band.end, keys.population) / band.keys)
            for band in self._bands
        ]
        expected = sum(band.keys * chance for band, chance in zip(self._bands, raw, strict=True))
        scale = keys.changed_count / expected if expected else 0.0
        for band, chance in zip(self._bands, raw, strict=True):
            yield band, min(SURE, chance * scale)

    def _ranked(self, keys: KeyShape) -> list[_Band]:
        """Bands by rank, for scattered keys: every file holds the same share of the keys of each rank."""
        if self._is_ranked:
            return self._bands
        self._is_ranked = True
        bands, rows = _bands_of(1, keys.population + 1, keys.choice), self.expected
        for band in bands:
            band.rows = rows * band.keys / keys.population
        for known in self._runs.values():
            own_rows = known.rows_now()
            known.parts = tuple(_Part(band, own_rows * share, 0.0) for band, share in _shares_of(None, bands))
        for place, (level, _) in self._levels.items():
            self.watch(place, level)
        return bands


def expected_live_rows(specs: Iterable[CommitSpec]) -> float:
    """The live rows after these commits."""
    rows = LiveRows()
    for spec in specs:
        rows.commit(spec)
    return rows.expected


def _mix_of(
    spec: CommitSpec, hits: Sequence[tuple[_Band, float]], new: Sequence[_Band]
) -> list[tuple[_Band, float]]:
    """The bands of a commit's rows with their shares: inserts have new keys, updates keys that are hit."""
    hit_keys, new_keys = sum(keys for _, keys in hits), sum(band.keys for band in new)
    inserted = spec.inserts / max(1, spec.inserts + spec.updates) if hit_keys else 1.0
    mix = [(band, inserted * band.keys / new_keys) for band in new]
    updated = 1 - inserted if new_keys else 1.0
    return mix + [(band, updated * keys / hit_keys) for band, keys in hits if keys]


def _bands_of(first: int, end: int, choice: KeyChoice) -> list[_Band]:
    """Positions [first, end) in bands whose lengths double with the distance from the hottest key."""
    bands = []
    while first < end and choice.skew != "uniform":
        rank = end - first if choice.skew == "recent-first" else first
        length = (rank + 1) // 2 if choice.skew == "recent-first" else rank
        bands.append(_Band(first, min(end, first + length)))
        first = bands[-1].end
    return bands or ([_Band(first, end)] if first < end else [])


def _merged(bands: Sequence[_Band], end: int, choice: KeyChoice) -> list[_Band]:
    """Joins neighbouring bands whose keys are hit about equally often, which bounds the number of bands."""
    merged: list[_Band] = []
    for band in bands:
        if merged and _is_alike(merged[-1], band, end, choice):
            band.join(merged[-1])
        else:
            merged.append(band)
    return merged


def _is_alike(low: _Band, high: _Band, end: int, choice: KeyChoice) -> bool:
    """Whether the ranks in two neighbouring bands are within `_HOTTEST_FACTOR` of each other."""
    if choice.skew == "uniform":
        return True
    if choice.skew == "recent-first":
        return end - low.first <= _HOTTEST_FACTOR * (end - high.end + 1)
    return high.end - 1 <= _HOTTEST_FACTOR * low.first


def _shares_of(keys: KeyRange | None, bands: Sequence[_Band]) -> Iterator[tuple[_Band, float]]:
    """The distribution of rows over bands, for keys spread evenly over a range, or over all keys."""
    first, end = (keys[0], keys[1] + 1) if keys else (bands[0].first, bands[-1].end)
    for band in bands:
        yield band, max(0, min(end, band.end) - max(first, band.first)) / (end - first)


def _joined(parts: Iterable[tuple[int, _Part]]) -> Iterator[_Part]:
    """One part for each band, as of now, given the parts of files with the number of such files."""
    rows: dict[int, float] = {}
    bands: dict[int, _Band] = {}
    for count, part in parts:
        root = part.band.root()
        bands[id(root)] = root
        rows[id(root)] = rows.get(id(root), 0.0) + count * part.rows_now()
    return (_Part(band, rows[key], band.log_survival) for key, band in bands.items())


def rows_of_outputs(group: RewriteGroup, live_rows: int) -> tuple[int, ...]:
    """The rows that each task of a group writes, in proportion to the rows that it reads."""
    all_rows = max(1, sum(task.rows for task in group.tasks))
    ends = itertools.accumulate((task.rows for task in group.tasks), initial=0)
    return tuple(
        live_rows * end // all_rows - live_rows * start // all_rows for start, end in itertools.pairwise(ends)
    )
