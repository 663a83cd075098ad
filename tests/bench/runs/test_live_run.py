"""A real clock on real tables, as a user runs it: the roles work on one table at the same time."""

import signal

import pytest
from at_once import WAIT_S, have_ended, resumed, start, wait_for_a_commit, workers, written

from bench.results.records import CommitRecord, CompactionRecord, QueryRecord
from bench.results.rows import run_figures

pytestmark = [pytest.mark.spark, pytest.mark.processes]

ALL_DELETES = '{ type = "iceberg.rewrite_data_files", options = { "delete-file-threshold" = 1 } }'


def test_a_killed_role_ends_its_run_and_resume_makes_it_anew_with_equal_content(tmp_path):
    folder = written(tmp_path, "iceberg", ALL_DELETES)
    with start(folder) as process:
        wait_for_a_commit(folder)
        _, *roles = workers(process)
        roles[-1].send_signal(signal.SIGKILL)
        out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 1, err
    assert "failed: it ended with exit code -9" in out + err
    assert have_ended(roles)
    resumed(folder)


def test_roles_on_a_delta_table_are_threads_of_one_worker_which_ends_with_its_jvm(tmp_path):
    folder = written(tmp_path, "delta", '{ type = "delta.reorg" }')
    with start(folder) as process:
        wait_for_a_commit(folder)
        (worker,) = workers(process)
        (jvm,) = worker.children()
        worker.send_signal(signal.SIGKILL)
        _, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 1, err
    assert have_ended([worker, jvm])
    run = resumed(folder)
    assert run.manifest.notes["cpu"] == "tasks and threads of a role"
    steps = [*run.of(CommitRecord), *run.of(CompactionRecord), *run.of(QueryRecord)]
    assert all(step.cost.cpu_s > 0 for step in steps if step.status == "ok")
    assert {step.cost.run_delay_s for step in steps} == {None}
    assert run_figures(run)["run_delay_s"] is None
