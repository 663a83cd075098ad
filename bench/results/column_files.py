"""Records as columns in files: a folder with a Parquet file for each kind of record.

Each file has the columns of `columns_of` and `serial`, the place of a record among all records of the run.
Structured values are JSON texts. A column that may be unknown may be missing, in results that are older than
it. The folder gets its name when the run has ended (`bench.replay.recorder`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from json import JSONEncoder
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from bench.errors import ResultSchemaError, first_error
from bench.results.columns import FlatColumn, column_by_name, columns_of, values_at
from bench.results.records import BaseRecord, Record, RunRecord
from bench.results.tables import Records, RunRecords
from bench.text import counted

SERIAL = "serial"
KINDS: Mapping[str, type[BaseRecord]] = {
    kind.model_fields["kind"].default: kind for kind in get_args(get_args(Record)[0])
}
_ARROW = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string(), dict: pa.string()}
_NUMPY = {bool: np.bool_, int: np.int64, float: np.float64}
_encode = JSONEncoder(allow_nan=False, ensure_ascii=False).encode

_R = TypeVar("_R", bound=BaseRecord)


def file_of(folder: Path, kind: type[BaseRecord]) -> Path:
    return folder / f"{kind.model_fields['kind'].default}.parquet"


@cache
def schema_of(kind: type[BaseRecord]) -> pa.Schema:
    columns = (pa.field(c.name, _ARROW[c.type], nullable=c.is_optional) for c in columns_of(kind))
    return pa.schema([pa.field(SERIAL, pa.int64(), nullable=False), *columns])


def table_of(
    kind: type[BaseRecord],
    serials: Sequence[int],
    records: Sequence[Mapping[str, Any]],
    written_utc: str,
    clean: Callable[[str, Any], Any] = lambda field, value: value,
) -> pa.Table:
    """Records, given by their fields, as a table. `clean` is applied once to each text or list of a field.

    Raises ValueError for a value that could not be read again.
    """
    known = set[str]().union(*records)
    if unknown := known - kind.model_fields.keys():
        raise TypeError(f"a {kind.__name__} has no {', '.join(sorted(unknown))}")
    arrays = [_array(pa.int64(), np.array(serials, dtype=np.int64))]
    parts: dict[tuple[str, ...], list[Any]] = {("written_utc",): [written_utc] * len(records)}
    for column in columns_of(kind):
        for end in range(1, len(column.path) + 1):
            path = column.path[:end]
            if path not in parts:  # several columns may be parts of one value
                parts[path] = (
                    _values(kind, path[0], path[0] in known, records)
                    if end == 1
                    else values_at(path[-1:], parts[path[:-1]])
                )
        try:
            arrays.append(_column(column, parts[column.path], clean))
        except UnicodeEncodeError:
            raise
        except ValueError as error:
            raise ValueError(f"{kind.__name__}.{column.name}: {error}") from error
    return pa.Table.from_arrays(arrays, schema=schema_of(kind))


def _values(
    kind: type[BaseRecord], name: str, is_known: bool, records: Sequence[Mapping[str, Any]]
) -> list[Any]:
    """The values of a field, or its default."""
    field = kind.model_fields[name]
    if field.is_required() and is_known:
        return [record[name] for record in records]
    default = field.get_default(call_default_factory=True)
    return [record.get(name, default) for record in records] if is_known else [default] * len(records)


def _column(column: FlatColumn, values: Sequence[Any], clean: Callable[[str, Any], Any]) -> pa.Array:
    unknown_count = values.count(None) if column.is_optional else 0
    if unknown_count == len(values):
        return pa.nulls(len(values), _ARROW[column.type])
    if column.type in (str, dict):
        builder = pa.lib.StringBuilder()
        as_texts = _texts if column.type is str else _json_texts
        builder.append_values(as_texts(column.path[0], values, clean))
        return builder.finish()
    is_known = None
    if unknown_count:
        is_known = np.array([value is not None for value in values])
        values = [0 if value is None else value for value in values]
    array: np.ndarray = np.array(values, dtype=_NUMPY[column.type])
    _check(column, array if is_known is None else array[is_known])
    return _array(_ARROW[column.type], array, is_known)


def _array(kind: pa.DataType, values: np.ndarray, is_known: np.ndarray | None = None) -> pa.Array:
    """An array of numbers or truth values. `pa.array` would load pandas, which takes a third of a second."""
    known, data = (
        array if array is None or array.dtype != bool else np.packbits(array, bitorder="little")
        for array in (is_known, values)
    )
    buffers = [None if known is None else pa.py_buffer(known), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(values), buffers)


def _numbers(array: pa.Array, unknown: float = np.nan) -> np.ndarray:
    """The numbers or truth values of an array, with `unknown` for nulls; its own method would load pandas."""
    known, data = array.buffers()
    part = slice(array.offset, array.offset + len(array))
    if array.type == pa.bool_():
        return _bits(data)[part].astype(bool)
    values = np.frombuffer(data, dtype=array.type.to_pandas_dtype())[part]
    return np.where(_bits(known)[part], values, unknown) if array.null_count else values


def _bits(buffer: pa.Buffer) -> np.ndarray:
    return np.unpackbits(np.frombuffer(buffer, dtype=np.uint8), bitorder="little")


def _texts(field: str, values: Sequence[Any], clean: Callable[[str, Any], Any]) -> Sequence[Any]:
    cleaned = {text: clean(field, text) for text in set(values) if text is not None}
    changed = {text: other for text, other in cleaned.items() if text != other}
    return [changed.get(text, text) for text in values] if changed else values


def _json_texts(field: str, values: Sequence[Any], clean: Callable[[str, Any], Any]) -> list[str | None]:
    known: dict[tuple[Any, ...], str] = {}
    texts: list[str | None] = []
    for value in values:
        if value is None:
            texts.append(None)
        elif isinstance(value, dict):
            texts.append(_encode(value) if value else "{}")
        elif isinstance(value, Mapping):
            texts.append(_encode(dict(value)))
        else:
            key = tuple(value)
            if key not in known:
                known[key] = _encode(clean(field, list(value)))
            texts.append(known[key])
    return texts


def _check(column: FlatColumn, values: np.ndarray) -> None:
    """Raises ValueError for a number that could not be read again."""
    if column.type is float and not np.isfinite(values).all():
        raise ValueError("not a finite number")
    low, high = column.bounds if column.type in (int, float) else (None, None)
    if low is not None and len(values) and values.min() < low:
        raise ValueError(f"{values.min()} is less than {low}")
    if high is not None and len(values) and values.max() > high:
        raise ValueError(f"{values.max()} is more than {high}")


def read_records(folder: Path) -> RunRecords:
    """The records in a folder. Raises ResultSchemaError for a file that is damaged, and OSError."""
    sources: dict[type[Any], ColumnFile[Any]] = {}
    for path in sorted(folder.iterdir()):
        kind = KINDS.get(path.stem)
        if kind is None or path != file_of(folder, kind):
            raise damaged(path, "is not a table of records")
        sources[kind] = ColumnFile(kind, path)
        if kind is RunRecord and not len(sources[kind].serials):
            raise damaged(path, "has no record")
        if (np.diff(sources[kind].serials) <= 0).any():
            raise damaged(path, "its records are out of order")
    places = np.sort(np.concatenate([[], *(source.serials for source in sources.values())]))
    twice_count = len(places) - len(np.unique(places))
    if twice_count:
        raise damaged(folder, f"{counted(twice_count, 'record')} twice")
    if len(places) and places[-1] + 1 != len(places):
        missing_count = int(places[-1]) + 1 - len(places)
        raise damaged(folder, f"{counted(missing_count, 'record')} missing, so a file of it may be")
    return RunRecords(sources)


def read_ends(folder: Path) -> list[RunRecord]:
    """The closing record alone, in a list that is empty if there is none."""
    path = file_of(folder, RunRecord)
    return [*Records(ColumnFile(RunRecord, path))] if path.exists() else []


def damaged(path: object, problem: str) -> ResultSchemaError:
    remedy = "restore the folder, or delete the run folder and repeat the run with `run --resume`"
    return ResultSchemaError(f"{problem}; {remedy}", code="damaged-record", path=path)


class ColumnFile(Generic[_R]):
    """The records of one kind in a file, which stays in memory; columns are decoded when they are needed.

    A file of an earlier version may lack columns whose values may be unknown; they are unknown, then.
    """

    def __init__(self, kind: type[_R], path: Path) -> None:
        self._kind, self._path = kind, path
        content = pa.BufferReader(path.read_bytes())
        with self._checked():
            self._file = pq.ParquetFile(content, page_checksum_verification=True)
        stored, columns = self._file.schema_arrow, schema_of(kind)
        self._lacking = {
            column.name: column.type
            for column in columns
            if column.nullable and stored.get_field_index(column.name) < 0
        }
        if not stored.equals(pa.schema([column for column in columns if column.name not in self._lacking])):
            raise damaged(path, f"does not have the columns of a {kind.__name__}")
        groups = range(self._file.num_row_groups)
        counts = [self._file.metadata.row_group(group).num_rows for group in groups]
        self._starts = np.cumsum([0, *counts])
        self._columns: dict[str, np.ndarray] = {}
        self.made: dict[object, np.ndarray] = {}
        self.serials = _numbers(self._stored(SERIAL))

    @contextmanager
    def _checked(self) -> Iterator[None]:
        """Raises ResultSchemaError for a file that is cut off, and for a part whose checksum is wrong."""
        try:
            yield
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last for damaged names
            problem = f"is not a whole Parquet file ({str(error).splitlines()[0]})"
            raise damaged(self._path, problem) from error

    def _stored(self, name: str) -> pa.Array:
        if name in self._lacking:
            return pa.nulls(int(self._starts[-1]), self._lacking[name])
        with self._checked():
            return self._file.read([name], use_threads=False)[name].combine_chunks()

    def column(self, name: str) -> np.ndarray:
        if name not in self._columns:
            self._columns[name] = self._array(column_by_name(self._kind)[name])
        return self._columns[name]

    def release(self) -> None:
        self._columns.clear()
        self.made.clear()

    def _array(self, column: FlatColumn) -> np.ndarray:
        values = self._stored(column.name)
        if column.type in (str, dict):
            coded = values.dictionary_encode()
            read = self._reader(column) if column.type is dict else str
            known = column.array([*map(read, coded.dictionary.to_pylist()), None])
            return np.asarray(known[_numbers(coded.indices, len(known) - 1).astype(int)])
        if column.type is bool and column.is_optional:
            return column.array(values.to_pylist())
        numbers = _numbers(values)
        return numbers.astype(float) if column.is_optional else numbers

    def _reader(self, column: FlatColumn) -> Callable[[str], Any]:
        adapter = _adapter(column.annotation)

        def read(text: str) -> Any:
            try:
                return adapter.validate_json(text)
            except ValidationError as error:
                raise damaged(self._path, f"{column.name}: {first_error(error)}") from error

        return read

    def objects(self, places: np.ndarray) -> Sequence[_R]:
        groups, at = np.unique(np.searchsorted(self._starts, places, side="right") - 1, return_inverse=True)
        sizes = np.diff(self._starts)[groups]
        within = places - self._starts[groups][at] + np.concatenate([[0], np.cumsum(sizes)])[at]
        with self._checked():
            rows = self._file.read_row_groups(groups.tolist()).take(_array(pa.int64(), within))
        columns = columns_of(self._kind)
        unknown = [None] * len(places)
        lists = [
            unknown if column.name in self._lacking else self._plain(column, rows[column.name].to_pylist())
            for column in columns
        ]
        return [self._object(zip(columns, values, strict=True)) for values in zip(*lists, strict=True)]

    def _plain(self, column: FlatColumn, values: list[Any]) -> list[Any]:
        if column.type is not dict:
            return values
        read = self._reader(column)
        return [None if text is None else read(text) for text in values]

    def _object(self, values: Iterator[tuple[FlatColumn, Any]]) -> _R:
        fields: dict[str, Any] = {}
        for column, value in values:
            place = fields
            for name in column.path[:-1]:
                place = place.setdefault(name, {})
            place[column.path[-1]] = value
        for name in _may_be_none(self._kind):
            if all(value is None for value in fields[name].values()):
                fields[name] = None
        try:
            return self._kind.model_validate(fields)
        except ValidationError as error:
            raise damaged(self._path, first_error(error)) from error


@cache
def _may_be_none(kind: type[BaseRecord]) -> tuple[str, ...]:
    """The fields with a value of several columns that a record may lack."""
    nested = {column.path[0] for column in columns_of(kind) if len(column.path) > 1}
    return tuple(
        name
        for name in nested
        if not kind.model_fields[name].is_required() and kind.model_fields[name].default is None
    )


@cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)
