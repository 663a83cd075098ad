import fcntl
import json
import resource
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import commit, end, observed, query, truth
from refused import refused
from result_builder import manifest, write_run
from scenario_builder import SOUND, load, write

from bench.replay.recorder import LineRecorder
from bench.results.folders import load_run
from bench.results.records import CommitRecord
from bench.results.tail import Tail
from bench.runs.suite import results_folder, run_files
from bench.runs.suite.cases import Case, plan_runs, shuffled
from bench.runs.suite.results_folder import LOCK, WORK, earlier_runs, locked
from bench.scenario.load import load_scenario

VARIANTS = """
[[variants]]
label = "v3"
set = { table = { format_version = 3 } }
[[variants]]
label = "small"
set = { table = { target_file_size = "1MiB" } }
"""
THREE = SOUND + '[[strategies]]\nlabel = "third one"\n'


@pytest.fixture
def scenario(tmp_path):
    """The sound scenario with strategies never, every-2min and `third one`."""
    return load_scenario(write(tmp_path, THREE))


def planned(sources, only=(), repetitions=None, done=()):
    return [(run.spec.label, run.repetition) for run in plan_runs(sources, only, repetitions, done)]


def stored(out, of, label, repetition, *records, **changes):
    """A run of the scenario `of` in the results folder, as it is defined now unless `changes` differ."""
    spec = next(spec for spec in of.strategies if spec.label == label)
    fields = {
        "scenario": of.name, "scenario_hash": of.hash, "strategy_hash": spec.hash,
        "run_id": f"{label}-{repetition}", **changes,
    }  # fmt: skip
    folder = out / of.name / f"{label}-{repetition}-{len(list(out.rglob('manifest.json')))}"
    made = manifest(label, repetition).model_copy(update=fields)
    return load_run(write_run(folder, made, [commit(), observed(), *records]))


def test_repetitions_interleave_the_strategies(scenario):
    runs = planned([scenario], repetitions=4)
    assert [repetition for _, repetition in runs] == [1] * 3 + [2] * 3 + [3] * 3 + [4] * 3
    orders = [tuple(label for label, of in runs if of == repetition) for repetition in (1, 2, 3, 4)]
    assert {frozenset(order) for order in orders} == {frozenset({"never", "every-2min", "third one"})}
    assert len(set(orders)) > 2  # not one order, nor its rotations: those keep who follows whom


def test_the_order_is_drawn_from_the_seed(scenario):
    other = replace(scenario, seed=8)
    assert planned([scenario], repetitions=4) == planned([scenario], repetitions=4)
    assert planned([scenario], repetitions=4) != planned([other], repetitions=4)


LABELS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=8), min_size=1, unique=True)


def order_of(labels, seed, repetition):
    cases = [Case(None, SimpleNamespace(label=label), label, "base") for label in labels]
    return [case.strategy for case in shuffled(cases, seed, repetition)]


@given(labels=LABELS, seed=st.integers(0, 2**63), repetition=st.integers(1, 10_000))
def test_each_repetition_is_a_permutation_that_depends_on_nothing_else(labels, seed, repetition):
    order = order_of(labels, seed, repetition)
    assert sorted(order) == sorted(labels)
    assert order_of(labels[::-1], seed, repetition) == order


@given(labels=LABELS, seed=st.integers(0, 2**63), repetition=st.integers(1, 10_000), data=st.data())
def test_what_is_left_out_does_not_change_the_order_of_the_rest(labels, seed, repetition, data):
    chosen = data.draw(st.sets(st.sampled_from(labels)))
    rest = order_of([label for label in labels if label in chosen], seed, repetition)
    assert rest == [label for label in order_of(labels, seed, repetition) if label in chosen]


def test_every_order_of_three_comes_up_about_equally_often():
    labels = ("never", "every-2min", "third one")
    orders = Counter(tuple(order_of(labels, 20260101, repetition)) for repetition in range(1, 6001))
    assert len(orders) == 6
    assert all(850 < count < 1150 for count in orders.values())  # 1000, and five deviations on each side


def test_resume_continues_in_the_order_it_began_with(scenario, tmp_path):
    whole = planned([scenario], repetitions=3)
    for done in range(len(whole) + 1):
        made = [stored(tmp_path / str(done), scenario, *place, end()) for place in whole[:done]]
        assert planned([scenario], repetitions=3, done=made) == whole[done:]


def test_repetitions_are_the_scenarios_unless_given(tmp_path):
    scenario = load(tmp_path, repetitions=2)
    assert len(planned([scenario])) == 4
    assert len(planned([scenario], repetitions=1)) == 2


def test_positions_count_the_runs_before(scenario):
    assert [run.position for run in plan_runs([scenario], (), 2, ())] == [0, 1, 2, 3, 4, 5]


def test_scenarios_come_one_after_the_other(scenario, tmp_path):
    other = replace(load(tmp_path), file=Path("other.toml"))
    runs = plan_runs([scenario, other], (), 1, ())
    assert [run.scenario.name for run in runs] == ["demo"] * 3 + ["other"] * 2
    (only,) = plan_runs([scenario, other], ["third one"], 1, ())
    assert only.scenario.name == "demo"


def test_only_narrows_to_its_labels_and_still_interleaves(scenario):
    two = ["third one", "never"]
    narrowed = [(label, n) for label, n in planned([scenario], repetitions=3) if label in two]
    assert planned([scenario], two, 3) == narrowed
    assert len(narrowed) == 6


@pytest.fixture
def varied(tmp_path):
    """The sound scenario, with strategies never and every-2min, in two variants."""
    return load_scenario(write(tmp_path, SOUND + VARIANTS, "varied.toml"))


def test_a_repetition_has_every_strategy_in_every_variant_once(varied):
    runs = plan_runs([varied], (), 2, ())
    labels = ["never", "never @ v3", "never @ small", "every-2min", "every-2min @ v3", "every-2min @ small"]
    for repetition in (1, 2):
        indexed = sorted(
            (run for run in runs if run.repetition == repetition), key=lambda run: run.case.index
        )
        assert [run.spec.label for run in indexed] == labels  # a strategy is followed by its variants
        assert [run.case.strategy for run in indexed] == ["never"] * 3 + ["every-2min"] * 3
        assert [run.scenario.table.version for run in indexed] == [2, 3, 2] * 2
    assert len({run.folder_name for run in runs}) == 12


@pytest.mark.parametrize(
    ("only", "only_variants", "chosen"),
    [
        ((), ("v3",), {"never @ v3", "every-2min @ v3"}),
        ((), ("base", "small"), {"never", "every-2min", "never @ small", "every-2min @ small"}),
        (("never",), (), {"never", "never @ v3", "never @ small"}),
        (("never @ v3",), (), {"never @ v3"}),
        (("never",), ("base", "v3"), {"never", "never @ v3"}),
    ],
)
def test_only_chooses_strategies_and_variants(varied, only, only_variants, chosen):
    runs = plan_runs([varied], only, 1, (), only_variants=only_variants)
    assert {run.spec.label for run in runs} == chosen


def test_a_variant_has_only_the_strategies_that_it_lists(tmp_path):
    text = SOUND + VARIANTS.replace("[[variants]]", '[[variants]]\nonly = ["every-2min"]', 1)
    scenario = load_scenario(write(tmp_path, text))
    runs = sorted(plan_runs([scenario], (), 1, ()), key=lambda run: run.case.index)
    labels = ["never", "never @ small", "every-2min", "every-2min @ v3", "every-2min @ small"]
    assert [run.spec.label for run in runs] == labels
    with refused("unknown-name", "--only strategy=never @ v3"):
        plan_runs([scenario], ["never @ v3"], 1, ())


def test_an_unknown_variant_names_the_known_ones(varied, scenario):
    with refused("unknown-name", "--only variant=v4") as caught:
        plan_runs([varied], (), 1, (), only_variants=["v4"])
    assert "base, v3, small" in str(caught.value)
    with refused("unknown-name", "--only variant=v3"):
        plan_runs([scenario], (), 1, (), only_variants=["v3"])


def test_resume_knows_the_runs_of_a_variant(varied, tmp_path):
    within = varied.in_variant("v3")
    earlier = {**within.variant.to_json(), "versions": None}  # as manifests had it before
    done = stored(tmp_path, within, "never @ v3", 1, end(), variant=earlier)
    assert ("never @ v3", 1) not in planned([varied], (), 1, [done])
    assert ("never", 1) in planned([varied], (), 1, [done])
    assert [run.folder for run in earlier_runs([varied], tmp_path, resume=True)] == [done.folder]


def test_earlier_runs_of_a_variant_that_now_sets_something_else_are_refused(varied, tmp_path):
    within = varied.in_variant("v3")
    before = {"label": "v3", "set": {"table.format_version": 2}}
    stored(tmp_path, within, "never @ v3", 1, end(), variant=before)
    with refused("mixed-runs"):
        earlier_runs([varied], tmp_path, resume=True)


def test_an_unknown_label_names_the_known_ones(scenario):
    with refused("unknown-name", "--only strategy=nver") as caught:
        planned([scenario], ["nver"])
    assert "never, every-2min, third one" in str(caught.value)


def test_a_folder_name_holds_what_a_file_name_can_hold(scenario):
    names = {run.folder_name for run in plan_runs([scenario], (), 1, ())}
    assert names == {"iceberg-real-never-r1", "iceberg-real-every-2min-r1", "iceberg-real-third_one-r1"}


def test_resume_leaves_out_what_is_finished_and_makes_the_rest(scenario, tmp_path):
    done = [
        stored(tmp_path, scenario, "never", 1, truth(), end()),
        stored(tmp_path, scenario, "every-2min", 1, end("failed")),
        stored(tmp_path, scenario, "third one", 1, commit()),  # cut off
        stored(tmp_path, scenario, "never", 2, truth("differs"), end()),
        stored(tmp_path, scenario, "every-2min", 2, end()),  # finished, unchecked
    ]
    runs = plan_runs([scenario], (), 2, done)
    assert {(run.spec.label, run.repetition) for run in runs} == {
        ("every-2min", 1), ("third one", 1), ("third one", 2), ("never", 2),
    }  # fmt: skip
    assert [run.position for run in runs] == [5, 6, 7, 8]


def test_resume_redoes_no_failure_that_was_made_up_for(scenario, tmp_path):
    done = [
        stored(tmp_path, scenario, "never", 1, end("failed")),
        stored(tmp_path, scenario, "never", 1, truth(), end()),
    ]
    assert ("never", 1) not in planned([scenario], (), 1, done)


def test_a_replaced_run_is_made_again(scenario, tmp_path):
    done = stored(tmp_path, scenario, "never", 1, truth(), end())
    assert ("never", 1) not in planned([scenario], (), 1, [done])
    assert ("never", 1) in planned([scenario], (), 1, [replace(done, replaced="a backup ran")])


def test_positions_are_counted_for_each_scenario(scenario, tmp_path):
    other = replace(scenario, file=scenario.file.with_stem("other"))
    done = [stored(tmp_path, other, "never", 1, truth(), end())]
    runs = plan_runs([scenario, other], (), 1, done)
    assert [(run.scenario.name, run.position) for run in runs] == [
        ("demo", 0), ("demo", 1), ("demo", 2), ("other", 1), ("other", 2),
    ]  # fmt: skip


def test_runs_of_another_scenario_finish_nothing(scenario, tmp_path):
    done = [stored(tmp_path, scenario, "never", 1, end(), scenario="other")]
    assert ("never", 1) in planned([scenario], (), 1, done)


def test_earlier_runs_need_resume(scenario, tmp_path):
    assert earlier_runs([scenario], tmp_path, resume=False) == ()
    run = stored(tmp_path, scenario, "never", 1, end())
    with refused("has-runs", tmp_path / "demo"):
        earlier_runs([scenario], tmp_path, resume=False)
    assert [earlier.folder for earlier in earlier_runs([scenario], tmp_path, resume=True)] == [run.folder]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"scenario_hash": "0000"}, "scenario"),
        ({"strategy_hash": "0000"}, "strategy 'never'"),
        ({"scenario_hash": "0000", "strategy_hash": "0000"}, "scenario"),
    ],
)
def test_earlier_runs_of_another_definition_are_refused(scenario, tmp_path, changes, what):
    run = stored(tmp_path, scenario, "never", 1, end(), **changes)
    with refused("mixed-runs", run.folder) as caught:
        earlier_runs([scenario], tmp_path, resume=True)
    assert f"definition of the {what}," in str(caught.value)


def test_earlier_runs_of_a_strategy_that_is_gone_are_no_conflict(scenario, tmp_path):
    stored(tmp_path, scenario, "never", 1, end(), strategy="removed", strategy_hash="0000")
    assert len(earlier_runs([scenario], tmp_path, resume=True)) == 1


def test_a_folder_without_a_manifest_is_no_earlier_run(scenario, tmp_path):
    (tmp_path / "demo" / "20260105T090000Z-iceberg-real-never-r1").mkdir(parents=True)
    assert earlier_runs([scenario], tmp_path, resume=False) == ()


def test_a_second_holder_is_refused(tmp_path):
    with locked(tmp_path / "new" / "out"), refused("locked"), locked(tmp_path / "new" / "out"):
        pass
    with locked(tmp_path / "new" / "out"):  # it is free again
        pass


def test_the_lock_is_held_against_other_processes(tmp_path):
    with locked(tmp_path), (tmp_path / LOCK).open("w") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_locking_sweeps_what_a_dead_suite_left_unless_sweep_is_off(tmp_path):
    left = tmp_path / WORK / "run" / "warehouse"
    left.mkdir(parents=True)
    with refused("not-ours", tmp_path / WORK), locked(tmp_path):
        pass
    assert left.exists()
    (tmp_path / LOCK).touch()
    with locked(tmp_path, sweep=False):
        assert left.exists()
    with locked(tmp_path):
        assert not left.exists()


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with refused("not-writable", tmp_path), locked(tmp_path):
        pass


def test_a_file_in_place_of_a_folder_is_named(scenario, tmp_path):
    for name in ("out", WORK, scenario.name):
        (tmp_path / name).write_text("")
    with refused("not-writable", tmp_path / "out"), locked(tmp_path / "out"):
        pass
    with refused("not-a-folder", tmp_path / WORK), locked(tmp_path):
        pass
    with refused("not-a-folder", tmp_path / scenario.name):
        earlier_runs([scenario], tmp_path, resume=False)
    with refused("not-writable", tmp_path / "out" / "run"):
        results_folder.fresh(tmp_path / "out" / "run")


def test_a_worker_that_died_without_a_word_gets_its_closing_record(tmp_path):
    folder = write_run(tmp_path / "run", manifest(), [commit()])
    (folder / "log.txt").write_text("starting\nOutOfMemoryError: Java heap space\n\n")
    result = run_files.closed(folder, -9)
    assert (result.end.status, result.finished) == ("failed", False)
    killed = "the worker ended with exit code -9 (killed, perhaps for lack of memory): "
    assert result.end.error == f"{killed}OutOfMemoryError: Java heap space"
    assert run_files.closed(folder, -9).end.error == result.end.error  # it is not closed twice
    assert len(load_run(folder).records) == 2


def test_a_worker_that_died_inside_a_line_gets_its_closing_record(tmp_path):
    folder = write_run(tmp_path / "run", manifest(), [commit(), commit(tick=2)])
    events = folder / "events.jsonl"
    events.write_bytes(events.read_bytes()[:-9])
    (folder / "log.txt").write_text("No space left on device")
    result = run_files.closed(folder, 1)
    assert [record.tick for record in load_run(folder).of(CommitRecord)] == [1]
    assert result.end.status == "failed"


def test_a_damaged_last_line_is_named_when_a_run_is_closed(tmp_path):
    folder = write_run(tmp_path / "run", manifest(), [commit()])
    with (folder / "events.jsonl").open("a") as file:
        file.write("garbage\n")
    with refused("damaged-record", f"{folder / 'events.jsonl'}, line 2"):
        run_files.closed(folder, 0)


def test_a_full_disk_loses_the_record_that_does_not_fit_and_no_other(tmp_path, file_size_limit):
    path = tmp_path / "events.jsonl"
    with LineRecorder(path, "run") as recorder:
        recorder.write(CommitRecord, {"tick": 1, "at_ms": 0})
        file_size_limit(path.stat().st_size + 100)
        with pytest.raises(OSError, match="File too large"):
            recorder.write(CommitRecord, {"tick": 2, "at_ms": 0})
        file_size_limit(resource.RLIM_INFINITY)
        recorder.write(CommitRecord, {"tick": 3, "at_ms": 0})
    assert [json.loads(line)["tick"] for line in path.read_text().splitlines()] == [1, 3]


def test_a_run_that_a_full_disk_ended_is_closed_in_memory(tmp_path, file_size_limit):
    folder = write_run(tmp_path / "run", manifest(), [commit()])
    stored = (folder / "events.jsonl").read_bytes()
    (folder / "log.txt").write_text("OSError: No space left on device")
    file_size_limit(len(stored) + 10)
    result = run_files.closed(folder, 1)
    assert result.end.status == "failed"
    assert (folder / "events.jsonl").read_bytes() == stored


def test_a_worker_that_never_started_is_reported_with_its_output(tmp_path):
    folder = tmp_path / "20260105T090000Z-iceberg-real-never-r1"
    folder.mkdir()
    (folder / "log.txt").write_text("ModuleNotFoundError: No module named 'x'\n")
    with refused("run-not-started") as caught:
        run_files.closed(folder, 1)
    assert "ModuleNotFoundError: No module named 'x'" in str(caught.value)


def test_the_records_of_a_run_in_progress_are_followed_by_whole_lines(tmp_path):
    path = tmp_path / "events.jsonl"
    tail = Tail(path)
    assert list(tail.new_records()) == []  # not there yet
    with LineRecorder(path, "run") as recorder:
        recorder.write(CommitRecord, {"tick": 1, "at_ms": 60_000})
    torn = commit(tick=2).model_dump_json() + "\n"
    with path.open("a") as file:
        file.write(torn[:30])
        file.flush()
        assert [record.tick for record in tail.new_records()] == [1]
        assert list(tail.new_records()) == []
        file.write(torn[30:])
    assert [record.tick for record in tail.new_records()] == [2]


def test_every_record_of_a_real_run_in_progress_is_counted(tmp_path):
    records = [observed(tick=1, data_files_count=8), query(), observed(tick=2, data_files_count=9), end()]
    folder = write_run(tmp_path / "run", manifest(), records)
    job, process = SimpleNamespace(mode="real", run_folder=folder), SimpleNamespace(poll=lambda: None)
    steps = []
    assert run_files.follow(process, job, lambda figures: steps.append(figures.steps)) is False
    assert [step - steps[0] for step in steps] == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no output"),
        (" \n\n", "no output"),
        ("a\nb \n\n", "b"),
        ("a\n2 problems\n  one\n  two\n", "2 problems; one; two"),
        ("Error: x\n\tat y\n", "at y"),
    ],
)
def test_the_last_message_is_the_last_line_with_the_errors_below_it(tmp_path, text, message):
    (tmp_path / "log.txt").write_text(text)
    assert run_files.last_message(tmp_path / "log.txt") == message
