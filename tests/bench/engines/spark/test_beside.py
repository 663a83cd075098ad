"""A thread beside the steps, with a meter whose clocks are counted by hand."""

import threading
import time
from contextlib import contextmanager
from itertools import count

import pytest

from bench.engines.spark.beside import Beside
from bench.engines.spark.meter import Clocks
from bench.results.values import Cost


class CountingMeter:
    """Each reading is a second and half a CPU second after the last."""

    def __init__(self):
        self._numbers = count(1)
        self.beside_count = 0

    @contextmanager
    def beside(self):
        self.beside_count += 1
        yield
        self.beside_count -= 1

    def reading(self):
        number = next(self._numbers)
        return Clocks(number, number / 2, None, None, 0)

    def between(self, first, last):
        return Cost(last.at_s - first.at_s, last.cpu_s - first.cpu_s, jit_cpu_s=0.1, gc_cpu_s=0.1)


def nothing():
    pass


def test_a_plan_is_executed_meanwhile_and_its_cpu_is_shared():
    meter, held, began = CountingMeter(), threading.Event(), threading.Event()
    beside = Beside(meter, nothing)

    def execute():
        began.set()
        held.wait(10)
        return "done"

    beside.start(1, execute)
    assert began.wait(10)
    assert (meter.beside_count, 1 in beside, 2 in beside) == (1, True, False)
    held.set()
    assert beside.wait(1)[:2] == ("done", Cost(1, 0.5, is_shared=True))
    assert (meter.beside_count, 1 in beside) == (0, False)


def test_the_thread_is_prepared_once():
    begun, executed = [], []
    beside = Beside(CountingMeter(), lambda: begun.append(threading.get_ident()))
    for number in (1, 2):
        beside.start(number, lambda: executed.append(threading.get_ident()))
        beside.wait(number)
    assert begun == executed[:1] != [threading.get_ident()]
    assert len(executed) == 2


def test_plans_wait_for_each_other():
    beside, order = Beside(CountingMeter(), nothing), []
    for number in (1, 2, 3):
        beside.start(number, lambda number=number: order.append(number))
    beside.wait(3)
    assert order == [1, 2, 3]


def test_the_time_that_a_plan_waits_for_others_is_no_cost_of_it():
    meter = CountingMeter()
    meter.reading = lambda: Clocks(time.perf_counter(), 0.0, None, None, 0)
    beside = Beside(meter, nothing)
    beside.start(1, lambda: time.sleep(0.2))
    beside.start(2, nothing)
    beside.wait(1)
    *_, queued_s = beside.wait(2)
    assert queued_s > 0.1


def test_what_a_plan_raises_is_raised_when_it_is_waited_for():
    beside = Beside(CountingMeter(), nothing)
    beside.start(1, lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        beside.wait(1)


def test_stopping_waits_for_the_plan_that_runs():
    beside, order = Beside(CountingMeter(), nothing), []
    beside.start(1, lambda: order.append(1))
    beside.stop()
    assert (order in ([1], []), 1 in beside) == (True, False)
