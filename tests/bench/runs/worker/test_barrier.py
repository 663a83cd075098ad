import threading

import pytest

from bench.runs.worker.live.barrier import Barrier


def test_who_waits_gets_the_texts_once_all_marks_are_set(tmp_path):
    barrier, got = Barrier(tmp_path / "roles"), []
    waiting = threading.Thread(target=lambda: got.append(barrier.wait(["a", "b"])))
    waiting.start()
    barrier.mark("b", "2")
    assert not got
    barrier.mark("a", "1")
    waiting.join(timeout=10)
    assert got == [["1", "2"]]


def test_waiting_ends_with_the_error_of_the_check(tmp_path):
    def check():
        raise ValueError("the writer died")

    with pytest.raises(ValueError, match="the writer died"):
        Barrier(tmp_path).wait(["never"], check)


def test_a_mark_can_be_read_and_cleared(tmp_path):
    barrier = Barrier(tmp_path)
    assert (barrier.has("begun"), barrier.text("begun")) == (False, "")
    barrier.mark("begun", "a compaction")
    assert (barrier.has("begun"), barrier.text("begun")) == (True, "a compaction")
    barrier.clear("begun")
    barrier.clear("begun")  # once more changes nothing
    assert not barrier.has("begun")
