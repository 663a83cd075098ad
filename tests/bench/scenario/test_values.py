from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.keys import bytes_text, duration_ms_text, duration_text, flat, known_text
from bench.scenario.values import OptionError, options_of, path_text
from strategies.quantities import DURATION_DAYS_MAX, parse_bytes, parse_duration_ms, parse_duration_s


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Everything:
    whole: int
    number: float = 1.0
    name: str | None = None
    flag: bool = False
    wait_s: float = 60.0
    waits_s: tuple[float, ...] = (60.0, 0.5)
    pause_ms: int = 90_000
    pauses_ms: tuple[int, ...] = (60_000, 500)
    small_bytes: int | None = None
    rows_per_s: float = 1.0
    cities_s: str = "Oslo"
    colour: Colour = Colour.RED
    side: Literal["left", "right"] = "left"
    options: Mapping[str, str | int] = field(default_factory=dict)
    names: tuple[str, ...] | None = None
    made: int = field(init=False, default=0)


OPTIONS = {option.name: option for option in options_of(Everything)}


def read(name, value):
    return OPTIONS[name].read(value, (name,))


def test_options_drop_the_unit_where_toml_writes_it_in_the_value():
    keys = [option.key for option in OPTIONS.values()]
    assert keys == [
        "whole", "number", "name", "flag", "wait", "waits", "pause", "pauses", "small", "rows_per_s",
        "cities_s", "colour", "side", "options", "names",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("number", 2, 2.0),
        ("wait_s", "10min", 600.0),
        ("waits_s", ["1s", "2s"], (1.0, 2.0)),
        ("pause_ms", "10min", 600_000),
        ("pauses_ms", ["1s", "20ms"], (1000, 20)),
        ("small_bytes", "1MiB", 2**20),
        ("colour", "red", Colour.RED),
        ("options", {"a": {"b": 1}, "c": "d"}, {"a.b": 1, "c": "d"}),
    ],
)
def test_read_converts(name, value, expected):
    assert read(name, value) == expected


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("whole", True, "whole = true: must be a whole number"),
        ("whole", 1.0, "whole = 1.0: must be a whole number"),
        ("whole", "1", 'whole = "1": must be a whole number'),
        ("number", False, "number = false: must be a number"),
        ("name", 5, "name = 5: must be text"),
        ("flag", 1, "flag = 1: must be true or false"),
        ("wait_s", 600, "wait_s = 600: 600 is not a duration"),
        ("waits_s", ["1s", "soon"], "waits_s[1] = \"soon\": 'soon' is not a duration"),
        ("pause_ms", 600, "pause_ms = 600: 600 is not a duration"),
        ("pause_ms", "0.5ms", "pause_ms = \"0.5ms\": '0.5ms' is not a whole number of milliseconds"),
        ("pauses_ms", ["1s", "soon"], "pauses_ms[1] = \"soon\": 'soon' is not a duration"),
        ("small_bytes", "big", "'big' is not a size"),
        ("wait_s", [], "wait_s = []: [] is not a duration"),
        ("pause_ms", ["1s"], "pause_ms = [\"1s\"]: ['1s'] is not a duration"),
        ("small_bytes", ["1MiB"], "small_bytes = [\"1MiB\"]: ['1MiB'] is not a size"),
        ("pauses_ms", "1s", 'pauses_ms = "1s": must be a list of durations such as ["1min", "10min"]'),
        ("side", "up", 'side = "up": must be one of "left", "right"'),
        ("options", [1], r"options = [1]: must be a table"),
        ("options", {"a": {"b": [1]}}, 'options."a.b" = [1]: must be text or a whole number'),
        ("names", 5, "names = 5: must be a list"),
        ("names", ["a", 1], "names[1] = 1: must be text"),
    ],
)
def test_read_refuses_other_types_and_names_key_and_value(name, value, text):
    with pytest.raises(OptionError) as caught:
        read(name, value)
    assert text in str(caught.value)


@given(st.floats(0, 1e9).map(lambda s: round(s, 3)) | st.integers(0, 10**7).map(float) | st.floats(1e-9, 1e9))
def test_duration_text_reads_back_exactly(seconds):
    assert parse_duration_s(duration_text(seconds)) == seconds


@given(
    st.integers(0, DURATION_DAYS_MAX * 86_400_000)
    | st.builds(
        lambda count, unit: count * unit,
        st.integers(0, DURATION_DAYS_MAX),
        st.sampled_from([1000, 60_000, 86_400_000]),
    )
)
def test_duration_ms_text_reads_back_exactly(milliseconds):
    assert parse_duration_ms(duration_ms_text(milliseconds)) == milliseconds


@pytest.mark.parametrize(
    ("name", "default"),
    [("pause_ms", "90s"), ("pauses_ms", ("1min", "500ms")), ("waits_s", ("1min", "500ms"))],
)
def test_write_gives_a_duration_the_text_it_is_read_from(name, default):
    option = OPTIONS[name]
    assert option.write(option.default) == default
    assert read(name, option.write(option.default)) == option.default


@given(st.integers(0, 2**50) | st.integers(0, 2**20).map(lambda n: n * 2**20))
def test_bytes_text_reads_back_exactly(size_bytes):
    assert parse_bytes(bytes_text(size_bytes)) == size_bytes


def test_a_duration_beyond_what_scenarios_may_say_still_has_a_text():
    assert duration_text(1e10) == "10000000000s"


def test_quantity_texts_are_as_people_write_them():
    assert [duration_text(s) for s in (0.0, 0.02, 90.0, 600.0, 3600.0, 86_400.0)] == [
        "0s", "20ms", "90s", "10min", "1h", "1d",
    ]  # fmt: skip
    assert [duration_ms_text(n) for n in (0, 20, 1500, 90_000, 600_000, 3_600_000, 86_400_000)] == [
        "0s", "20ms", "1500ms", "90s", "10min", "1h", "1d",
    ]  # fmt: skip
    assert [bytes_text(n) for n in (0, 100, 2048, 128 * 2**20, 4 * 2**30)] == [
        "0B", "100B", "2KiB", "128MiB", "4GiB",
    ]  # fmt: skip


def test_path_text_quotes_what_is_no_bare_key():
    path = ("strategies", 1, "rules", 0, "planner", "options", "a.b")
    assert path_text(path) == 'strategies[1].rules[0].planner.options."a.b"'


def test_known_text_puts_the_nearest_first():
    assert known_text("evry", ["after", "every"]) == 'did you mean "every"? known: every, after'
    assert known_text("zzz", ["after", "every"]) == "known: after, every"


def test_flat_joins_what_toml_nested():
    assert flat({"a": {"b": {"c": 1}}, "d.e": 2}) == {"a.b.c": 1, "d.e": 2}
