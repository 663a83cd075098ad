"""The records of a run as tables: columns for sums, objects for whoever lists a few of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Generic, Protocol, TypeVar, overload

import numpy as np

from bench.results.columns import column_by_name, values_at
from bench.results.records import BaseRecord

_R = TypeVar("_R", bound=BaseRecord)
_Made = TypeVar("_Made")
_R_co = TypeVar("_R_co", bound=BaseRecord, covariant=True)
_AT_ONCE = 1_000  # objects that are made at a time


class Source(Protocol[_R_co]):
    """All records of one kind of a run, in order; `serials` are their places among the records of the run.

    `made` is for `Records.of_all`.
    """

    serials: np.ndarray
    made: dict[object, np.ndarray]

    def column(self, name: str) -> np.ndarray: ...

    def objects(self, places: np.ndarray) -> Sequence[_R_co]: ...

    def release(self) -> None:
        """Forget columns, which are made again when they are needed."""


class Listed(Generic[_R]):
    """Records that exist as objects."""

    def __init__(self, kind: type[_R], records: Sequence[_R], serials: Sequence[int]) -> None:
        self._kind, self._records = kind, records
        self._columns: dict[str, np.ndarray] = {}
        self.made: dict[object, np.ndarray] = {}
        self.serials = np.array(serials, dtype=np.int64)

    def column(self, name: str) -> np.ndarray:
        if name not in self._columns:
            column = column_by_name(self._kind)[name]
            self._columns[name] = column.array(values_at(column.path, [*self._records]))
        return self._columns[name]

    def objects(self, places: np.ndarray) -> Sequence[_R]:
        return [self._records[place] for place in places.tolist()]

    def release(self) -> None:
        """Keeps the columns: these records are few, and their objects larger."""


class Records(Sequence[_R]):
    """Records of one kind, in order. An object is made when it is indexed or iterated over.

    `column` has the names of `columns_of`. Numbers that may be None are floats, with NaN for None: a stored
    number is never NaN.
    """

    def __init__(self, source: Source[_R], places: np.ndarray | None = None) -> None:
        self._source, self._places = source, places
        self._columns: dict[str, np.ndarray] = {}

    def column(self, name: str) -> np.ndarray:
        if self._places is None:
            return self._source.column(name)
        if name not in self._columns:
            self._columns[name] = self._source.column(name)[self._places]
        return self._columns[name]

    @property
    def serials(self) -> np.ndarray:
        """The places of the records among all records of the run."""
        return self._source.serials if self._places is None else self._source.serials[self._places]

    def of_all(self, key: object, make: Callable[["Records[_R]"], np.ndarray]) -> np.ndarray:
        """The values here of those that `make` gives for all records of the kind, once for each key."""
        made = self._source.made
        if key not in made:
            made[key] = make(Records(self._source))
        return made[key] if self._places is None else np.asarray(made[key][self._places])

    def where(self, mask: np.ndarray) -> "Records[_R]":
        return self.take(np.flatnonzero(mask))

    def having(self, **values: str | bool) -> "Records[_R]":
        """The records with these values in their columns."""
        return self.where(
            np.logical_and.reduce([self.column(name) == value for name, value in values.items()])
        )

    def take(self, places: np.ndarray) -> "Records[_R]":
        """The records at these places of this table, in the order of `places`."""
        return Records(self._source, places if self._places is None else self._places[places])

    def __len__(self) -> int:
        return len(self._source.serials if self._places is None else self._places)

    def __iter__(self) -> Iterator[_R]:
        places = np.arange(len(self)) if self._places is None else self._places
        parts = (places[start : start + _AT_ONCE] for start in range(0, len(places), _AT_ONCE))
        return chain.from_iterable(map(self._source.objects, parts))

    @overload
    def __getitem__(self, index: int) -> _R: ...
    @overload
    def __getitem__(self, index: slice) -> "Records[_R]": ...
    def __getitem__(self, index: int | slice) -> "_R | Records[_R]":
        place = np.arange(len(self))[index]
        if isinstance(index, slice):
            return self.take(place)
        return next(iter(self.take(np.array([place]))))


def together(name: str, *tables: Records[Any]) -> np.ndarray:
    """A column of several tables, one after the other."""
    return np.concatenate([table.column(name) for table in tables])


def own_cost(part: str, *tables: Records[Any]) -> np.ndarray:
    """A part of the cost of steps; NaN if it is unknown or cannot be separated from that of another step."""
    return np.where(together("is_shared", *tables), np.nan, together(part, *tables))


def is_none(values: np.ndarray) -> np.ndarray:
    return np.array([value is None for value in values.tolist()], dtype=bool)


class RunRecords(Sequence[Any]):
    """All records of a run, in the order in which they were written, and by kind."""

    def __init__(self, sources: Mapping[type[Any], Source[Any]]) -> None:
        self._sources = sources
        self._count = sum(len(source.serials) for source in sources.values())
        self._made: dict[Callable[[RunRecords], Any], Any] = {}

    @classmethod
    def listed(cls, records: Iterable[Any]) -> "RunRecords":
        by_kind: dict[type[Any], tuple[list[Any], list[int]]] = {}
        for serial, record in enumerate(records):
            of_kind, serials = by_kind.setdefault(type(record), ([], []))
            of_kind.append(record)
            serials.append(serial)
        return cls({kind: Listed(kind, *known) for kind, known in by_kind.items()})

    def once(self, make: Callable[["RunRecords"], _Made]) -> _Made:
        """What a function makes of the records, which is made only once."""
        if make not in self._made:
            self._made[make] = make(self)
        return self._made[make]  # type: ignore[no-any-return]

    def release(self) -> None:
        """Give back the memory of columns and of what was made of them."""
        self._made.clear()
        for source in self._sources.values():
            source.release()

    def of(self, kind: type[_R]) -> Records[_R]:
        return Records(self._sources.get(kind) or Listed(kind, (), ()))

    @cached_property
    def last(self) -> Any:
        """None if there is no record."""
        return self[-1] if self._count else None

    def kinds(self) -> Iterable[type[Any]]:
        return self._sources.keys()

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        iterators = [iter(self.of(kind)) for kind in self._sources]
        owners = np.full(self._count, -1)
        for owner, source in enumerate(self._sources.values()):
            owners[source.serials] = owner
        return (next(iterators[owner]) for owner in owners.tolist())

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(self._count))]
        kind, place = self.place_of(range(self._count)[index])
        return self.of(kind)[place]

    def place_of(self, serial: int) -> tuple[type[Any], int]:
        """The kind of a record, and its place among the records of that kind."""
        places = {kind: int(np.searchsorted(table.serials, serial)) for kind, table in self._sources.items()}
        return next(
            (kind, place)
            for kind, place in places.items()
            if place < len(serials := self._sources[kind].serials) and serials[place] == serial
        )
