"""CPU by thread, read from a made-up /proc and from this process's own."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.engines.spark import jvm_threads
from bench.engines.spark.jvm_threads import TICKS_PER_S, JvmThreads, spent_s

PID = 4711
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells CPU by thread")


class MadeUp:
    """A /proc with one process, whose threads a test writes."""

    def __init__(self, folder):
        self.folder = folder
        self.tasks = folder / str(PID) / "task"
        self.tasks.mkdir(parents=True)

    def thread(self, number, name, user=0, system=0, started=100):
        file = self.tasks / str(number) / "stat"
        file.parent.mkdir(exist_ok=True)
        file.write_text(stat_line(number, name, user, system, started))

    def end(self, number):
        (self.tasks / str(number) / "stat").unlink()
        (self.tasks / str(number)).rmdir()


def stat_line(number, name, user, system, started):
    """The fields of proc_pid_stat(5); those before and after the ones in question are all 7."""
    fields = ["S", *["7"] * 10, str(user), str(system), *["7"] * 6, str(started), *["7"] * 30]
    return f"{number} ({name}) {' '.join(fields)}\n"


@pytest.fixture
def proc(tmp_path):
    return MadeUp(tmp_path)


@pytest.fixture
def threads(proc):
    return JvmThreads(PID, proc.folder)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("C1 CompilerThre", "jit"), ("C2 CompilerThre", "jit"), ("Sweeper thread", "jit"),
        ("GC Thread#0", "gc"), ("G1 Main Marker", "gc"), ("G1 Conc#0", "gc"), ("G1 Refine#1", "gc"),
        ("G1 Service", "gc"), ("ZWorker#3", "gc"), ("Shenandoah GC T", "gc"),
        ("VM Thread", None), ("java", None), ("Executor task l", None), ("process reaper", None),
        ("GCP client", None), ("C3PO", None),
    ],
)  # fmt: skip
def test_a_thread_is_told_by_its_name(proc, threads, name, kind):
    proc.thread(5, name, user=3, system=4)
    read = threads.read()
    found = {"jit": read.jit, "gc": read.gc}
    assert {key for key, ticks in found.items() if ticks} == ({kind} - {None})
    assert all(ticks == {(5, 100): 7} for ticks in found.values() if ticks)


def test_what_was_spent_is_summed_over_threads_old_and_new(proc, threads):
    proc.thread(5, "C2 CompilerThre", user=100, system=10)
    proc.thread(6, "C1 CompilerThre", user=40)
    proc.thread(7, "GC Thread#0", user=9)
    before = threads.read()
    proc.thread(5, "C2 CompilerThre", user=150, system=11)
    proc.thread(8, "C2 CompilerThre", user=3, started=200)
    after = threads.read()
    assert spent_s(before.jit, after.jit) == 54 / TICKS_PER_S  # 51 of the old one, 3 of the new
    assert spent_s(before.gc, after.gc) == 0.0


def test_the_share_of_a_thread_that_has_ended_cannot_be_told(proc, threads):
    proc.thread(5, "C1 CompilerThre")
    proc.thread(6, "C2 CompilerThre")
    before = threads.read()
    proc.end(6)
    after = threads.read()
    assert spent_s(before.jit, after.jit) is None


def test_a_number_that_is_used_again_is_another_thread(proc, threads):
    proc.thread(5, "C1 CompilerThre", user=90)
    before = threads.read()
    proc.thread(5, "C1 CompilerThre", user=2, started=300)
    after = threads.read()
    assert spent_s(before.jit, after.jit) is None


def test_a_collector_without_threads_of_its_own_cannot_be_told(proc, threads):
    proc.thread(5, "VM Thread", user=50)
    before, after = threads.read(), threads.read()
    assert spent_s(before.gc, after.gc) is None


def test_a_thread_that_names_itself_later_is_found(proc, threads):
    proc.thread(5, "VM Thread")  # the name of its creator
    threads.read()
    proc.thread(5, "GC Thread#1", user=6)
    assert threads.read().gc == {(5, 100): 6}


def test_other_threads_are_read_twice_and_then_left_alone(proc, threads, monkeypatch):
    proc.thread(5, "Executor task l")
    proc.thread(6, "C1 CompilerThre")
    parsed = []

    def counting(line):
        parsed.append(line.split()[0])
        return parse(line)

    parse = jvm_threads._parsed
    monkeypatch.setattr(jvm_threads, "_parsed", counting)
    for _ in range(5):
        threads.read()
    assert (parsed.count("5"), parsed.count("6")) == (2, 5)


def test_a_system_without_such_files_tells_nothing(tmp_path):
    assert JvmThreads(PID, tmp_path).read() is None


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=15))
def test_a_name_may_contain_anything(name):
    assert jvm_threads._parsed(stat_line(3, name, 20, 30, 40)) == (name, 40, 50)


@LINUX
def test_the_ticks_are_those_that_a_thread_has_spent(monkeypatch):
    """A thread of this process, counted as a compiler's, works for a while."""
    monkeypatch.setattr(jvm_threads, "_JIT", ("worker-under-te",))
    numbers, until = [], threading.Event()

    def work():
        numbers.append(threading.get_native_id())
        Path(f"/proc/self/task/{numbers[0]}/comm").write_text("worker-under-te")
        until.wait()
        end_s = time.thread_time() + 0.3
        while time.thread_time() < end_s:
            pass
        spent.append(time.thread_time())
        ended.wait()

    spent, ended = [], threading.Event()
    worker = threading.Thread(target=work)
    worker.start()
    while not numbers:
        time.sleep(0.001)
    time.sleep(0.01)
    threads = JvmThreads(os.getpid())
    before = threads.read()
    until.set()
    while not spent:
        time.sleep(0.001)
    after = threads.read()
    ended.set()
    worker.join()
    assert len(after.jit) == 1
    assert spent_s(before.jit, after.jit) == pytest.approx(0.3, abs=2.5 / TICKS_PER_S)
