"""The values that Delta accepts for table properties; it refuses others when it creates the table.

Source: DeltaConfigs of delta-spark 3.3.2.
"""

from collections.abc import Callable, Mapping

from bench.engines.contract import TableSpec
from bench.engines.delta.table_keys import (
    AUTO_COMPACT,
    AUTO_OPTIMIZE,
    CHECKPOINT_INTERVAL,
    INDEXED_COUNT,
    OPTIMIZE_WRITE,
    property_name,
)
from strategies.java_values import parse_int


def boolean(text: str) -> bool:
    """Raises ValueError. Its message, like those of the others, starts with "must be"."""
    if text.lower() not in ("true", "false"):
        raise ValueError("must be true or false")
    return text.lower() == "true"


def _at_least(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = parse_int(text)
        if number < least:
            raise ValueError(f"must be >= {least}")
        return number

    return parse


checkpoint_interval = _at_least(1)

_PARSERS: Mapping[str, Callable[[str], object]] = {
    CHECKPOINT_INTERVAL: checkpoint_interval,
    INDEXED_COUNT: _at_least(-1),
    **dict.fromkeys((AUTO_COMPACT, AUTO_OPTIMIZE, OPTIMIZE_WRITE), boolean),
}


def property_problem(spec: TableSpec) -> tuple[str, str] | None:
    """The first property of a table with a value that Delta refuses, and why; None if there is none."""
    problems = ((name, value_problem(name, value)) for name, value in spec.properties.items())
    return next(((name, problem) for name, problem in problems if problem is not None), None)


def value_problem(name: str, value: str) -> str | None:
    """Why Delta refuses a value of a property, whose name it reads in any case; None if it does not.

    Properties that nothing here depends on are left to Delta.
    """
    try:
        _PARSERS.get(property_name(name), str)(value)
    except ValueError as error:
        return str(error)
    return None
