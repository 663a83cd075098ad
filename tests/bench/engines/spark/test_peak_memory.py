"""Peaks of memory, of this process and of a JVM."""

import os
import sys

import pytest

from bench.engines.spark.peak_memory import PeakHeap, PeakRss
from strategies.state import MIB

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can reset a peak")
BLOCK_BYTES = 200 * MIB


@LINUX
def test_a_peak_remains_until_the_next_reset():
    peak = PeakRss([os.getpid()])
    peak.reset()
    before_bytes = peak.read_bytes()
    block = bytearray(os.urandom(MIB) * (BLOCK_BYTES // MIB))
    del block  # memory of this size goes back to the system at once
    grown_bytes = peak.read_bytes()
    peak.reset()
    after_bytes = peak.read_bytes()
    assert grown_bytes - before_bytes > 0.9 * BLOCK_BYTES
    assert after_bytes < grown_bytes - 0.9 * BLOCK_BYTES


@LINUX
def test_the_peaks_of_several_processes_are_added_up():
    alone, twice = PeakRss([os.getpid()]), PeakRss([os.getpid(), os.getpid()])
    alone.reset()
    twice.reset()
    assert twice.read_bytes() == pytest.approx(2 * alone.read_bytes(), rel=0.1)


def test_a_system_that_cannot_reset_a_peak_tells_none(tmp_path):
    folder = tmp_path / "4711"
    folder.mkdir()
    (folder / "status").write_text("Name:\tjava\nVmHWM:\t  123456 kB\n")
    (folder / "clear_refs").mkdir()  # cannot be written
    peak = PeakRss([4711], tmp_path)
    peak.reset()
    assert peak.read_bytes() is None


def test_a_peak_is_in_bytes(tmp_path):
    folder = tmp_path / "4711"
    folder.mkdir()
    (folder / "status").write_text("Name:\tjava\nVmPeak:\t  999999 kB\nVmHWM:\t  123456 kB\n")
    peak = PeakRss([4711], tmp_path)
    assert peak.read_bytes() is None  # never reset
    peak.reset()
    assert (folder / "clear_refs").read_text() == "5"
    assert peak.read_bytes() == 123456 * 1024
    (folder / "status").write_text("Name:\tjava\nState:\tZ (zombie)\n")
    assert peak.read_bytes() is None  # it has released its memory


@pytest.mark.spark
def test_the_heap_has_a_peak_until_the_next_reset(spark):
    system, heap = spark._jvm.java.lang.System, PeakHeap(spark)
    system.gc()
    heap.reset()
    before_bytes = heap.read_bytes()
    block = spark.sparkContext._gateway.new_array(spark._jvm.long, 10 * MIB)  # 80 MiB
    assert heap.read_bytes() - before_bytes > 70 * MIB
    del block
    spark.sparkContext._gateway.jvm.java.lang.System.gc()
