import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.iceberg.rewrite_options import JobOrder, RewriteOptions, rewrite_options
from strategies.state import GIB, MIB

DEFAULTS = rewrite_options({}, 512 * MIB)


def test_defaults_are_those_of_iceberg():
    # SizeBasedFileRewritePlanner and BinPackRewriteFilePlanner at 1.11.0; 1.8 x 512 MiB in whole bytes.
    sizes = DEFAULTS.min_bytes, DEFAULTS.target_bytes, DEFAULTS.max_bytes, DEFAULTS.max_file_group_bytes
    assert sizes == (384 * MIB, 512 * MIB, 966367641, 100 * GIB)
    assert (DEFAULTS.min_input_files, DEFAULTS.rewrite_all) == (5, False)
    assert (DEFAULTS.delete_file_threshold, DEFAULTS.delete_ratio_threshold) == (None, 0.3)
    assert (DEFAULTS.max_files, DEFAULTS.job_order) == (None, JobOrder.NONE)


def test_a_writer_rolls_half_way_between_target_and_maximum():
    assert DEFAULTS.max_output_file_bytes == 751619276  # 716.8 MiB: the class's own comment


# Measured with the real class at 1.11.0 and its defaults: MiB in, files, split size in MiB.
@pytest.mark.parametrize(
    ("input_mib", "files", "split_mib"),
    [
        (511, 1, 512), (512, 1, 512.0049), (513, 1, 513.0049), (563, 1, 563.0049), (564, 2, 512),
        (700, 2, 512), (896, 2, 512), (1024, 2, 512.0049), (1126, 2, 563.0049), (1127, 3, 512),
    ],
)  # fmt: skip
def test_expected_files_and_split_size_equal_the_class(input_mib, files, split_mib):
    assert DEFAULTS.expected_output_files(input_mib * MIB) == files
    assert round(DEFAULTS.split_bytes(input_mib * MIB) / MIB, 4) == split_mib


def test_expected_files_of_a_sort_are_of_the_compressed_size():
    options = rewrite_options({"compression-factor": "0.5"}, 512 * MIB, is_shuffled=True)
    assert options.expected_output_files(2048 * MIB) == 2  # as for 1024 MiB


def test_texts_are_read_as_iceberg_reads_them():
    options = rewrite_options(
        {
            "target-file-size-bytes": "100",
            "rewrite-all": "TRUE",
            "rewrite-job-order": "Bytes-Desc",
            "delete-ratio-threshold": "1",
            "max-files-to-rewrite": "7",
            "partial-progress.enabled": "true",
        },
        512 * MIB,
    )
    assert (options.min_bytes, options.target_bytes, options.max_bytes) == (75, 100, 180)
    assert (options.rewrite_all, options.job_order) == (True, JobOrder.BYTES_DESC)
    assert (options.delete_ratio_threshold, options.max_files) == (1.0, 7)


@pytest.mark.parametrize(
    ("name", "text", "field", "expected"),
    [
        ("min-input-files", "+5", "min_input_files", 5),
        ("min-input-files", "\uff11\u0660", "min_input_files", 10),
        ("max-file-group-size-bytes", str(2**63 - 1), "max_file_group_bytes", 2**63 - 1),
        ("delete-ratio-threshold", "0.3f", "delete_ratio_threshold", 0.3),
        ("delete-ratio-threshold", " 3e-1D\t", "delete_ratio_threshold", 0.3),
        ("delete-ratio-threshold", "0x1p-2", "delete_ratio_threshold", 0.25),
        ("compression-factor", "Infinity", "compression_factor", float("inf")),
        ("rewrite-all", "yes", "rewrite_all", False),
        ("rewrite-job-order", "bytes_desc", "job_order", JobOrder.BYTES_DESC),
        ("rewrite-job-order", "FILES-asc", "job_order", JobOrder.FILES_ASC),
    ],
)
def test_texts_are_read_as_java_reads_them(name, text, field, expected):
    assert getattr(rewrite_options({name: text}, 512 * MIB), field) == expected


def test_each_condition_of_a_rewrite_has_its_own_threshold():
    # Target 100, at most 180 bytes, five files; SizeBasedFileRewritePlanner and BinPackRewriteFilePlanner.
    options = rewrite_options({"delete-file-threshold": "2"}, 100)
    assert [options.is_group_due(n, 1) for n in (4, 5)] == [False, True]
    assert not rewrite_options({"min-input-files": "1"}, 100).is_group_due(1, 1)
    assert [options.is_group_due(2, size) for size in (100, 101)] == [False, True]
    assert [options.is_group_due(1, size) for size in (101, 180, 181)] == [False, False, True]
    assert [options.too_many_deletes(n) for n in (1, 2)] == [False, True]
    assert not rewrite_options({}, 100).too_many_deletes(10**6)
    assert [options.too_high_delete_ratio(n, 10) for n in (2, 3)] == [False, True]
    assert not options.too_high_delete_ratio(0, 0)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        # BinPackRewriteFilePlanner.init and SizeBasedFileRewritePlanner.sizeThresholds refuse the same.
        ("target-file-size-bytes", "0"), ("min-file-size-bytes", "-1"), ("min-file-size-bytes", "100"),
        ("max-file-size-bytes", "100"), ("min-input-files", "0"), ("max-file-group-size-bytes", "0"),
        ("max-file-group-input-files", "0"), ("delete-file-threshold", "-1"),
        ("delete-ratio-threshold", "0"), ("delete-ratio-threshold", "1.1"), ("max-files-to-rewrite", "0"),
        ("compression-factor", "0"), ("shuffle-partitions-per-file", "0"), ("rewrite-job-order", "largest"),
        # As Java parses them: Integer.parseInt, Long.parseLong, Double.parseDouble, RewriteJobOrder.fromName.
        ("min-input-files", "1_0"), ("min-input-files", " 2"), ("min-input-files", "2147483648"),
        ("max-file-group-size-bytes", str(2**63)), ("delete-ratio-threshold", "nan"),
        ("delete-ratio-threshold", "NaN"), ("rewrite-job-order", "bytes--desc"),
        ("rewrite-job-order", " none"),
    ],
)  # fmt: skip
def test_options_out_of_range_are_refused(name, text):
    with pytest.raises(ValueError, match=name):
        rewrite_options({name: text}, 100)


@given(st.integers(1, 10**12), st.integers(1, 10**9), st.floats(0, 0.999), st.floats(1.001, 5))
def test_expected_files_are_at_most_one_more_than_whole_targets(input_bytes, target, low, high):
    options = RewriteOptions(target, int(target * low), max(int(target * high), target + 1))
    files = options.expected_output_files(input_bytes)
    assert max(input_bytes // target, 1) <= files <= -(-input_bytes // target)
    assert target <= options.split_bytes(input_bytes) <= max(options.max_output_file_bytes, target)
