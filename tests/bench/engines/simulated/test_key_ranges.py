import pytest

from bench.engines.simulated.key_ranges import may_meet, span_of_ranges, wanted_keys


@pytest.mark.parametrize(
    ("sql", "keys"),
    [
        ("SELECT * FROM orders WHERE order_id = 5", (5, 5)),
        ("SELECT * FROM orders WHERE order_id between 5 and 9", (5, 9)),
        ("SELECT * FROM orders WHERE order_id = 5 OR order_id = 9", None),
        ("SELECT count(*) FROM orders", None),
    ],
)
def test_one_condition_on_the_key_tells_which_are_wanted(sql, keys):
    assert wanted_keys(sql) == keys


def test_a_file_may_hold_a_wanted_key_unless_its_range_rules_it_out():
    assert [may_meet((5, 9), keys) for keys in ((1, 4), (1, 5), (6, 7), (9, 12), (10, 12), None)] == [
        False, True, True, True, False, True,
    ]  # fmt: skip


def test_the_span_of_ranges_is_known_where_all_of_them_are():
    assert span_of_ranges([(5, 9), (1, 6)]) == (1, 9)
    assert span_of_ranges([(5, 9), None]) is None
    assert span_of_ranges([]) is None
