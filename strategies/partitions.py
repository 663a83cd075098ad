"""Partition paths (see `strategies.state.DataFile`): `name=value` pairs separated by slashes."""

from collections.abc import Iterable
from urllib.parse import unquote

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"  # the value of null in paths as Hive has them, such as Hudi's
_NULL = "null"


def fields_of(partition: str) -> dict[str, str]:
    """The value of each field, still percent-encoded; empty for "".

    A pair is split at its first `=`, because `=` is percent-encoded in names but not in values.
    """
    pairs = (pair.partition("=") for pair in partition.split("/") if pair)
    return {name: value for name, _, value in pairs}


def is_null(value: str) -> bool:
    """Whether an encoded value is null; the text "null" is `%6Eull`."""
    return value == _NULL


def decoded(text: str) -> str:
    """A name or value without the percent-encoding of the path."""
    return unquote(text)


def path_of(fields: Iterable[tuple[str, str | None]]) -> str:
    """The path of named values; None is null. No two partitions share a path."""
    return "/".join(f"{_encoded(name).replace('=', '%3D')}={_value_text(value)}" for name, value in fields)


def _value_text(value: str | None) -> str:
    if value is None:
        return _NULL
    return f"%{ord(value[0]):X}{value[1:]}" if value == _NULL else _encoded(value)


def _encoded(text: str) -> str:
    """The slash, which separates fields, is percent-encoded, and so is the percent sign itself."""
    return text.replace("%", "%25").replace("/", "%2F")
