import re
import shlex
import shutil
from dataclasses import replace

import pytest
from records import commit, compaction, end, maintenance, query, run
from result_builder import build_results

from bench.cli.main import main
from bench.replay.recorder import ColumnRecorder
from bench.results.folders import load_runs
from bench.results.records import EVENT_TABLES, EVENTS, MANIFEST, REPLACED, ContentRecord
from bench.results.rows import rows
from bench.scenario.durations import FILE
from bench.text import MISSING, human_count
from reports.data.group import run_groups
from reports.page.render import markdown_text
from tools.durations import durations, durations_text
from tools.publishing import EXAMPLE, FOLDER, Agreement, Published, entries, pack, pages, unpack
from tools.publishing import published as runs_of


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    strategies = {"never": None, "every-2min": 2}
    return load_runs(build_results(tmp_path_factory.mktemp("results"), strategies, 3, 6))


@pytest.fixture
def published(results):
    (group,) = run_groups(results)
    return Published(entries()[0], group)


def test_an_archive_gives_back_the_figures_of_its_runs_and_is_the_same_each_time(results, tmp_path):
    for name in ("a.tar.xz", "b.tar.xz"):
        pack(results, tmp_path / name)
    assert (tmp_path / "a.tar.xz").read_bytes() == (tmp_path / "b.tar.xz").read_bytes()
    unpacked = rows(unpack(tmp_path / "a.tar.xz"))
    assert [row.to_json() for row in unpacked] == [row.to_json() for row in rows(results)]


def test_simulated_runs_are_packed_with_their_tables(tmp_path):
    results = load_runs(build_results(tmp_path / "results", {"never": None, "every-2min": 2}, 1, 6))
    for stored in results:
        (stored.folder / EVENTS).unlink()
        with ColumnRecorder(stored.folder / EVENT_TABLES, stored.manifest.run_id) as recorder:
            for record in stored.records:
                fields = {name: value for name, value in record if name not in ("kind", "written_utc")}
                recorder.write(type(record), fields)
    pack(load_runs(tmp_path / "results"), tmp_path / "a.tar.xz")
    unpacked = unpack(tmp_path / "a.tar.xz")
    assert [row.to_json() for row in rows(unpacked)] == [row.to_json() for row in rows(results)]
    assert [len(run.records) for run in unpacked] == [len(run.records) for run in results]


def test_runs_that_nobody_can_repeat_are_not_published_and_an_archive_survives_a_refusal(results, tmp_path):
    archive = tmp_path / "a.tar.xz"
    pack(results, archive)
    before = archive.read_bytes()
    first, *others = results
    dirty, elsewhere = (
        replace(first, manifest=first.manifest.model_copy(update={"git": git}))
        for git in ({"commit": "0123", "dirty": True}, {})
    )
    (unfinished,) = load_runs(build_results(tmp_path, {"never": None}, 1, 2, {("never", 1): "cut off"}))
    for refused, problem in (
        (unfinished, "not made again"), (dirty, "clean commit"), (elsewhere, "clean commit"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=problem):
            pack([*others, refused], archive)
    assert archive.read_bytes() == before


def test_runs_that_were_made_again_are_packed_and_told(tmp_path):
    build_results(tmp_path, {"never": None}, 5, 2, {("never", 2): "cut off"})
    first, interrupted, gone, replaced, _ = sorted((tmp_path / "append-small").iterdir())
    shutil.rmtree(gone)
    (replaced / REPLACED).write_text("a backup ran")
    for folder in (interrupted, replaced):  # both were made again as the first repetition
        path = folder / MANIFEST
        path.write_text(re.sub(r'"repetition": \d', '"repetition": 1', path.read_text()))
    pack(load_runs(first.parent), tmp_path / "a.tar.xz")
    runs = unpack(tmp_path / "a.tar.xz")
    assert [run.replaced for run in runs] == [None, None, "a backup ran", None]
    published = Published(entries()[0], run_groups(runs)[0])
    assert (published.runs, published.left_out) == (
        "2",
        "; replaced: 1 of 4 runs; unfinished and repeated: 1 of 4 runs"
        "; missing from the archive: 1 of 5 runs",
    )


def test_the_spread_of_sittings_is_told_once_there_are_several(tmp_path):
    folders = [tmp_path / name for name in ("one", "two")]
    for seed, folder in enumerate(folders):
        build_results(folder, {"never": None}, 2, 4, suite_id=folder.name, seed=seed)
        for path in folder.rglob(MANIFEST):  # other noise, of one stream
            path.write_text(re.sub(r'"seed": \d', '"seed": 42', path.read_text()))
    one, both = (Published(entries()[0], run_groups(load_runs(*some))[0]) for some in (folders[:1], folders))
    assert one.between_sittings("query_mean_s") == MISSING
    assert both.between_sittings("query_mean_s").endswith(" % of 2 sittings")


def test_every_archive_is_in_the_index_and_every_entry_has_an_archive():
    archives = {path.name for path in FOLDER.glob("*.tar.xz")}
    assert archives == {entry.archive.name for entry in entries()}


MEASURED = [entry for entry in entries() if "--simulate" not in entry.command]
SIMULATED = [entry for entry in entries() if entry not in MEASURED]


@pytest.mark.parametrize("entry", MEASURED, ids=lambda entry: entry.name)
def test_the_index_names_the_command_that_was_run(entry):
    """Options may be in another order."""
    ran = {tuple(sorted(shlex.split(run.manifest.command))) for run in runs_of(entry).group.runs}
    named = filter(None, (entry.command, entry.begun_by))
    assert ran == {tuple(sorted(shlex.split(command))) for command in named}


def test_the_durations_of_shipped_scenarios_are_those_of_their_published_runs():
    assert durations_text(durations(entries())) == FILE.read_text(), "run `make docs` and review the diff"


MODELLED = ("compactions", "compaction_cpu_s", "query_mean_s", "compaction_added_bytes")


@pytest.mark.parametrize("entry", MEASURED, ids=lambda entry: entry.name)
def test_every_published_table_ended_with_the_content_of_its_stream(entry):
    runs = runs_of(entry).group.runs
    assert [record.status for run in runs for record in run.of(ContentRecord)] == ["equal"] * len(runs)


@pytest.mark.parametrize("entry", [e for e in SIMULATED if not e.earlier], ids=lambda entry: entry.name)
def test_published_simulations_are_what_the_simulator_says(entry, tmp_path, capsys):
    program, *words = shlex.split(entry.command)
    assert (program, main([*words, "--out", str(tmp_path)])) == ("compactbench", 0)
    capsys.readouterr()
    packed, now = (
        {row.strategy: [row.values[name] for name in MODELLED] for row in rows(runs)}
        for runs in (runs_of(entry).group.runs, load_runs(tmp_path))
    )
    assert packed == now, f"pack {entry.name} anew (tools/publishing.py), then run `make docs`"


def test_a_simulation_is_shown_over_what_was_measured(published):
    assert published.over(published, "query_mean_s", "every-2min") == "1.00x"
    assert published.over(published, "compaction_cpu_s", "never") == MISSING


@pytest.mark.parametrize(
    ("figures", "verdict"),
    [
        (("394", "75.3"), "no"),  # 5.2, far above
        (("2.0", "1.0"), "depends on rounding"),  # 1.86 to 2.16, of which a part is below 2.1
        (("2.10", "1.00"), "depends on rounding"),
        (("2.2", "1.000"), "yes"),
        (("2", "1"), "depends on rounding"),
    ],
)
def test_a_published_ratio_is_known_as_far_as_its_digits(published, monkeypatch, figures, verdict):
    names = ("query_mean_s", *published.strategies)
    known = replace(published.compare(*names), low=2.1, high=2.5)
    for comparison, expected in ((known, verdict), (replace(known, low=None, high=None), MISSING)):
        monkeypatch.setattr(Published, "compare", lambda *names, comparison=comparison: comparison)
        assert published.agrees(*names, figures) == expected


def test_a_figure_of_one_query_has_its_unit(published):
    files = published.group.row("never").probes["first-order"]["files_mean"]
    assert published.probe("never", "first-order", "files_mean", "count") == human_count(files)


def test_the_compiler_s_share_is_that_of_commits_and_compactions_and_may_be_left_out_of_ratios():
    load = commit(is_initial=True, tick=0, cpu_s=50.0, jit_cpu_s=50.0)
    commits = [load, commit(wall_s=1.0, cpu_s=6.0, jit_cpu_s=2.0)]
    (group,) = run_groups([
        run(*commits, compaction(wall_s=1.0, cpu_s=4.0, jit_cpu_s=3.0), compaction(status="vetoed"), end()),
        run(
            *commits, compaction(wall_s=1.0, cpu_s=4.0, jit_cpu_s=2.0), maintenance(cpu_s=1.0), end(),
            strategy="b",
        ),
        run(commit(cpu_s=1.0), compaction(wall_s=1.0, cpu_s=2.0), end(), strategy="unknown"),
    ])  # fmt: skip
    published = Published(entries()[0], group)
    shares = [published.jit_share(label) for label in ("never", "b", "unknown")]
    assert shares == ["50 %", "40 %", MISSING]
    assert published.without_jit("never", "b") == "0.50x"
    assert published.without_jit("never", "unknown") == MISSING
    assert published.has_maintenance


def test_decisions_and_files_are_compared_across_modes(tmp_path):
    groups = [
        run_groups(load_runs(build_results(tmp_path / mode, mode=mode, repetitions=1, ticks=20)))[0]
        for mode in ("real", "simulated")
    ]
    real, simulated = (Published(entries()[0], group) for group in groups)
    assert real.agreement(simulated, "every-10min") == Agreement("20 of 20", "0 of 2", "2 of 2")


def test_pages_state_what_the_published_runs_say():
    written = pages(entries())
    drifted = [path.name for path, text in written.items() if path.read_text(encoding="utf-8") != text]
    assert drifted == [], "run `make docs` and review the diff"


def test_runs_of_which_nothing_is_known_of_other_processes_are_not_called_undisturbed():
    (group,) = run_groups([
        run(query(), end(other_cores=cores), repetition=number)
        for number, cores in enumerate((None, 0.0, 0.75), 1)
    ])  # fmt: skip
    published = Published(entries()[0], group)
    assert (published.disturbed, published.disturbed_of("never")) == ("1 of 2 runs (`never`)", "1 of 2")


def test_the_checked_in_report_is_what_is_written_of_the_published_runs():
    (entry,) = (entry for entry in entries() if entry.name == EXAMPLE.name)
    assert (EXAMPLE / "report.md").read_text(encoding="utf-8") == markdown_text(runs_of(entry).group.runs)


def test_the_checked_in_page_is_at_most_a_megabyte():
    assert (EXAMPLE / "index.html").stat().st_size <= 1_000_000
