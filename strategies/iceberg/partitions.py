"""The text of a partition, `name=value` pairs between slashes, taken apart."""

from urllib.parse import unquote

_NULL = "null"


def fields_of(partition: str) -> dict[str, str]:
    """The value of each field, still encoded; none for "".

    Only the first `=` of a pair separates: in names it is percent-encoded, in values it is not.
    """
    pairs = (pair.partition("=") for pair in partition.split("/") if pair)
    return {name: value for name, _, value in pairs}


def is_null(value: str) -> bool:
    """Whether an encoded value is null; the text "null" is `%6Eull`."""
    return value == _NULL


def decoded(text: str) -> str:
    """A name or a value as the table has it."""
    return unquote(text)
