import pytest

from strategies.names import near_name


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("bounded_io", "BoundedIO"),
        ("unbounded", "UnBounded"),
        ("NUM_COMMITS", "hudi.num_commits"),
        ("hudi.num_comits", "hudi.num_commits"),
        ("nothing of the kind", None),
    ],
)
def test_case_marks_and_a_missing_prefix_do_not_hide_what_was_meant(word, near):
    assert near_name(word, ["UnBounded", "BoundedIO", "hudi.num_commits", "every"]) == near
