"""What a sweep varies: a key of a scenario or of one of its strategies, and its values."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bench.engines.keys import bytes_text, duration_ms_text
from bench.errors import ScenarioError
from strategies.quantities import parse_bytes, parse_duration_ms
from strategies.state import KIB, MIB

OPTION = "--over"
COUNT_MAX = 1_000  # values of one axis
_STRATEGY = re.compile(r"strategies(?:\[(?P<label>[^\[\]]+)\]|\.(?P<name>[^.=\[\]]+))\.(?P<key>.+)")
_RANGE = re.compile(r"(?P<low>[^.*]+(?:\.\d+)?[A-Za-z]*)\.\.(?P<high>[^*]+)\*(?P<count>\d+)")
RULE = "rules[0]."  # the keys of an axis that are in the first rule of its strategy
_SHORT = {"every": f"{RULE}trigger.interval"}
_PLANNER = "planner."
_OPTIONS = "options."
_NAME_LENGTH_MAX = 24


@dataclass(frozen=True, slots=True)
class Axis:
    """`key` is in the notation of `--set`, within the strategy with the label `strategy` if it is not None.

    `name` is how labels call it.
    """

    strategy: str | None
    key: str
    name: str
    values: tuple[str, ...]


def parse_axis(text: str, tick_ms: int) -> Axis:
    """An axis as written: KEY=VALUE,VALUE or KEY=LOW..HIGH*COUNT, which is a geometric series.

    `strategies.LABEL.every` is the interval of the strategy's first rule, `strategies.LABEL.planner.NAME` a
    key of its planner, and `strategies.LABEL.options.NAME` one of the planner's `options`, whose names may
    have dots and hyphens; other keys are as for `--set`. Durations in a series that are longer than
    `tick_ms` are multiples of it, since rules are evaluated once a tick. Raises ScenarioError.
    """
    key, equals, values = text.partition("=")
    if not equals or not values.strip() or not key.strip():
        raise _not_an_axis(text)
    of_strategy = _STRATEGY.fullmatch(key)
    made = tuple(dict.fromkeys(_values(text, values.strip(), tick_ms)))
    if not made:
        raise _not_an_axis(text)
    if of_strategy is None:
        return Axis(None, key, key.rpartition(".")[2], made)
    inner, label = of_strategy["key"], of_strategy["label"] or of_strategy["name"]
    if inner in _SHORT:
        return Axis(label, _SHORT[inner], inner, made)
    if inner.startswith(_OPTIONS):
        name = inner.removeprefix(_OPTIONS)
        return Axis(label, f'{RULE}planner.options."{name}"', _short(name), made)
    if inner.startswith(_PLANNER):
        return Axis(label, f"{RULE}{inner}", inner.rpartition(".")[2], made)
    return Axis(label, inner, inner.rpartition(".")[2], made)


def _short(option: str) -> str:
    """The end of a dotted name, as long as labels have room for: small.file.limit."""
    parts = option.split(".")
    while len(parts) > 1 and len(".".join(parts)) > _NAME_LENGTH_MAX:
        del parts[0]
    return ".".join(parts)


def _not_an_axis(text: str) -> ScenarioError:
    return ScenarioError(
        "write KEY=VALUE,VALUE or KEY=LOW..HIGH*COUNT, e.g. strategies.rewrite.every=1min..4h*12",
        code="not-an-axis",
        path=f"{OPTION} {text}",
    )


def _values(text: str, values: str, tick_ms: int) -> Iterator[str]:
    series = _RANGE.fullmatch(values)
    if series is None:
        if ".." in values:
            raise _not_an_axis(text)
        yield from (value.strip() for value in values.split(",") if value.strip())
        return
    low, high, count = series["low"].strip(), series["high"].strip(), int(series["count"])
    if not 2 <= count <= COUNT_MAX:
        problem = f"a series has 2 to {COUNT_MAX} values"
        raise ScenarioError(problem, code="invalid", path=f"{OPTION} {text}")
    for parse, write in _quantities(tick_ms):
        try:
            first, last = parse(low), parse(high)
        except ValueError:
            continue
        if not 0 < first < last:
            problem = f"{low} must be above 0 and below {high}"
            raise ScenarioError(problem, code="invalid", path=f"{OPTION} {text}")
        yield from (write(first * (last / first) ** (place / (count - 1))) for place in range(count))
        return
    raise ScenarioError(
        f"{low} and {high} must both be durations, sizes or numbers", code="invalid", path=f"{OPTION} {text}"
    )


def _quantities(
    tick_ms: int,
) -> tuple[tuple[Callable[[str], float], Callable[[float], str]], ...]:
    """How durations, sizes, whole numbers and other numbers are read, and a value of a series is written."""

    def duration(value: float) -> str:
        step_ms = tick_ms if value >= tick_ms else 1
        return duration_ms_text(max(1, round(value / step_ms)) * step_ms)

    def size(value: float) -> str:
        step_bytes = MIB if value >= MIB else KIB if value >= KIB else 1
        return bytes_text(max(1, round(value / step_bytes)) * step_bytes)

    return (
        (parse_duration_ms, duration), (parse_bytes, size), (int, lambda value: str(round(value))),
        (float, lambda value: f"{value:.3g}"),
    )  # fmt: skip
