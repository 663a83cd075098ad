"""Records from the flat names of their columns, so that tests need not nest values."""

from typing import Any, TypeVar

from pydantic import BaseModel

from bench.results.columns import columns_of

_Record = TypeVar("_Record", bound=BaseModel)


def record(kind: type[_Record], **flat: Any) -> _Record:
    """`record(CommitRecord, wall_s=1.0, files_added_count=8)`; names of fields are taken as they are."""
    paths = {column.name: column.path for column in columns_of(kind)}
    fields: dict[str, Any] = {}
    for name, value in flat.items():
        *values, last = (name,) if name in kind.model_fields else paths.get(name, (name,))
        place = fields
        for each in values:
            place = place.setdefault(each, {})
        place[last] = value
    return kind.model_validate(fields)
