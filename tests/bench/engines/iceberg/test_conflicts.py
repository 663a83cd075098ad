"""Each row of the table in docs/real-clock.md, as rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.engines.iceberg.conflicts import Effect, Kind, conflict_between

OLD = frozenset({"f0"})  # a data file from before both commits
OTHER = frozenset({"f1"})
APPEND, EQUALITY = Effect(Kind.APPEND), Effect(Kind.EQUALITY_DELETES)
MERGE = Effect(Kind.MERGE_ON_READ, marked=OLD)
MERGE_OF_OTHERS = Effect(Kind.MERGE_ON_READ, marked=OTHER)
COPY = Effect(Kind.COPY_ON_WRITE, removed=OLD)
REWRITE, REWRITE_OF_OTHERS = (Effect(Kind.REWRITE, removed=paths) for paths in (OLD, OTHER))
CONVERSION, CONVERSION_OF_OTHERS = (Effect(Kind.REWRITE, marked=paths) for paths in (OLD, OTHER))
ALL = [
    APPEND, EQUALITY, MERGE, MERGE_OF_OTHERS, COPY, REWRITE, REWRITE_OF_OTHERS, CONVERSION,
    CONVERSION_OF_OTHERS,
]  # fmt: skip


@pytest.mark.parametrize(
    ("meanwhile", "problem"),
    [
        (APPEND, None),
        (EQUALITY, None),
        (MERGE, "found new position delete for replaced data file: f0"),
        (MERGE_OF_OTHERS, None),
        (COPY, "missing required files to delete: f0"),
        (REWRITE, "missing required files to delete: f0"),
        (REWRITE_OF_OTHERS, None),
        (CONVERSION, "found new position delete for replaced data file: f0"),
        (CONVERSION_OF_OTHERS, None),
    ],
)
def test_a_rewrite_loses_its_files_or_new_position_deletes_of_them(meanwhile, problem):
    assert conflict_between(REWRITE, [meanwhile]) == problem


RENEWAL = Effect(Kind.RENEWAL, removed=OLD)  # use-starting-sequence-number = false
HITTING, HITTING_OTHERS = (Effect(Kind.EQUALITY_DELETES, hit=paths) for paths in (OLD, OTHER))


@pytest.mark.parametrize(
    ("meanwhile", "problem"),
    [
        (APPEND, None),
        (HITTING, "found new delete for replaced data file: f0"),
        (HITTING_OTHERS, None),
        (MERGE, "found new delete for replaced data file: f0"),
        (MERGE_OF_OTHERS, None),
        (COPY, "missing required files to delete: f0"),
    ],
)
def test_a_rewrite_with_a_new_sequence_number_loses_to_equality_deletes_too(meanwhile, problem):
    assert conflict_between(RENEWAL, [meanwhile]) == problem
    assert conflict_between(REWRITE, [HITTING]) is None


FOUND = "found conflicting files that can contain matching records"
DELETES = "found new conflicting delete files that can apply to matching records"


@pytest.mark.parametrize(
    ("meanwhile", "problem"),
    [
        (APPEND, FOUND),
        (EQUALITY, FOUND),
        (MERGE, FOUND),
        (MERGE_OF_OTHERS, FOUND),
        (COPY, FOUND),
        (REWRITE, "missing data files: f0"),
        (REWRITE_OF_OTHERS, None),
        (CONVERSION, DELETES),
        (CONVERSION_OF_OTHERS, DELETES),
    ],
)
def test_a_merge_loses_against_rows_that_it_has_not_seen_and_rewrites_of_its_files(meanwhile, problem):
    assert conflict_between(MERGE, [meanwhile]) == problem


@pytest.mark.parametrize(
    ("meanwhile", "problem"),
    [
        (APPEND, FOUND),
        (EQUALITY, FOUND),
        (MERGE, FOUND),
        (COPY, FOUND),
        (REWRITE, "missing required files to delete: f0"),
        (REWRITE_OF_OTHERS, None),
        (CONVERSION, "found new position delete for replaced data file: f0"),
        (CONVERSION_OF_OTHERS, None),
    ],
)
def test_so_does_one_that_copies_on_write(meanwhile, problem):
    assert conflict_between(COPY, [meanwhile]) == problem


@pytest.mark.parametrize("own", [APPEND, EQUALITY])
@given(meanwhile=st.lists(st.sampled_from(ALL)))
def test_what_deletes_no_row_by_position_never_loses(own, meanwhile):
    assert conflict_between(own, meanwhile) is None


@given(own=st.sampled_from(ALL), meanwhile=st.lists(st.sampled_from(ALL), max_size=4))
def test_a_commit_loses_if_it_loses_against_any_of_those_meanwhile(own, meanwhile):
    problems = [conflict_between(own, [other]) for other in meanwhile]
    assert conflict_between(own, meanwhile) == next(filter(None, problems), None)
