from pathlib import Path

from result_builder import build_results, manifest

from bench.results.folders import RunResult, load_runs
from bench.results.records import RunRecord
from bench.results.sittings import sittings
from bench.results.tables import RunRecords
from reports.data.group import run_groups
from reports.verdicts.samples import samples

FOLDER = Path("results/append-small")


def run(strategy, repetition, minute, *, suite="first", folder=FOLDER):
    """A run that starts at a minute after nine and lasts five."""
    started, ended = (f"2026-01-05T{9 + m // 60:02}:{m % 60:02}:00Z" for m in (minute, minute + 5))
    made = manifest(strategy, repetition, suite_id=suite, started_utc=started)
    end = RunRecord(tick=1, at_ms=1, written_utc=ended, status="finished")
    return RunResult(folder / f"{strategy}-{repetition}-{minute}", made, RunRecords.listed([end]))


def test_a_suite_that_is_resumed_within_two_hours_goes_on_with_the_sitting():
    runs = [
        run("a", 1, 0), run("a", 2, 120, suite="second"), run("a", 3, 250, suite="third"),
        run("b", 1, 130, folder=Path("results/other")),
    ]  # fmt: skip
    first, resumed, later, elsewhere = (sittings(runs)[one.folder] for one in runs)
    assert first == resumed
    assert len({first, later, elsewhere}) == 3


def test_every_run_with_a_value_counts(tmp_path):
    fate = {("never", 2): "failed", ("every-1min", 3): "timings_invalid"}
    (group,) = run_groups(load_runs(build_results(tmp_path, repetitions=5, ticks=4, fate=fate)))
    counts = {
        (metric, label): len(samples(group, metric)[label].values)
        for metric in ("query_mean_s", "files_end")
        for label in ("never", "every-1min")
    }
    # The counts of a run with invalid timings are used.
    assert list(counts.values()) == [4, 4, 4, 5]
