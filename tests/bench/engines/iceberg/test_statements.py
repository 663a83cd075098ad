import pytest

from bench.engines.iceberg.statements import scoped
from strategies.plan import Compact


@pytest.mark.parametrize(
    ("partitions", "where"),
    [
        (("city=Oslo/partition_bucket=3",), "(city = 'Oslo' AND partition_bucket = 3)"),
        (("city=A%20B", "city=x%3Dnull"), "(city = 'A B') OR (city = 'x=null')"),
        (("city=null",), "(city IS NULL)"),
        (("city=%6Eull",), "(city = 'null')"),
        (("partition_bucket=null",), "(partition_bucket IS NULL)"),
        (("",), "(true)"),
    ],
)
def test_a_compaction_is_scoped_to_its_partitions(partitions, where):
    assert scoped(Compact(partitions, {})).arguments == {"where": where}


def test_a_compaction_of_all_partitions_has_no_filter():
    assert scoped(Compact(None, {})).arguments == {}
