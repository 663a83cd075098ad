"""How the torture test kills, on a stand-in for a suite."""

import random
import subprocess
import sys
from collections import Counter

import pytest

from tools import torture

DEAF = "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (2, 15)]; print(1); time.sleep(60)"
MORTAL = "import time; print(1, flush=True); time.sleep(60)"


class Always(random.Random):
    """Draws a certain signal."""

    def __init__(self, number):
        super().__init__(1)
        self._number = number

    def choice(self, numbers):
        assert self._number in numbers
        return self._number


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """Makes a suite whose command runs this program instead."""
    monkeypatch.setattr(torture, "ENDED_AFTER_S", 1.0)
    started = []

    def make(program):
        process = subprocess.Popen([sys.executable, "-u", "-c", program], stdout=subprocess.PIPE)
        started.append(process)
        process.stdout.readline()
        made = torture.Suite(tmp_path / "suite", tmp_path / "lake.toml")
        made._process = process
        return made

    yield make
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize(
    ("program", "number", "has_ended"),
    [(DEAF, torture.signal.SIGTERM, False), (MORTAL, torture.signal.SIGTERM, True)],
    ids=["deaf", "mortal"],
)
def test_what_survives_its_kill_is_told_and_ended(suite, program, number, has_ended):
    made = suite(program)
    done = torture.kill(made, "command", Always(number))
    assert done == torture.Kill("command", "SIGTERM", has_ended)
    assert made.has_ended(within_s=60)


def test_what_had_gone_before_is_no_kill(suite):
    made = suite("print(1)")
    assert made.has_ended(within_s=60)
    assert torture.kill(made, "command", Always(torture.signal.SIGTERM)) is None


def test_every_victim_is_hit_before_one_is_hit_again():
    hits, chance = Counter(), random.Random(7)
    for _ in range(3 * len(torture.VICTIMS)):
        hits[torture.next_victim(hits, chance)] += 1
    assert set(hits.values()) == {3}
    firsts = {torture.next_victim(Counter(), chance) for _ in range(50)}
    assert firsts == set(torture.VICTIMS)
