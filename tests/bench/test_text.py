import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import text

UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}


@pytest.mark.parametrize(
    ("size_bytes", "expected"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.50 KiB"), (128 * 2**20, "128 MiB"),
     (2**20 - 1, "1.00 MiB"), (-2048, "-2 KiB"), (0.5, "0.50 B")],
)  # fmt: skip
def test_human_bytes_uses_binary_units(size_bytes, expected):
    assert text.human_bytes(size_bytes) == expected


@given(st.integers(1, 2**58))
def test_human_bytes_is_within_half_a_percent(size_bytes):
    number, unit = text.human_bytes(size_bytes).split()
    assert float(number) * UNITS[unit] == pytest.approx(size_bytes, rel=0.0051)


@pytest.mark.parametrize(
    ("duration_s", "expected"),
    [(0, "0 s"), (85e-6, "85 µs"), (0.85, "850 ms"), (4.2, "4.2 s"), (59.99, "1 min"),
     (200, "3 min 20 s"), (3599.7, "1 h"), (7500, "2 h 5 min"), (47.5 * 3600, "47 h 30 min"),
     (76 * 3600, "3 d 4 h"), (-3, "-3 s")],
)  # fmt: skip
def test_human_duration_names_two_units_at_most(duration_s, expected):
    assert text.human_duration(duration_s) == expected


@given(st.floats(1e-6, 1e8))
def test_human_duration_never_shows_sixty_of_a_unit(duration_s):
    shown = text.human_duration(duration_s)
    assert not {"60 s", "60 min", "1000 ms", "1,000 ms"} & {shown, " ".join(shown.split()[-2:])}


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (6.1, "6.1x"),
        (0.42, "0.42x"),
        (120, "120x"),
        (1.04, "1.04x"),
        (9.96, "10x"),
        (0, "0x"),
        (math.inf, "infx"),
        (0.01, "0.010x"),
        (0.0068, "1/147"),
        (6.8e-4, "1/1,471"),
    ],
)
def test_human_ratio_keeps_two_digits(ratio, expected):
    assert text.human_ratio(ratio) == expected


@pytest.mark.parametrize(("largest", "expected"), [(0, (1, "B")), (1023, (1, "B")), (2**21, (2**20, "MiB"))])
def test_byte_unit_suits_the_largest_value(largest, expected):
    assert text.byte_unit(largest) == expected


@pytest.mark.parametrize(
    ("count", "expected"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs"), (1440, "1,440 runs")]
)
def test_a_count_has_its_noun_in_the_singular_or_plural(count, expected):
    assert text.counted(count, "run") == expected


def test_an_irregular_plural_is_given():
    assert [text.counted(count, "query", "queries") for count in (1, 2)] == ["1 query", "2 queries"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["iceberg"], "iceberg"),
        (["iceberg", "delta", "iceberg"], "iceberg and delta"),
        (["iceberg", "delta", "hudi"], "iceberg, delta and hudi"),
    ],
)
def test_names_are_listed_once(names, expected):
    assert text.named_once(names) == expected
