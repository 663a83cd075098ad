from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import refused

from bench.engines.keys import bytes_text, duration_ms_text, duration_text, flat
from bench.scenario.plugins import model_of, to_table
from bench.scenario.values import OptionError, path_text, together, validated
from bench.secrets import HIDDEN, hide
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


MODEL = model_of(Everything)


def test_keys_drop_the_unit_where_toml_writes_it_in_the_value():
    assert list(MODEL.fields_by_key()) == [
        "whole", "number", "name", "flag", "wait", "waits", "pause", "pauses", "small", "rows_per_s",
        "cities_s", "colour", "side", "options", "names",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "field", "value", "expected"),
    [
        ("number", "number", 2, 2.0),
        ("wait", "wait_s", "10min", 600.0),
        ("waits", "waits_s", ["1s", "2s"], (1.0, 2.0)),
        ("pause", "pause_ms", "10min", 600_000),
        ("pauses", "pauses_ms", ["1s", "20ms"], (1000, 20)),
        ("small", "small_bytes", "1MiB", 2**20),
        ("colour", "colour", "red", Colour.RED),
        ("names", "names", ["a"], ("a",)),
        ("options", "options", {"a": {"b": 1}, "c": "d"}, {"a.b": 1, "c": "d"}),
    ],
)
def test_values_are_read_as_the_field_has_them(key, field, value, expected):
    read = getattr(validated(MODEL, {"whole": 1, key: value}, {}), field)
    assert (read, type(read)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("key", "value", "code", "shown"),
    [
        ("whole", True, "invalid", "whole = true"),
        ("whole", 1.0, "invalid", "whole = 1.0"),
        ("whole", "1", "invalid", 'whole = "1"'),
        ("number", False, "invalid", "number = false"),
        ("name", 5, "invalid", "name = 5"),
        ("flag", 1, "invalid", "flag = 1"),
        ("wait", 600, "invalid", "wait = 600"),
        ("waits", ["1s", "soon"], "invalid", 'waits[1] = "soon"'),
        ("pause", "0.5ms", "invalid", 'pause = "0.5ms"'),
        ("pauses", "1s", "wrong-type", 'pauses = "1s"'),
        ("small", "big", "invalid", 'small = "big"'),
        ("side", "up", "invalid", 'side = "up"'),
        ("colour", "blue", "invalid", 'colour = "blue"'),
        ("options", [1], "wrong-type", "options = [1]"),
        ("options", {"a": {"b": [1]}}, "invalid", 'options."a.b" = [1]'),
        ("names", ["a", 1], "invalid", "names[1] = 1"),
        ("nam", "a", "unknown-name", 'nam = "a"'),
    ],
)
def test_a_wrong_value_is_refused_with_its_key(key, value, code, shown):
    with refused(code, shown.partition(" = ")[0]) as caught:
        validated(MODEL, {"whole": 1, key: value}, {})
    assert str(caught.value).startswith(f"{shown}: ")


def test_several_errors_hide_the_secrets_in_each_and_take_no_key_for_one():
    errors = together([
        OptionError(("catalog", "token"), "must be text", code="wrong-type"),
        OptionError(("seed",), "must not be hunter2", code="invalid"),
        OptionError(("seed",), "must not be hunter2", code="invalid"),
    ])  # fmt: skip
    placed = errors.within("my.toml", lambda text: text.replace("hunter2", HIDDEN)).within("again")
    assert placed.coded(hide).splitlines() == [
        "again: my.toml: 2 problems [several]",
        "  catalog.token: must be text [wrong-type]",
        f"  seed: must not be {HIDDEN} [invalid]",
        "  more may follow once these are corrected",
    ]


def test_one_error_stays_as_it_is():
    error = OptionError(("seed",), "must be a number", code="invalid")
    assert together([error, error]) is error


def test_a_missing_key_is_refused():
    with refused("missing", "whole"):
        validated(MODEL, {}, {})


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


def test_a_plug_in_is_written_as_it_is_read():
    written = to_table(Everything(1, waits_s=(60.0, 0.5), small_bytes=2**20, options={"a.b": 1}))
    assert (written["wait"], written["waits"], written["pauses"]) == (
        "1min",
        ["1min", "500ms"],
        ["1min", "500ms"],
    )
    assert (written["small"], written["colour"], written["options"]) == ("1MiB", "red", {"a.b": 1})
    del written["type"]
    assert to_table(Everything(**dict(validated(MODEL, written, {})))).items() >= written.items()


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


def test_flat_joins_what_toml_nested():
    assert flat({"a": {"b": {"c": 1}}, "d.e": 2}) == {"a.b.c": 1, "d.e": 2}
