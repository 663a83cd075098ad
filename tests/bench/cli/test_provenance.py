"""Runs that were made again, and runs that are not there any more: every command says so."""

import shutil

import pytest
from result_builder import build_group, build_results

from bench.results.folders import load_runs
from bench.results.records import REPLACED
from reports.data.group import run_groups
from reports.page.sections.cautions import cautions
from reports.page.sections.set_up import set_up

BOTH = {"never": None, "every-2min": 2}
LATER = {"suite_id": "later", "started_utc": "2026-01-06T09:00:00Z"}
GATE = ("--fail-if", "files_end>1x")

pytestmark = pytest.mark.usefixtures("wide")


@pytest.fixture
def results(tmp_path):
    """Three repetitions; the first run of `every-2min` was replaced, by a run at the next position."""
    build_results(tmp_path, BOTH, 3, 6)
    again = tmp_path / "append-small" / "run-iceberg-006"
    build_results(tmp_path / "more", {"every-2min": 2}, 1, 6, position=6, run_id="run-006")
    shutil.move(tmp_path / "more" / "append-small" / "run-iceberg-000", again)
    shutil.rmtree(tmp_path / "more")
    (tmp_path / "append-small" / "run-iceberg-001" / REPLACED).write_text("other processes used 1.3 cores\n")
    return tmp_path


@pytest.fixture
def thinned(results):
    for position in (2, 4):
        shutil.rmtree(results / "append-small" / f"run-iceberg-00{position}")
    return results


def test_show_tells_replaced_runs(compactbench, results):
    printed = compactbench("show", results)
    assert "every-2min: 1 replaced (other processes used 1.3 cores)" in printed.err
    row = compactbench("show", results, "--format", "json").json["rows"][1]
    assert (row["runs"], row["failed"], row["replaced"]) == (3, 0, ["other processes used 1.3 cores"])


def test_show_tells_missing_positions(compactbench, thinned):
    told = f"{thinned / 'append-small'}: the runs at positions 2 and 4 are not in the results"
    assert told in " ".join(compactbench("show", thinned).err.split())
    assert compactbench("show", thinned, "--format", "json").json["absent"] == [told]


def test_compare_tells_both(compactbench, thinned):
    printed = compactbench("compare", thinned).words
    assert "every-2min 3 (1 replaced (other processes used 1.3 cores))" in printed
    assert "the runs at positions 2 and 4 are not in the results" in printed


def test_reports_tell_both(thinned):
    (group,) = run_groups(load_runs(thinned))
    said = [str(caution.text) for caution in cautions(group)]
    absent = "2 runs of this suite are not in the results (positions 2 and 4). If runs were left out"
    assert any(text.startswith(absent) for text in said)
    table = {str(title.text): str(value.text) for title, value in set_up(group).rows}
    assert table["Replaced runs"] == (
        "1 run marked as replaced, whose figures are not used: every-2min (repetition 1): other processes "
        "used 1.3 cores"
    )


def test_a_run_that_was_not_made_again_fails_the_gate_and_is_a_caution(compactbench, tmp_path):
    old = build_results(tmp_path / "old", BOTH, 3, 6)
    new = build_results(tmp_path / "new", BOTH, 3, 6, **LATER)
    compactbench("compare", old, new, *GATE)
    (new / "append-small" / "run-iceberg-001" / REPLACED).write_text("too slow")
    printed = compactbench("compare", old, new, *GATE, code=1)
    assert "failed: every-2min: 1 run marked as replaced, and not made again" in printed.words
    (group,) = run_groups(load_runs(new))
    grave = [str(caution.text) for caution in cautions(group) if caution.is_grave]
    assert grave == [
        "every-2min (repetition 1) is marked as replaced (too slow) and was not made again. Its figures are "
        "not used."
    ]


def test_a_selection_of_strategies_has_no_gaps_of_its_own(tmp_path):
    build_group(tmp_path, BOTH, 3, 6)
    of_never = [run for run in load_runs(tmp_path) if run.manifest.strategy == "never"]
    assert cautions(run_groups(of_never)[0]) == ()
