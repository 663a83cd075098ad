import pytest
from pydantic import ValidationError

from bench.engines.contract import TableSpec
from bench.engines.delta.table_keys import (
    REAL_CAPABILITIES,
    SIMULATED_CAPABILITIES,
    DeltaKeys,
    clustering_columns_of,
)
from bench.errors import first_error

TABLE = {"format": "delta", "target_file_size": "8MiB"}


def test_a_table_may_be_clustered():
    keys = DeltaKeys.model_validate({**TABLE, "cluster_by": ("user_id", "order_id")})
    assert clustering_columns_of(TableSpec(1, keys=keys)) == ("user_id", "order_id")
    assert clustering_columns_of(TableSpec(1, keys=DeltaKeys.model_validate(TABLE))) == ()
    assert clustering_columns_of(TableSpec(1)) == ()


def test_a_clustered_table_has_no_partitions():
    with pytest.raises(ValidationError) as raised:
        DeltaKeys.model_validate({**TABLE, "cluster_by": ("user_id",), "partitioning": "day"})
    assert 'cluster_by and partitioning = "day" exclude each other' in first_error(raised.value)


@pytest.mark.parametrize("column", ["", "a b", "1st", "a;b"])
def test_columns_are_identifiers(column):
    with pytest.raises(ValidationError):
        DeltaKeys.model_validate({**TABLE, "cluster_by": (column,)})


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        (("a", "b", "a"), "names a more than once: leave the others out"),
        (tuple("abcde"), "names 5 columns, and Delta clusters by 4 at most"),
    ],
)
def test_columns_are_few_and_each_is_named_once(columns, problem):
    with pytest.raises(ValidationError) as raised:
        DeltaKeys.model_validate({**TABLE, "cluster_by": columns})
    assert first_error(raised.value) == f"cluster_by: {problem}"


def test_a_simulation_evaluates_no_predicate():
    assert {"row_filter"} == REAL_CAPABILITIES - SIMULATED_CAPABILITIES
    assert "delayed_commit" not in REAL_CAPABILITIES
