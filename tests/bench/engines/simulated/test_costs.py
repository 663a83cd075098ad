from dataclasses import fields, replace

import pytest
from coefficients import OPERATIONS, coefficients, shipped_with
from hypothesis import given
from hypothesis import strategies as st
from refused import refused

from bench.engines.iceberg.model.coefficients import IcebergCoefficients
from bench.engines.simulated.costs import Work
from bench.results.values import Cost
from strategies.iceberg.files import IcebergDataFile
from strategies.preview import Preview, RewriteGroup, ScanTaskGroup
from strategies.state import MIB

ROUND = coefficients()
WORK = Work(files_count=4, delete_files_count=3, read_bytes=2 * MIB, written_bytes=MIB // 2, tasks_count=4)


def priced(work, cores):
    return ROUND.price(ROUND.rewrite, work, cores)


def test_serial_seconds_are_wall_and_tasks_share_the_cores():
    # serial 1 + 4 x 0.25 = 2; tasks 4 x 0.5 + 3 x 2 + 2 x 4 + 0.5 x 8 = 20.
    assert priced(WORK, 1) == Cost(2 + 20, 1.5 * 2 + 20, 20)
    assert priced(WORK, 2) == Cost(2 + 10, 1.5 * 2 + 20, 20)


def test_cores_without_a_task_are_of_no_use():
    walls_s = [priced(replace(WORK, tasks_count=count), 8).wall_s for count in (0, 1, 4)]
    assert walls_s == [22, 22, 2 + 20 / 4]


def test_doing_nothing_costs_the_fixed_part():
    assert priced(Work(), 2) == Cost(1.0, 1.5, 0.0)


COUNTS, BYTES = st.integers(0, 10**6), st.integers(0, 2**50)
works = st.builds(
    Work, COUNTS, COUNTS, read_bytes=BYTES, written_bytes=BYTES, tasks_count=st.integers(0, 1000)
)
KINDS = [field.name for field in fields(Work) if field.name not in ("tasks_count", "rows")]


@given(work=works, cores=st.integers(1, 64), kind=st.sampled_from(KINDS), more=st.integers(1, 2**40))
def test_more_work_of_any_kind_never_costs_less(work, cores, kind, more):
    less = priced(work, cores)
    grown = priced(replace(work, **{kind: getattr(work, kind) + more}), cores)
    for name in ("wall_s", "cpu_s", "executor_cpu_s"):
        assert getattr(grown, name) >= getattr(less, name)


@given(work=works, cores=st.integers(1, 64))
def test_cores_lower_wall_time_down_to_the_serial_part_and_no_cpu(work, cores):
    few, more = priced(work, cores), priced(work, cores + 1)
    assert 1 + 0.25 * work.files_count <= more.wall_s <= few.wall_s
    assert (more.cpu_s, more.executor_cpu_s) == (few.cpu_s, few.executor_cpu_s)


def group(files, tasks, delete_files_count=0, delete_bytes=0):
    made = tuple(IcebergDataFile(f"f{n}", MIB, 10) for n in range(files))
    scans = (ScanTaskGroup(MIB, 10),) * tasks
    return RewriteGroup("", made, delete_files_count, delete_bytes, MIB, MIB, tasks, scans)


def test_a_rewrite_is_priced_over_all_its_groups():
    preview = Preview((group(3, 1), group(5, 3, delete_files_count=2, delete_bytes=MIB)), 2)
    # 8 files, 2 deletes, 8 + 1 MiB read, 6 MiB written, 4 tasks on 4 cores.
    task_s = 8 * 0.5 + 2 * 2 + 9 * 4 + 6 * 8
    assert ROUND.rewrite_cost(preview, 4, 6 * MIB) == Cost(3 + task_s / 4, 1.5 * 3 + task_s, task_s)


def test_a_rewrite_writes_what_it_reads_unless_told_otherwise():
    preview = Preview((group(3, 2),), 1)
    assert ROUND.rewrite_cost(preview, 2) == ROUND.rewrite_cost(preview, 2, 3 * MIB)
    assert ROUND.rewrite_cost(preview, 2, 0).cpu_s < ROUND.rewrite_cost(preview, 2).cpu_s


def test_a_conversion_is_paid_for_with_the_rewrite_it_is_part_of():
    conversion = Work(2, 3, read_bytes=MIB, delete_bytes=MIB // 2, written_bytes=MIB, tasks_count=1)
    # With 3 files and 3 MiB read and written: 5 files, 3 deletes, 4 MiB read and written, 2 tasks.
    task_s = 5 * 0.5 + 3 * 2 + 4 * 4 + 4 * 8
    both = ROUND.rewrite_cost(Preview((group(3, 1),), 1), 4, 3 * MIB, conversion)
    assert both == Cost(1 + 5 / 4 + task_s / 2, 1.5 * 2.25 + task_s, task_s)
    alone = ROUND.rewrite_cost(Preview((), 0), 4, 0, conversion)
    task_s = 2 * 0.5 + 3 * 2 + 4 + 8
    assert alone == Cost(1 + 2 / 4 + task_s, 1.5 * 1.5 + task_s, task_s)


def test_bytes_of_deletes_cost_more_than_being_read():
    operation = coefficients(rewrite={"task_s_per_mib_read": 1.0, "task_s_per_mib_delete_read": 5.0}).rewrite
    work = Work(read_bytes=4 * MIB, delete_bytes=MIB)
    assert ROUND.price(operation, work, 1).executor_cpu_s == 4 + 5
    preview = Preview((group(1, 1, delete_files_count=1, delete_bytes=MIB),), 1)
    dear = coefficients(rewrite={"task_s_per_mib_delete_read": 5.0})
    assert dear.rewrite_cost(preview, 1).executor_cpu_s == 5


def test_finding_nothing_to_rewrite_costs_a_look():
    costs = coefficients(noop_compaction={"serial_s": 7.0})
    assert costs.rewrite_cost(Preview((), 0), 2) == Cost(7.0, 10.5, 0.0)


def test_the_shipped_coefficients_say_what_they_are_worth():
    shipped = IcebergCoefficients.read()
    # Not calibrated until it is fitted to measured runs, which `origin` then names.
    assert (shipped.format, shipped.calibrated, len(shipped.origin) > 40) == ("iceberg", False, True)
    for name in OPERATIONS:
        assert shipped.price(getattr(shipped, name), Work(), 1).wall_s > 0


def test_a_file_of_ones_own_takes_the_place_of_the_shipped(tmp_path):
    file = shipped_with(tmp_path, "cpu_per_serial_s = ", "cpu_per_serial_s = 1")
    assert IcebergCoefficients.read(file).cpu_per_serial_s > IcebergCoefficients.read().cpu_per_serial_s


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("[rewrite]", "[rewrite", ""),
        ("[rewrite]", "[rewrite]\nserial_m = 1.0", "rewrite.serial_m"),
        ("[rewrite]", "[merge]", "rewrite"),
        ("[noop_compaction]", "[noop_compaction]\ntask_s_per_file = nan", "noop_compaction.task_s_per_file"),
        ("[noop_compaction]", "[noop_compaction]\ntask_s_per_file = inf", "noop_compaction.task_s_per_file"),
        ("[noop_compaction]", '[noop_compaction]\ntask_s_per_file = "1"', "noop_compaction.task_s_per_file"),
        ("cpu_per_serial_s = ", "cpu_per_serial_s = 0 #", "cpu_per_serial_s"),
    ],
)
def test_an_unsound_file_is_refused_by_file_and_key(tmp_path, old, new, key):
    file = shipped_with(tmp_path, old, new)
    with refused("invalid", file) as caught:
        IcebergCoefficients.read(file)
    assert str(caught.value).startswith(f"{file}: {key}")


def test_a_file_of_another_format_is_refused(tmp_path):
    file = shipped_with(tmp_path, 'format = "iceberg"', 'format = "delta"')
    with refused("mismatch", file):
        IcebergCoefficients.read(file)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path):
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe")
    for code, name in (("unreadable", "none.toml"), ("invalid", "mine.toml")):
        with refused(code, tmp_path / name):
            IcebergCoefficients.read(tmp_path / name)
