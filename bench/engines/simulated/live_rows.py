"""Which rows of a simulated table still live: expected from the keys that each commit hits, file by file.

A table keeps a row a key. Keys that are hit about alike make up a band, and all rows of a band's keys die
alike, whichever file they are in. So a commit multiplies one chance of survival a band, and what is left
of a file is asked for when it is needed: how many rows of each band it began with, and the bands' chances
since. A deletion counts from its commit on, in whichever delete file it lies.

What it does not know: which keys a partition holds. A hit is expected in every file that may hold its
key, so a file may be expected to have lost a row before its partition has got a delete file.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from strategies.state import DataFile
from workloads.commit import CommitSpec, KeyShape
from workloads.keys import KeyChoice

_HOTTEST_FACTOR = 2.0  # within a band keys are hit as often as this times the least hit one, for a power of 1
_SURE = 1 - 1e-9  # the highest chance of a hit, so that survival has a logarithm
_SLACK_ROWS = 1e-6  # what sums of parts may fall short of a whole number
_Keys = tuple[int, int]  # the lowest and the highest
_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2  # its multiples fall evenly between whole numbers


@dataclass(slots=True)
class _Band:
    """Keys in places [first, end) of the order of heat, and the chance that a row of them outlived all.

    A band that has `joined` another keeps the chance it had over that one's: both together are its own.
    """

    first: int
    end: int
    log_survival: float = 0.0
    rows: float = 0.0  # of its keys that live, in whichever file
    joined: "_Band | None" = None

    @property
    def keys(self) -> int:
        return self.end - self.first

    def survives(self, chance: float) -> None:
        self.log_survival += math.log(chance)
        self.rows *= chance

    def join(self, other: "_Band") -> None:
        """Become part of a neighbour."""
        other.first, other.end = min(self.first, other.first), max(self.end, other.end)
        other.rows += self.rows
        self.log_survival -= other.log_survival
        self.joined = other

    def root(self) -> "_Band":
        """The band it is part of by now, itself if it has not joined any; then one step away."""
        if self.joined is None:
            return self
        root = self.joined.root()
        if root is not self.joined:
            self.log_survival += self.joined.log_survival
            self.joined = root
        return root

    def log_now(self) -> float:
        """The logarithm of its rows' chance of survival since it was made."""
        root = self.root()
        return self.log_survival if root is self else self.log_survival + root.log_survival


@dataclass(frozen=True, slots=True)
class _Part:
    """So many rows of a band's keys, that lived when they were written."""

    band: _Band
    rows: float
    log_then: float

    def rows_now(self) -> float:
        return self.rows * math.exp(self.band.log_now() - self.log_then)


@dataclass(slots=True)
class _Held:
    """The rows of a data file. `phase` (0..1) is where its expectation is rounded."""

    rows: int
    phase: float
    parts: tuple[_Part, ...]

    def rows_now(self) -> float:
        return sum(part.rows_now() for part in self.parts)


@dataclass(slots=True)
class LiveRows:
    """The live rows of a table's data files, which are told commit by commit and rewrite by rewrite.

    Expectations become whole numbers by a phase of each file's own, so that many files with less than a
    dead row each lose as many as expected together. Without changes everything lives and all is exact.
    """

    _bands: list[_Band] = field(default_factory=list)  # in order of their places
    _mix: list[tuple[_Band, float]] = field(default_factory=list)  # shares of the last commit's rows
    _held: dict[str, _Held] = field(default_factory=dict)
    _files_count: int = 0  # ever added
    _is_loading: bool = False
    _is_ranked: bool = False  # whether scattered keys are in order of their ranks

    @property
    def expected(self) -> float:
        """Live rows by the commits alone, whatever became of the files."""
        return sum(band.rows for band in self._bands)

    @property
    def total(self) -> int:
        """Live rows of all data files, each in whole rows."""
        return sum(map(self.live, self._held))

    def live(self, path: str) -> int:
        """Live rows of a data file in whole rows; they never grow in number."""
        held = self._held[path]
        return min(held.rows, math.floor(held.rows_now() + held.phase + _SLACK_ROWS))

    def dead(self, path: str) -> int:
        """The other rows of a data file, which deletes apply to."""
        return self._held[path].rows - self.live(path)

    def kept(self, paths: Iterable[str]) -> int:
        """What a rewrite of data files leaves of their rows: as many as live, rounded up.

        So no file has fewer rows than are expected to live in it, and errors do not add up.
        """
        return math.ceil(sum(self._held[path].rows_now() for path in paths) - _SLACK_ROWS)

    def commit(self, spec: CommitSpec) -> None:
        """The keys of a commit are hit, and its rows that live at its end are there; its files come after."""
        if spec.keys is not None:
            self._hit(spec, spec.keys)
        elif spec.is_initial:
            self._load(spec.rows)
        else:
            self._hit_any(spec)
        rows = sum(partition.live_rows for partition in spec.partitions)
        for band, share in self._mix:
            band.root().rows += rows * share

    def add(self, file: DataFile, live_rows: int, keys: _Keys | None = None) -> None:
        """A data file of the last commit, so many of whose rows no later one of it has replaced.

        Its keys lie between `keys`, anywhere where None.
        """
        mix = _shares_of(keys, self._bands) if self._is_loading else self._mix
        parts = (_Part(band, live_rows * share, band.log_now()) for band, share in mix if share)
        self._hold(file, tuple(parts))

    def replace(self, gone: Iterable[str], made: Sequence[DataFile]) -> None:
        """Data files are replaced by others that hold their live rows, each its share of them."""
        held = [self._held.pop(path) for path in gone]
        parts = tuple(_joined(part for file in held for part in file.parts))
        rows = sum(file.rows for file in made)
        for file in made:
            share = file.rows / rows
            self._hold(file, tuple(_Part(p.band, p.rows * share, p.log_then) for p in parts))

    def _hold(self, file: DataFile, parts: tuple[_Part, ...]) -> None:
        self._files_count += 1
        phase = self._files_count * _GOLDEN_RATIO % 1
        self._held[file.path] = _Held(file.rows, phase, parts)

    def _load(self, keys: int) -> None:
        """Keys 1 to `keys`, told apart by what is certain to be enough when it is known how they are hit.

        Only where the newest are the hottest it matters which keys a file has.
        """
        self._bands = _bands_of(1, keys + 1, KeyChoice("recent-first", 1.0, keys))
        self._mix = list(_shares_of(None, self._bands))
        self._is_loading = True

    def _hit_any(self, spec: CommitSpec) -> None:
        """A commit whose keys are not known: what it deletes of the rows before may be any of them."""
        keys = sum(partition.deleted_keys for partition in spec.partitions)
        hits = max(0, keys - spec.inserts)
        before_rows = self.expected
        self._is_loading = False
        if hits and before_rows:
            for band in self._bands:
                band.survives(1 - min(_SURE, hits / before_rows))
        if not self._bands:
            self._bands.append(_Band(1, 1))
        newest = self._bands[-1]
        newest.end += spec.inserts
        self._mix = [(newest, 1.0)]

    def _hit(self, spec: CommitSpec, keys: KeyShape) -> None:
        """Older keys are hit as the workload chooses them, and new ones make bands."""
        self._is_loading = False
        self._bands = self._ranked(keys) if keys.choice.is_scattered else self._bands
        hits = [(band, self._hit_band(band, chance)) for band, chance in self._chances(spec, keys)]
        end = keys.population + 1
        new = _bands_of(end, end + keys.new_count, keys.choice)
        self._mix = _mix_of(spec, hits, new)
        self._bands = _merged([*self._bands, *new], end + keys.new_count, keys.choice)

    def _hit_band(self, band: _Band, chance: float) -> float:
        """The keys of a band that are hit."""
        band.survives(1 - chance)
        return band.keys * chance

    def _chances(self, spec: CommitSpec, keys: KeyShape) -> Iterator[tuple[_Band, float]]:
        """How likely a key of each band is hit at all; over all keys as many as the commit says."""
        draws = spec.updates + spec.deletes
        raw = [
            -math.expm1(-draws * keys.choice.heat(band.first, band.end, keys.population) / band.keys)
            for band in self._bands
        ]
        expected = sum(band.keys * chance for band, chance in zip(self._bands, raw, strict=True))
        scale = keys.changed_count / expected if expected else 0.0
        for band, chance in zip(self._bands, raw, strict=True):
            yield band, min(_SURE, chance * scale)

    def _ranked(self, keys: KeyShape) -> list[_Band]:
        """Bands of scattered keys, of which each file has as many of a rank as any other."""
        if self._is_ranked:
            return self._bands
        self._is_ranked = True
        bands, rows = _bands_of(1, keys.population + 1, keys.choice), self.expected
        for band in bands:
            band.rows = rows * band.keys / keys.population
        for held in self._held.values():
            own = held.rows_now()
            held.parts = tuple(_Part(band, own * share, 0.0) for band, share in _shares_of(None, bands))
        return bands


def expected_live_rows(specs: Iterable[CommitSpec]) -> float:
    """The rows that live after these commits."""
    books = LiveRows()
    for spec in specs:
        books.commit(spec)
    return books.expected


def _mix_of(
    spec: CommitSpec, hits: Sequence[tuple[_Band, float]], new: Sequence[_Band]
) -> list[tuple[_Band, float]]:
    """Shares of the rows a commit adds: inserts are of new keys, updates of those that are hit."""
    hit_keys, new_keys = sum(keys for _, keys in hits), sum(band.keys for band in new)
    inserted = spec.inserts / max(1, spec.inserts + spec.updates) if hit_keys else 1.0
    mix = [(band, inserted * band.keys / new_keys) for band in new]
    updated = 1 - inserted if new_keys else 1.0
    return mix + [(band, updated * keys / hit_keys) for band, keys in hits if keys]


def _bands_of(first: int, end: int, choice: KeyChoice) -> list[_Band]:
    """Places [first, end) in bands that double in length away from where it is hottest."""
    bands = []
    while first < end and choice.skew != "uniform":
        rank = end - first if choice.skew == "recent-first" else first
        length = (rank + 1) // 2 if choice.skew == "recent-first" else rank
        bands.append(_Band(first, min(end, first + length)))
        first = bands[-1].end
    return bands or ([_Band(first, end)] if first < end else [])


def _merged(bands: Sequence[_Band], end: int, choice: KeyChoice) -> list[_Band]:
    """Neighbours become one while keys of both are hit about alike, so that there are never many."""
    kept: list[_Band] = []
    for band in bands:
        if kept and _is_alike(kept[-1], band, end, choice):
            band.join(kept[-1])
        else:
            kept.append(band)
    return kept


def _is_alike(low: _Band, high: _Band, end: int, choice: KeyChoice) -> bool:
    """Whether the ranks of two neighbours are within a factor."""
    if choice.skew == "uniform":
        return True
    if choice.skew == "recent-first":
        return end - low.first <= _HOTTEST_FACTOR * (end - high.end + 1)
    return high.end - 1 <= _HOTTEST_FACTOR * low.first


def _shares_of(places: _Keys | None, bands: Sequence[_Band]) -> Iterator[tuple[_Band, float]]:
    """How rows spread over bands whose keys lie evenly in a range, or in all of them."""
    first, end = (places[0], places[1] + 1) if places else (bands[0].first, bands[-1].end)
    for band in bands:
        yield band, max(0, min(end, band.end) - max(first, band.first)) / (end - first)


def _joined(parts: Iterable[_Part]) -> Iterator[_Part]:
    """One part a band, as of now."""
    rows: dict[int, float] = {}
    bands: dict[int, _Band] = {}
    for part in parts:
        root = part.band.root()
        bands[id(root)] = root
        rows[id(root)] = rows.get(id(root), 0.0) + part.rows_now()
    return (_Part(band, rows[key], band.log_survival) for key, band in bands.items())
