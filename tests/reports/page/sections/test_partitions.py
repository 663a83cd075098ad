from records import compaction, end, observed, query, run, truth

from bench.text import MISSING
from reports.data.group import run_groups
from reports.page.sections.partitions import partition_tables


def of(label, *taken):
    """A run of compactions a minute apart that take these of two partitions, which then have 100 bytes."""
    records = []
    for tick, names in enumerate(taken, 1):
        step = {"tick": tick, "at_ms": 60_000 * tick}
        table = {"data_bytes_by_partition": dict.fromkeys("ab", 40), **step}
        left = {name: 10 for name in "ab" if name not in names}
        records += [
            observed(delete_bytes_by_partition=dict.fromkeys("ab", 10), **table),
            observed(after="compaction", delete_bytes_by_partition=left, **table),
            compaction(partitions=list(names), **step),
            query(**step),
        ]
    return run(*records, truth(), end(), strategy=label)


def tables_of(*runs):
    (group,) = run_groups(runs)
    return partition_tables(group)


def texts(table):
    return [[str(cell.text) for cell in row] for row in table.rows]


def test_who_waits_and_what_readers_pay():
    waiting, read = tables_of(of("never"), of("all", "ab", "ab"), of("some", "ab", "a"))
    assert texts(waiting) == [
        ["never", "0", *[MISSING] * 2, "0 s", MISSING],
        ["all", "2", "2.0", "none", "0 s", "0 B"],
        ["some", "2", "1.5", "none", "at least 58 min", "5 B"],
    ]
    assert texts(read)[1:] == [["all", "1.00x", "1.00x"], ["some", "1.1x", "1.00x"]]


def test_partitions_that_are_never_compacted_are_named():
    waiting, *_ = tables_of(of("all", "ab", "ab"), of("one", "a", "a"))
    assert texts(waiting)[1][3:5] == ["b", "at least 59 min"]


def test_where_partitions_are_too_many_to_name_nothing_is_said():
    unnamed = [compaction(partitions=None), query(), truth(), end()]
    assert tables_of(of("all", "ab", "ab"), of("one", "a", "a"), run(*unnamed, strategy="many")) == ()


def test_where_all_take_the_same_there_is_nothing_to_say():
    assert tables_of(of("all", "ab"), of("also", "ab")) == ()
