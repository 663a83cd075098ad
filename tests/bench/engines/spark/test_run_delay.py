import os

import pytest

from bench.engines.spark.run_delay import RunDelay, waited_s


@pytest.fixture
def proc(tmp_path):
    """A /proc of two processes; `write` sets the nanoseconds that a thread has waited."""

    def write(pid, thread, waited_ns):
        folder = tmp_path / str(pid) / "task" / str(thread)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "schedstat").write_text(f"1 {waited_ns} 3\n")

    write(1, 10, 5_000)
    write(2, 20, 7_000)
    return tmp_path, write


def test_the_time_in_queues_is_summed_over_all_threads(proc):
    folder, write = proc
    delay = RunDelay((1, 2), folder)
    before = delay.read()
    assert before == {"10": 5_000, "20": 7_000}
    write(1, 10, 2_000_005_000)
    write(2, 21, 500_000_000)  # a new thread
    assert waited_s(before, delay.read()) == 2.5


def test_threads_that_have_ended_do_not_count(proc):
    folder, write = proc
    before = RunDelay((1, 2), folder).read()
    (folder / "1" / "task" / "10" / "schedstat").unlink()
    write(2, 20, 1_000_007_000)
    assert waited_s(before, RunDelay((1, 2), folder).read()) == 1.0


def test_it_is_unknown_without_the_process_or_without_the_kernels_count(proc):
    folder, _ = proc
    assert RunDelay((3,), folder).read() is None
    assert waited_s(None, {"10": 1}) is None
    assert waited_s({}, {"10": 1}) is None


def test_this_kernel_counts():
    delay = RunDelay((os.getpid(),))
    assert waited_s(delay.read(), delay.read()) >= 0
