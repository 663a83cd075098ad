from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.iceberg.commands import Command
from strategies.iceberg.procedures import (
    ExpireSnapshots,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
    option_texts,
)
from strategies.plan import Native, Reason
from strategies.state import MIB, TableState

STATE = TableState(observed_at_ms=600_000, target_file_size_bytes=128 * MIB)


def test_rewrite_data_files_runs_the_command_with_its_defaults():
    plan = RewriteDataFiles().decide(STATE)
    assert plan.actions == (Native(Command.REWRITE_DATA_FILES, {"strategy": "binpack"}, {}),)
    assert plan.reason is Reason.SCHEDULED


def test_rewrite_data_files_passes_what_is_given():
    order = {"strategy": "sort", "sort_order": "zorder(user_id, order_id)"}
    arguments = {**order, "where": "user_city = 'Oslo'", "branch": "audit"}
    options = {"target-file-size-bytes": "64MiB", "rewrite-all": True, "var-length-contribution": 16}
    (action,) = RewriteDataFiles(**arguments, options=options).decide(STATE).actions
    assert action.arguments == arguments
    texts = {"target-file-size-bytes": "67108864", "rewrite-all": "true", "var-length-contribution": "16"}
    assert action.options == texts


@pytest.mark.parametrize(
    ("sort_order", "columns"),
    [
        ("OrderId DESC NULLS LAST, id", ("OrderId", "id")),
        ("address.city", ("address.city",)),
        ("ZORDER(a, Address . City)", ("a", "Address.City")),
        ("bucket(16, user_id) ASC, truncate(4, b)", ("user_id", "b")),
        ("`été`, `a``b`.`c d` desc", ("été", "a`b.c d")),
        ("2nd, `desc`, first_name", ("2nd", "desc", "first_name")),
        ("", ()),
    ],
)
def test_the_columns_of_a_sort_order_are_whole_names_in_its_own_spelling(sort_order, columns):
    assert RewriteDataFiles("sort", sort_order).traits().columns == columns


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"strategy": "zorder"}, "strategy"),
        ({"sort_order": "user_id"}, "sort_order"),
        ({"strategy": "sort", "sort_order": "user_id", "options": {"max-output-size": 2}}, "max-output-size"),
        ({"options": {"min-input-file": 2}}, "did you mean 'min-input-files'"),
        ({"options": {"target-file-size-bytes": "64 elephants"}}, "elephants"),
    ],
)
def test_rewrite_data_files_refuses_what_iceberg_would(options, text):
    with pytest.raises(ValueError, match=text):
        RewriteDataFiles(**options)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max-file-group-input-files", 9),  # 1.11.0's action rejects it although its planner has it
        ("compression-factor", 2), ("min-input-files", "many"), ("min-input-files", 2.5),
        ("min-input-files", -2), ("max-concurrent-file-group-rewrites", "1_0"),
        ("partial-progress.max-commits", 2**31), ("delete-ratio-threshold", "1,5"),
        ("rewrite-job-order", "bytes desc"), ("target-file-size-bytes", " 64"),
    ],
)  # fmt: skip
def test_rewrite_data_files_refuses_option_values_that_iceberg_would(name, value):
    with pytest.raises(ValueError, match=name):
        RewriteDataFiles(options={name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min-input-files", "+5"),
        ("target-file-size-bytes", "+67108864"),
        ("delete-ratio-threshold", " 0.3f "),
        ("rewrite-job-order", "bytes_desc"),
        ("rewrite-all", "TRUE"),
    ],
)
def test_texts_that_java_reads_are_passed_on_as_they_are(name, value):
    (action,) = RewriteDataFiles(options={name: value}).decide(STATE).actions
    assert action.options == {name: value}


def test_shuffle_options_are_for_sort_and_zorder_ones_for_zorder():
    RewriteDataFiles(strategy="sort", options={"compression-factor": 1.5, "shuffle-partitions-per-file": 2})
    RewriteDataFiles(strategy="sort", sort_order=" ZORDER(a)", options={"max-output-size": 2})


SIZES = ("min-file-size-bytes", "target-file-size-bytes", "max-file-size-bytes")


@pytest.mark.parametrize(("low", "high"), [(0, 1), (1, 2), (0, 2)])
@pytest.mark.parametrize("planner", [RewriteDataFiles, RewritePositionDeleteFiles])
def test_sizes_that_cannot_hold_together_are_refused(planner, low, high):
    for low_bytes, high_bytes in [("8MiB", "8MiB"), ("9MiB", "8MiB")]:
        with pytest.raises(ValueError, match=f"{SIZES[low]}=.* must be below {SIZES[high]}="):
            planner(options={SIZES[low]: low_bytes, SIZES[high]: high_bytes})


@given(st.lists(st.integers(1, 2**40), min_size=3, max_size=3))
def test_sizes_are_accepted_exactly_when_they_rise(sizes):
    for order in permutations(range(3)):
        options = {SIZES[i]: sizes[i] for i in order}
        if sizes[0] < sizes[1] < sizes[2]:
            RewriteDataFiles(options=options)
        else:
            with pytest.raises(ValueError, match="must be below"):
                RewriteDataFiles(options=options)


def test_rewrite_position_delete_files_has_no_delete_options():
    assert RewritePositionDeleteFiles(where="order_id > 5").decide(STATE).actions == (
        Native(Command.REWRITE_POSITION_DELETE_FILES, {"where": "order_id > 5"}, {}),
    )
    with pytest.raises(ValueError, match="delete-file-threshold"):
        RewritePositionDeleteFiles(options={"delete-file-threshold": 10})


def test_rewrite_manifests_does_not_cache():
    (action,) = RewriteManifests().decide(STATE).actions
    assert (action.command, action.arguments) == (Command.REWRITE_MANIFESTS, {"use_caching": "false"})


def test_expire_snapshots_keeps_what_is_younger_than_its_retention():
    plan = ExpireSnapshots(retain_ms=200_000, retain_last=3).decide(STATE)
    (action,) = plan.actions
    assert action.arguments == {"older_than_at_ms": "400000", "retain_last": "3"}
    assert plan.reason is Reason.RETENTION


def test_expire_snapshots_does_nothing_before_its_retention_has_passed():
    assert ExpireSnapshots().decide(STATE) is None
    assert ExpireSnapshots(retain_ms=600_000).decide(STATE) is None


@pytest.mark.parametrize(
    ("name", "value"), [("retain_ms", -1), ("retain_ms", float("nan")), ("retain_last", 0)]
)
def test_expire_snapshots_refuses_impossible_options(name, value):
    with pytest.raises(ValueError, match=name):
        ExpireSnapshots(**{name: value})


def test_option_texts_are_what_iceberg_parses():
    options = {"rewrite-all": False, "a-bytes": "1KiB", "b-bytes": 7, "c": "1KiB", "d": 0.5}
    expected = {"rewrite-all": "false", "a-bytes": "1024", "b-bytes": "7", "c": "1KiB", "d": "0.5"}
    assert option_texts(options) == expected
