from dataclasses import replace

import pytest
from amoro_tables import data, equality, position, settings, table

from strategies.amoro.evaluation import FileClass, amoro_index, evaluate, is_amoros_own
from strategies.iceberg.deletes.ranked import FileSums
from strategies.iceberg.files import DeleteKind, IcebergDeleteFile, KeyBounds

CLEAN, FRAGMENT, POSITIONS = FileClass.CLEAN, FileClass.FRAGMENT, FileClass.POSITIONS
SEGMENT, UNDERSIZED = FileClass.SEGMENT, FileClass.UNDERSIZED


def partitions(*files, full_due=False, **options):
    state = table(*files)
    return evaluate(state.data_files, amoro_index(state), settings(**options), full_due)


def file_class(*files, full_due=False, **options):
    """The class of the one data file among `files`."""
    (part,) = partitions(*files, full_due=full_due, **options)
    (only,) = (kind for kind in FileClass if part.count(kind))
    return only


@pytest.mark.parametrize(
    ("size", "expected"),
    [(0, FRAGMENT), (16, FRAGMENT), (17, UNDERSIZED), (96, UNDERSIZED), (97, CLEAN), (9999, CLEAN)],
)
def test_a_file_is_a_fragment_undersized_or_of_the_target_by_its_size(size, expected):
    # <= fragment size, <= minimum target size; no upper bound, nothing is split.
    assert file_class(data("f", size)) is expected


def test_the_fragment_size_is_rounded_down():
    # 128 / 9 = 14 in whole bytes; 0.7 x 128 = 89.6 is 89.
    assert file_class(data("f", 14), fragment_ratio=9) is FRAGMENT
    assert file_class(data("f", 15), fragment_ratio=9) is UNDERSIZED
    assert file_class(data("f", 89), min_target_size_ratio=0.7) is UNDERSIZED
    assert file_class(data("f", 90), min_target_size_ratio=0.7) is CLEAN


@pytest.mark.parametrize("size", [17, 97])
def test_a_segment_is_rewritten_above_the_share_of_rows_deleted_by_position(size):
    # Sum of rows > 100 x 0.1, strict; the two files of 5 and 6 rows add up.
    file = data("f", size)
    assert file_class(file, position("d", "f", rows=10)) in (UNDERSIZED, POSITIONS)
    assert file_class(file, position("d", "f", rows=11)) is SEGMENT
    assert file_class(file, position("d", "f", rows=5), position("e", "f", rows=6)) is SEGMENT
    assert file_class(file, position("d", "f", rows=1), major__trigger__duplicate_ratio=0) is SEGMENT


def test_equality_deletes_never_rewrite_a_segment():
    # Upsert writers attach them to everything.
    assert file_class(data("f", 17), equality("d", rows=10**6)) is UNDERSIZED
    assert file_class(data("f", 97), equality("d", rows=10**6)) is POSITIONS


def test_equality_deletes_of_other_keys_are_not_those_of_a_file():
    old, new = (
        replace(data(name, 97), key_bounds=KeyBounds(low, low + 9)) for name, low in (("old", 0), ("new", 10))
    )
    delete = replace(equality("d"), key_bounds=KeyBounds(12, 15))
    (part,) = partitions(old, new, delete)
    assert [scanned.file.path for scanned in part.files[POSITIONS]] == ["new"]
    assert [scanned.file.path for scanned in part.files[CLEAN]] == ["old"]
    assert partitions(old, delete)[0].equality == FileSums()


def test_position_deletes_of_a_partition_count_with_all_rows_for_each_of_its_files():
    # 11 rows in the whole partition are more than a tenth of each file.
    (part,) = partitions(data("f", 97), data("g", 97), position("d", rows=11))
    assert part.count(SEGMENT) == 2
    assert part.position == FileSums(1, 3, 11)


@pytest.mark.parametrize(
    ("deletes", "expected"),
    [
        ([], CLEAN),
        ([position("f-delete-1.parquet", "a/f.parquet")], CLEAN),
        ([position("other.parquet", "a/f.parquet")], POSITIONS),
        ([position("f-delete-1", "a/f.parquet"), position("f-delete-2", "a/f.parquet")], POSITIONS),
        ([equality("e")], POSITIONS),
        ([equality("e"), position("f-delete-1", "a/f.parquet")], POSITIONS),
    ],
    ids=["none", "own", "foreign", "two own", "equality", "equality and own"],
)
def test_a_target_file_is_converted_unless_its_one_delete_file_is_amoros(deletes, expected):
    # shouldRewritePos.
    assert file_class(data("a/f.parquet", 97), *deletes) is expected


def test_amoros_position_delete_files_are_known_by_name():
    # isAmoroPosDelete: "<data basename without ext>-delete", folders do not count.
    assert is_amoros_own("s3://b/x/f-1-delete-9.parquet", "s3://b/y/f-1.parquet")
    assert is_amoros_own("f.1-delete", "f.1.parquet")
    assert is_amoros_own("f-delete", "f.orc")
    assert is_amoros_own("f-delete", "f.avro")
    assert not is_amoros_own("f-2-delete-9.parquet", "f-1.parquet")
    assert not is_amoros_own("f-1-9.parquet", "f-1.parquet")
    assert not is_amoros_own("f-1-delete/9.parquet", "f-1.parquet")


def test_only_the_extension_of_a_known_format_is_left_out_of_the_name():
    # TableFileUtil.getFileNameWithoutExt: FileFormat.fromFileName knows no .bin, .PARQUET or .puffin.
    for name in ("f.bin", "f.PARQUET", "f.puffin", "f.1"):
        assert not is_amoros_own("f-delete-1.parquet", name)
        assert is_amoros_own(f"{name}-delete-1.parquet", name)


@pytest.mark.parametrize(
    ("file", "deletes", "all_files", "part"),
    [
        (data("f", 16), [], FRAGMENT, FRAGMENT),
        (data("f", 96), [], SEGMENT, SEGMENT),
        (data("f", 97), [], SEGMENT, CLEAN),
        (data("f", 97), [equality("e")], SEGMENT, SEGMENT),
        (data("f", 97), [position("f-delete-1", "f")], SEGMENT, SEGMENT),
        (data("f", 97), [position("d", "f", rows=11)], SEGMENT, SEGMENT),
    ],
    ids=["fragment", "undersized", "clean", "equality", "amoro's own", "many deleted"],
)
def test_a_full_run_rewrites_all_files_or_those_not_clean(file, deletes, all_files, part):
    # fullDue -> rewriteAll or f.deletes or f in {FRAGMENT, UNDERSIZED}.
    assert file_class(file, *deletes, full_due=True) is all_files
    assert file_class(file, *deletes, full_due=True, full__rewrite_all_files=False) is part


def test_a_delete_file_counts_once_and_not_at_all_for_clean_files_alone():
    # countDeletes, de-duplicated by path; a TARGET file left alone is not counted anywhere.
    (part,) = partitions(
        [data("f", 10), data("g", 50), data("h", 97)],
        equality("e", rows=7),
        position("h-delete-1", "h", at=9),
    )
    assert part.equality == FileSums(1, 3, 7)
    assert part.position == FileSums(1, 3, 5)  # h has the equality delete too: it is converted
    (clean,) = partitions(data("g", 50), data("h", 97), position("h-delete-1", "h"))
    assert clean.position == FileSums()
    assert clean.counted == FileSums(1, 50, 100)


def test_deletes_apply_by_sequence_number():
    # Equality deletes with a higher sequence number, position deletes of the same or a higher one.
    assert file_class(data("f", 97, at=2), equality("e", at=2)) is CLEAN
    assert file_class(data("f", 97, at=2), equality("e", at=3)) is POSITIONS
    assert file_class(data("f", 97, at=2), position("d", "f", at=2)) is POSITIONS


def test_partitions_come_in_the_order_of_a_hash_map_and_specs_of_one_path_are_one():
    # Grouped by partitionToPath of the file's own spec. The order is that of java.util.HashMap.
    part = partitions(data("f", 1, "p=a"), data("g", 1, "p=b"), data("h", 1, "p=b", spec=1))
    assert [(p.name, p.count(FRAGMENT)) for p in part] == [("p=b", 2), ("p=a", 1)]


def test_null_and_the_text_null_are_one_partition():
    # Iceberg's PartitionSpec.partitionToPath writes both as p=null; the first scanned stands for both.
    (part,) = partitions(data("g", 1, "p=null"), data("f", 1, "p=%6Eull"))
    assert (part.name, part.count(FRAGMENT)) == ("p=null", 2)
    assert (part.texts, part.scanned_first) == ({"p=null", "p=%6Eull"}, "p=%6Eull")


def test_the_map_grows_at_the_call_after_the_thirteenth_partition():
    # HashMap.computeIfAbsent leaves 13 keys in 16 buckets, unless a further file is scanned. By Java, up to
    # there the two orders are one.
    items = [data(f"{n:02}", 1, f"p={n}") for n in range(13)]
    order = ["0", "2", "1", "4", "3", "6", "5", "8", "7"]
    assert [p.name[2:] for p in partitions(*items)] == [*order, "12", "9", "11", "10"]
    assert [p.name[2:] for p in partitions(*items, data("99", 1, "p=0"))] == [*order, "9", "12", "11", "10"]


def test_position_deletes_are_not_small_files_and_equality_deletes_are():
    # Upstream #2807.
    (part,) = partitions(data("f", 10), equality("e"), position("d", "f"), position("d2", "f"))
    assert part.small_count == 2


def test_deletion_vectors_are_out_of_amoros_domain():
    # Its reader throws for Puffin files.
    vector = IcebergDeleteFile("d", 1, 1, referenced_data_file="f", kind=DeleteKind.DELETION_VECTOR)
    with pytest.raises(ValueError, match="deletion vector"):
        amoro_index(table(vector))
