from dataclasses import replace

import pytest
from delete_tables import EQUALITY, applies, tables
from hypothesis import given
from hypothesis import strategies as st
from resurrected import resurrected

from strategies.iceberg.commands import Command
from strategies.iceberg.files import IcebergDataFile, IcebergDeleteFile, IcebergState, KeyBounds
from strategies.iceberg.preview import preview_action
from strategies.plan import Compact, FileGroup, Native, Rewrite
from strategies.preview import PreviewError

DANGLING = {"remove-dangling-deletes": "true"}
ALL = DANGLING | {"rewrite-all": "true"}


def native(options, **arguments):
    return Native(Command.REWRITE_DATA_FILES, arguments, options)


# id=1 deleted everywhere before the table was partitioned by cat.
A, B = IcebergDataFile("a", 9, 9, "cat=a", 1, 1), IcebergDataFile("b", 9, 9, "cat=b", 1, 1)
GLOBAL = IcebergDeleteFile("everywhere", 3, 3, "", 2, 0, kind=EQUALITY)


def state(*files):
    return IcebergState(
        0, 100,
        data_files=tuple(file for file in files if isinstance(file, IcebergDataFile)),
        delete_files=tuple(file for file in files if isinstance(file, IcebergDeleteFile)),
        spec_id=1,
    )  # fmt: skip


def test_a_delete_without_partition_is_dropped_while_another_partition_needs_it():
    problem = resurrected(native(DANGLING, where="cat = 'a'"), state(A, B, GLOBAL))
    assert problem == (
        "remove-dangling-deletes: dropping delete file everywhere would resurrect rows of a, to which it "
        "still applies; iceberg.remove_dangling_deletes keeps such deletes"
    )
    assert "rows of b" in resurrected(Compact(("cat=a",), ALL), state(A, B, GLOBAL))
    assert "rows of a" in resurrected(
        native(DANGLING), state(A, B, GLOBAL)
    )  # two files are not enough to merge


@pytest.mark.parametrize("options", [{}, {"remove-dangling-deletes": "false"}, {"rewrite-all": "true"}])
def test_a_rewrite_that_drops_no_delete_revives_nothing(options):
    assert resurrected(native(options, where="cat = 'a'"), state(A, B, GLOBAL)) is None


def test_a_rewrite_of_all_files_needs_no_delete_any_more():
    assert resurrected(native(ALL), state(A, B, GLOBAL)) is None
    assert resurrected(Compact(None, ALL), state(A, B, GLOBAL)) is None


def test_commits_of_parts_may_fail_and_leave_files():
    assert "rows of a" in resurrected(native(ALL | {"partial-progress.enabled": "true"}), state(A, B, GLOBAL))


def test_an_older_file_without_partition_keeps_the_delete():
    # A file of 80 bytes is left alone.
    old, as_new = (IcebergDataFile("c", 80, 9, "", number, 0) for number in (1, 2))
    assert resurrected(native(DANGLING), state(A, B, GLOBAL, old)) is None
    assert "rows of a" in resurrected(native(DANGLING), state(A, B, GLOBAL, as_new))
    assert "rows of a" in resurrected(native(DANGLING, where="cat = 'a'"), state(A, B, GLOBAL, old))


def test_a_delete_of_a_table_without_partitions_is_kept_by_the_files_it_applies_to():
    files = [IcebergDataFile("c", 9, 9, "", 1, 0), IcebergDataFile("d", 9, 9, "", 3, 0)]
    assert resurrected(native(DANGLING, where="id = 1"), state(*files, GLOBAL)) is None


def test_a_delete_of_other_keys_is_no_loss():
    apart = replace(A, key_bounds=KeyBounds(5, 9))
    met, missed = (replace(GLOBAL, key_bounds=KeyBounds(1, high)) for high in (5, 4))
    assert resurrected(native(DANGLING), state(apart, missed)) is None
    assert "rows of a" in resurrected(native(DANGLING), state(apart, met))


def test_deletes_of_a_partition_are_kept_by_the_files_they_apply_to():
    own = IcebergDeleteFile("own", 3, 3, "cat=a", 2, 1, kind=EQUALITY)
    assert resurrected(native(DANGLING, where="cat = 'b'"), state(A, B, own)) is None


def test_other_commands_revive_nothing():
    assert resurrected(Native(Command.REWRITE_POSITION_DELETE_FILES), state(A, B, GLOBAL)) is None


@given(tables(), st.data())
def test_an_explicit_rewrite_revives_where_a_file_it_does_not_name_needs_a_delete_it_drops(table, draw):
    def some(keys):
        return draw.draw(st.lists(st.sampled_from(keys), unique=True)) if keys else []

    named, dropped = (some([f.path for f in table.data_files]), some([d.key for d in table.delete_files]))
    half = len(named) // 2
    groups = (FileGroup(tuple(named[:half]), "", tuple(named[half:])),) if named else ()
    problem = resurrected(Rewrite(groups, 100, tuple(dropped)), table)
    lost = [
        (d.key, f.path)
        for d in table.delete_files if d.key in dropped
        for f in table.data_files if f.path not in named and applies(d, f, table)
    ]  # fmt: skip
    assert (problem is None) == (not lost)
    if problem is not None:
        key, path = min(lost)
        assert f"delete file {key} would resurrect rows of {path}," in problem


def dropped_by_iceberg(table, left):
    """RemoveDanglingDeletesSparkAction at 1.11.0 for equality deletes."""
    oldest = {}
    for file in left:
        scope = (file.spec_id, file.partition)
        oldest[scope] = min(oldest.get(scope, file.data_sequence_number), file.data_sequence_number)
    for delete in table.delete_files:
        lowest = oldest.get((delete.spec_id, delete.partition))
        if delete.kind is EQUALITY and (lowest is None or delete.data_sequence_number <= lowest):
            yield delete


REWRITES = [{}, {"rewrite-all": "true"}, {"min-input-files": "2"}, {"min-file-size-bytes": "0"}]


@given(tables(), st.sampled_from(REWRITES))
def test_removing_dangling_deletes_revives_where_iceberg_drops_one_that_applies(table, options):
    action = native(DANGLING | options)
    gone = {file.path for group in preview_action(action, table).groups for file in group.files}
    left = [file for file in table.data_files if file.path not in gone]
    lost = [d for d in dropped_by_iceberg(table, left) if any(applies(d, file, table) for file in left)]
    problem = resurrected(action, table)
    assert (problem is None) == (not lost)
    if lost:
        assert any(f"delete file {delete.path} " in problem for delete in lost)


@given(tables())
def test_where_the_files_are_not_known_every_outcome_counts(table):
    action = native(DANGLING | {"rewrite-all": "true"}, where="id > 1")
    with pytest.raises(PreviewError):
        preview_action(action, table)
    deletes = [d for d in table.delete_files if d.kind is EQUALITY and not d.partition]
    others = [f for f in table.data_files if f.partition]
    assert (resurrected(action, table) is None) == (
        not any(applies(d, f, table) for d in deletes for f in others)
    )
