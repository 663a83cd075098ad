"""Other processes' share of the machine, with made-up figures of the kernel."""

from collections import namedtuple
from types import SimpleNamespace

import pytest

from bench.engines.master import parse_master
from bench.runs.worker import neighbours
from bench.runs.worker.neighbours import Neighbours

Machine = namedtuple("Machine", "user nice system idle iowait irq softirq steal guest guest_nice")
Process = namedtuple("Process", "user system children_user children_system")


@pytest.fixture
def now(monkeypatch):
    """What the kernel says, and the time; a test changes them."""
    own = SimpleNamespace(cpu_times=lambda: Process(0, 0, 0, 0), children=lambda recursive: [])
    state = SimpleNamespace(s=0.0, machine=Machine(*[0.0] * 10), own=own)
    monkeypatch.setattr(neighbours.psutil, "cpu_times", lambda: state.machine)
    monkeypatch.setattr(neighbours.psutil, "Process", lambda: state.own)
    monkeypatch.setattr(neighbours.time, "perf_counter", lambda: state.s)
    return state


def test_what_neither_idles_nor_is_ours_is_the_neighbours(now):
    measured = Neighbours(parse_master("local[2]"))
    jvm = SimpleNamespace(cpu_times=lambda: Process(4.0, 1.0, 0.5, 0.5))
    now.own = SimpleNamespace(
        cpu_times=lambda: Process(1.0, 1.0, 0.0, 0.0), children=lambda recursive: [jvm] if recursive else []
    )
    # 10 s on 2 cores: 20 = 9 user + 1 nice + 2 system + 4 idle + 2 waiting + 0.5 + 0.5 interrupts + 1 stolen.
    now.machine = Machine(9.0, 1.0, 2.0, 4.0, 2.0, 0.5, 0.5, 1.0, 3.0, 0.5)  # guests are in user and nice
    now.s = 10.0
    assert measured.cores() == pytest.approx((14.0 - 8.0) / 10)


def test_figures_read_one_after_the_other_make_a_small_negative_share(now):
    measured = Neighbours(parse_master("local[2]"))
    now.s = 1.0
    now.own = SimpleNamespace(cpu_times=lambda: Process(0.02, 0, 0, 0), children=lambda recursive: [])
    assert measured.cores() == pytest.approx(-0.02)


@pytest.mark.parametrize(
    ("master", "cores"), [("local-cluster[2,1,1024]", 0.9), ("spark://here:7077", None), ("yarn", None)]
)
def test_what_may_be_executors_is_not_told_apart(now, master, cores):
    measured = Neighbours(parse_master(master))
    now.s, now.machine = 10.0, Machine(9.0, *[0.0] * 9)
    assert measured.cores() == cores
