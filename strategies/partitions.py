"""Parsing of partition paths: `name=value` pairs separated by slashes."""

from urllib.parse import unquote

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
