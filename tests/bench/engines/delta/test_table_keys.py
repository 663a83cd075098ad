import pytest
from pydantic import ValidationError

from bench.engines.contract import TableSpec
from bench.engines.delta.table_keys import DeltaKeys, clustering_columns_of

TABLE = {"format": "delta", "target_file_size": "8MiB"}


def test_a_table_may_be_clustered():
    keys = DeltaKeys.model_validate({**TABLE, "cluster_by": ("user_id", "order_id")})
    assert clustering_columns_of(TableSpec(1, keys=keys)) == ("user_id", "order_id")
    assert clustering_columns_of(TableSpec(1, keys=DeltaKeys.model_validate(TABLE))) == ()
    assert clustering_columns_of(TableSpec(1)) == ()


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ({"cluster_by": ("user_id",), "partitioning": "day"}, "exclusive"),
        ({"cluster_by": ("a", "b", "a")}, "repeated"),
        ({"cluster_by": tuple("abcde")}, "out-of-range"),
    ],
)
def test_what_delta_cannot_cluster_by_is_refused(keys, code):
    with pytest.raises(ValidationError) as caught:
        DeltaKeys.model_validate({**TABLE, **keys})
    (error,) = caught.value.errors()
    assert (error["type"], error["loc"]) == (code, ("cluster_by",))
