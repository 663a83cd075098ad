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

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bench.engines.simulated.key_ranges import KeyRange
from strategies.preview import RewriteGroup
from strategies.state import DataFile
from workloads.commit import CommitSpec, KeyShape
from workloads.keys import KeyChoice

_HOTTEST_FACTOR = 2.0  # between the most and the least hit key of a band, for an exponent of 1
_SURE = 1 - 1e-9  # the highest chance of a hit: log(0) does not exist
_ROUNDING_ERROR_ROWS = 1e-6  # by which a sum of parts may miss a whole number
_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2  # its multiples, modulo 1, are spread evenly


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
class _FileRows:
    """The rows of a data file. `phase` (0..1) shifts the threshold at which the expectation is rounded."""

    rows: int
    phase: float
    parts: tuple[_Part, ...]

    def rows_now(self) -> float:
        return sum(part.rows_now() for part in self.parts)


@dataclass(slots=True)
class LiveRows:
    """The live rows of a table's data files, updated by each commit and each rewrite.

    Expectations are rounded to whole numbers with a different phase for each file, so that among many files
    that have each lost less than one row the expected number of files lose one. While a stream only appends,
    every row is live and all numbers are exact.
    """

    _bands: list[_Band] = field(default_factory=list)  # in the order of heat
    _mix: list[tuple[_Band, float]] = field(default_factory=list)  # of the last commit's rows, with shares
    _files: dict[str, _FileRows] = field(default_factory=dict)
    _files_added_count: int = 0
    _is_loading: bool = False
    _is_ranked: bool = False  # whether the bands of scattered keys are by rank

    @property
    def expected(self) -> float:
        """The live rows by the commits alone, independent of the files."""
        return sum(band.rows for band in self._bands)

    @property
    def total(self) -> int:
        return sum(map(self.live, self._files))

    def live(self, path: str) -> int:
        """Rounded to whole rows; never increases."""
        file = self._files[path]
        return min(file.rows, math.floor(file.rows_now() + file.phase + _ROUNDING_ERROR_ROWS))

    def dead(self, path: str) -> int:
        return self._files[path].rows - self.live(path)

    def kept(self, paths: Iterable[str]) -> int:
        """How many rows a rewrite of data files writes: their live rows, rounded up.

        So no file has fewer rows than are expected to be live in it, and rounding errors do not accumulate.
        """
        return math.ceil(sum(self._files[path].rows_now() for path in paths) - _ROUNDING_ERROR_ROWS)

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

    def add(self, file: DataFile, live_rows: int, keys: KeyRange | None = None) -> None:
        """Add a data file of the last commit; `live_rows` of its rows are not replaced by that same commit.

        Its keys are in the range `keys`; None means anywhere.
        """
        mix = _shares_of(keys, self._bands) if self._is_loading else self._mix
        parts = (_Part(band, live_rows * share, band.log_now()) for band, share in mix if share)
        self._add_file(file, tuple(parts))

    def replace(self, inputs: Iterable[str], outputs: Sequence[DataFile], added_rows: int = 0) -> None:
        """Replace data files by others that hold their live rows, each in proportion to its rows.

        They also hold `added_rows` rows of the last commit, where a commit rewrites the files it changes.
        """
        replaced = [self._files.pop(path) for path in inputs]
        added = (_Part(band, added_rows * share, band.log_now()) for band, share in self._mix if added_rows)
        parts = tuple(_joined((*(part for file in replaced for part in file.parts), *added)))
        rows = sum(file.rows for file in outputs)
        for file in outputs:
            share = file.rows / rows
            self._add_file(file, tuple(_Part(p.band, p.rows * share, p.log_then) for p in parts))

    def _add_file(self, file: DataFile, parts: tuple[_Part, ...]) -> None:
        self._files_added_count += 1
        phase = self._files_added_count * _GOLDEN_RATIO % 1
        self._files[file.path] = _FileRows(file.rows, phase, parts)

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
        """Hit older keys as the workload chooses them, and put the new ones into bands of their own."""
        self._is_loading = False
        self._bands = self._ranked(keys) if keys.choice.is_scattered else self._bands
        hits = [(band, self._hit_band(band, chance)) for band, chance in self._chances(spec, keys)]
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
            yield band, min(_SURE, chance * scale)

    def _ranked(self, keys: KeyShape) -> list[_Band]:
        """Bands by rank, for scattered keys: every file holds the same share of the keys of each rank."""
        if self._is_ranked:
            return self._bands
        self._is_ranked = True
        bands, rows = _bands_of(1, keys.population + 1, keys.choice), self.expected
        for band in bands:
            band.rows = rows * band.keys / keys.population
        for file in self._files.values():
            own_rows = file.rows_now()
            file.parts = tuple(_Part(band, own_rows * share, 0.0) for band, share in _shares_of(None, bands))
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


def _joined(parts: Iterable[_Part]) -> Iterator[_Part]:
    """One part for each band, as of now."""
    rows: dict[int, float] = {}
    bands: dict[int, _Band] = {}
    for part in parts:
        root = part.band.root()
        bands[id(root)] = root
        rows[id(root)] = rows.get(id(root), 0.0) + part.rows_now()
    return (_Part(band, rows[key], band.log_survival) for key, band in bands.items())


def rows_of_outputs(group: RewriteGroup, live_rows: int) -> tuple[int, ...]:
    """The rows that each task of a group writes, in proportion to the rows that it reads."""
    all_rows = max(1, sum(task.rows for task in group.tasks))
    ends = itertools.accumulate((task.rows for task in group.tasks), initial=0)
    return tuple(
        live_rows * end // all_rows - live_rows * start // all_rows for start, end in itertools.pairwise(ends)
    )
