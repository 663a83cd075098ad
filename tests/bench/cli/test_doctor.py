from pathlib import Path

import pytest

from bench.cli.commands import doctor
from bench.cli.output import OUT
from bench.errors import MissingRuntimeError


@pytest.fixture
def machine(monkeypatch):
    """A machine that lacks nothing; returns a function that sets its load."""
    for check in ("_java", "_jars", "_memory", "_disk"):
        monkeypatch.setattr(doctor, check, lambda: "found at " + "/deep" * 11)
    monkeypatch.setattr("os.cpu_count", lambda: 2)

    def load(load):
        monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))

    load(0.0)
    return load


@pytest.fixture
def checked(compactbench):
    """What `compactbench doctor` prints without measuring the noise."""
    return lambda code=0: compactbench("doctor", "--seconds", "0", code=code)


@pytest.mark.parametrize(("load", "status"), [(0.0, "ok"), (1.0, "ok"), (1.01, "warn"), (14.15, "warn")])
def test_load_above_half_the_cores_is_a_warning(machine, checked, load, status):
    machine(load)
    assert f"load {status}: {load:.2f} " in checked().words


@pytest.mark.parametrize(
    ("modules", "status"), [({"jdk.net"}, "ok"), ({"java.base"}, "warn"), (None, "warn")]
)
def test_a_java_without_a_module_is_a_warning_for_the_catalogs_that_need_it(
    machine, monkeypatch, checked, modules, status
):
    monkeypatch.setattr(doctor.runtime, "java_home", lambda: None)
    monkeypatch.setattr(doctor.runtime, "java_modules", lambda home: modules)
    words = checked().words
    assert f"catalogs {status}: " in words
    assert ("full JDK 17" in words) is (modules == {"java.base"})


def test_paths_stay_whole_and_all_other_lines_fit(machine, checked, monkeypatch):
    monkeypatch.setattr(OUT, "width", 60)
    machine(9.0)
    lines = checked().out.splitlines()
    assert all(len(line) <= 60 for line in lines if "/deep" not in line)
    assert sum("/deep" * 11 in line for line in lines) == 4


def test_what_is_missing_exits_3_with_its_remedy(machine, checked, monkeypatch):
    def missing():
        raise MissingRuntimeError("no Java: install it", code="test")

    monkeypatch.setattr(doctor, "_java", missing)
    printed = checked(code=3)
    assert "no Java: install it" in printed.out
    assert printed.codes == ["not-ready"]


def test_a_java_home_that_is_not_used_is_named(monkeypatch):
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    monkeypatch.setattr(doctor.runtime, "java_home", lambda: Path("/bundled"))
    assert doctor._java().endswith("at /bundled, since JAVA_HOME /nowhere contains no working Java")


@pytest.mark.parametrize(
    ("walls", "verdict"),
    [([1.0] * 10, "ok: quiet"), ([1.0, 1.2] * 9, "ok: usable with"), ([1.0, 2.0] * 9, "warn: noisy")],
)
def test_the_noise_is_judged(machine, compactbench, monkeypatch, walls, verdict):
    monkeypatch.setattr(doctor, "_query_walls_s", lambda seconds: walls)
    assert f"noise {verdict}" in compactbench("doctor", "--seconds", "1").words


def test_it_says_on_stderr_what_it_is_doing(machine, compactbench, monkeypatch):
    monkeypatch.setattr(doctor, "_query_walls_s", lambda seconds: [1.0] * 10)
    said = compactbench("doctor", "--seconds", "90").err.splitlines()
    assert said[:2] == ["checking Python", "checking Java"]
    assert said[-1] == "starting Spark, then repeating one query for 1 min 30 s"


@pytest.mark.parametrize("seconds", ["inf", "1e999", "nan", "-1"])
def test_the_noise_is_measured_for_a_while_only(machine, compactbench, seconds):
    assert "--seconds" in compactbench("doctor", f"--seconds={seconds}", code=2).err
