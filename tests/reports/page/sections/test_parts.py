"""A run group of several parts: what its page says of each format, and of one against the other."""

import csv

import pytest
from records import commit, compaction, end, observed, query, run, truth
from refused import printed_codes
from result_builder import build_results

from bench.cli.main import main
from bench.results.folders import load_runs
from reports.data.csv_files import write_csv_files
from reports.data.group import RunGroup, run_groups
from reports.page.blocks import Listing, Picture, Prose, Terms
from reports.page.content import page_content
from reports.page.render import markdown_text, render
from reports.page.sections.deletes import left_behind
from reports.page.sections.matrix import matrix
from reports.page.sections.parts import part_name
from reports.page.sections.summary import summary
from reports.page.sections.variants import variants
from reports.page.tables import Table
from reports.verdicts.page_verdicts import page_verdicts

VARIANT = {"label": "delta", "set": {"table.format": "delta"}, "versions": None}
ICEBERG = {"never": None, "often": 2, "seldom": 6}
DELTA = {f"{label} @ delta": interval for label, interval in ICEBERG.items()}
VERSIONS = {"python": "3.11.7", "delta": "3.3.2", "deltalake": "1.1.0"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    results = tmp_path_factory.mktemp("formats")
    common = {"repetitions": 3, "ticks": 12, "deletes": True}
    build_results(results, ICEBERG, **common)
    later = {"suite_id": "later", "format": "delta", "variant": VARIANT, "versions": VERSIONS}
    return build_results(results, DELTA, **common, **later)


@pytest.fixture(scope="module")
def both(folder) -> RunGroup:
    (group,) = run_groups(load_runs(folder))
    return group


@pytest.fixture(scope="module")
def content(both):
    (content,) = page_content([both]).contents
    return content


def blocks(content, section, kind):
    """The blocks of one kind in a section of a report."""
    return [
        block
        for built in content.sections
        if built.section.id == section
        for block in built.blocks
        if isinstance(block, kind)
    ]


def test_the_page_names_both_formats_with_their_versions(both, content):
    assert str(page_content([both]).title).startswith("append-small on Iceberg 1.9 and Delta 3.3, 6 strat")
    assert str(content.title) == "append-small on Iceberg 1.9 and Delta 3.3, real"
    assert str(content.facts).startswith("append on iceberg 1.9.2 and delta 3.3.2, real: 6 strategies, 3 rep")
    versions = str(dict(blocks(content, "method", Terms)[0].entries)["Versions"])
    assert {"delta 3.3.2", "deltalake 1.1.0", "format 1.9.2", "spark 3.5.8"} <= set(
        versions.replace(" and ", ", ").split(", ")
    )


def test_each_format_has_an_answer_of_its_own(content):
    lines = [str(prose.text) for prose in blocks(content, "answer", Prose)]
    first, second = (next(line for line in lines if line.startswith(name)) for name in ("Iceberg", "Delta"))
    assert first.startswith("Iceberg 1.9: All strategies keep up ")
    assert second.startswith("Delta 3.3: All strategies keep up ")
    own, other = (line for line in lines if line.startswith("On the means of 3 repetitions, "))
    assert "@ delta" not in own
    assert "often @ delta" in other
    assert any(line.startswith("Without compaction (never) ") for line in lines)
    assert any(line.startswith("Without compaction (never @ delta) ") for line in lines)


def test_fronts_budgets_and_charts_are_of_one_format_each(content):
    for section, column in (("answer", 1), ("timings", 0)):
        tables = [table for table in blocks(content, section, Table) if table.title]
        assert [str(table.title) for table in tables] == ["Iceberg 1.9", "Delta 3.3"]
        own, other = ({str(row[column].text) for row in table.rows} for table in tables)
        assert own <= set(ICEBERG)
        assert other <= set(DELTA)
    pictures = blocks(content, "answer", Picture)
    assert [(picture.stem, str(picture.title).partition(", ")[2]) for picture in pictures] == [
        ("pareto", "Iceberg 1.9"), ("pareto-2", "Delta 3.3"),
    ]  # fmt: skip
    below = blocks(content, "charts", Picture)
    assert [str(picture.title) for picture in below] == [picture.chart.title for picture in below]


def test_a_strategy_is_compared_with_its_own_never_and_with_itself_in_the_other_format(both):
    (verdicts,) = page_verdicts([both])
    keys = set(verdicts.comparisons)
    assert ("query_mean_s", "often @ delta", "never @ delta") in keys
    assert ("total_cpu_s", "often @ delta", "often") in keys
    assert not [key for key in keys if "delta" in key[1] and key[2] in {"often", "seldom"} - {key[1][:-8]}]
    table = variants(both, verdicts)
    assert [str(row[0].text) for row in table.rows] == list(DELTA)
    assert "As it is, the scenario is Iceberg 1.9; variant delta is Delta 3.3." in table.note
    assert "The best trade-off above" not in table.note


def test_bold_and_delete_files_are_of_one_format(both, content):
    table = summary(both, page_verdicts([both])[0])
    place = [column.title for column in table.columns].index("Compaction CPU")
    assert [row[place].is_best for row in table.rows].count(True) == 2
    assert "each variant in another one, has bold figures of its own." in table.note
    assert "A strategy in a variant is compared with never of that variant." in table.note
    assert "a deletion vector counts as one delete file" in left_behind(both).note
    lines = map(str, blocks(content, "answer", Listing)[0].lines)
    _, *deletes = [line for line in lines if " at the end: " in line]
    assert ["delta" in line for line in deletes] == [False, True]
    assert "Another engine may reverse a comparison of formats." in " ".join(
        str(line) for line in blocks(content, "limits", Listing)[0].lines
    )


def test_what_only_one_format_has_names_its_strategies(content):
    setup = {str(row[0].text): str(row[1].text) for row in blocks(content, "setup", Table)[0].rows}
    assert setup["Format"] == (
        "iceberg (never, often and seldom) and delta (never @ delta, often @ delta and seldom @ delta)"
    )


def test_a_scenario_of_one_format_says_nothing_of_formats(runs):
    said = markdown_text(runs)
    assert "bold figures of its own" not in said
    assert "deletion vector" not in said
    assert "pareto-2" not in said


def test_a_page_of_two_formats_can_be_drawn_where_one_of_them_has_no_equality_deletes(tmp_path):
    def made(repetition, **changes):
        counts = {} if "variant" in changes else {"equality_files_count": 2}
        there = observed(delete_files_count=3, delete_rows=5, **counts)
        return run(
            query(), there, compaction(), truth(), end(), repetition=repetition, workload="upsert", **changes
        )

    other = {"strategy": "never @ delta", "format": "delta", "variant": VARIANT}
    page = render([made(1), made(1, **other)], tmp_path / "page")
    assert page.is_file()
    assert (tmp_path / "page" / "charts" / "deletes.svg").is_file()


def test_simulated_times_of_two_formats_are_not_compared_until_coefficients_are_fitted():
    def made(**changes):
        return run(
            commit(), query(), compaction(cpu_s=1.0, wall_s=1.0), truth(), end(), mode="simulated", **changes
        )

    def verdicts(calibrated):
        errors = {name: {"log_sd": 0.1} for name in ("compaction_cpu_s", "commit_cpu_s", "query_mean_s")}
        options = {"coefficients": {"operations": {"query": {"steps": 9 * calibrated}}, "errors": errors}}
        other = {"strategy": "often @ delta", "format": "delta", "variant": VARIANT}
        (group,) = run_groups([made(strategy="often", options=options), made(options=options, **other)])
        (of_page,) = page_verdicts([group])
        return of_page.of("query_mean_s", "often @ delta", "often"), variants(group, of_page).note

    (rough, said), (fitted, unsaid) = verdicts(False), verdicts(True)
    assert (rough.ratio, fitted.ratio) == (None, 1.0)
    assert "coefficients of two formats are not fitted yet" in rough.reason
    assert rough.reason in said
    assert "not fitted" not in unsaid


@pytest.fixture
def two_variants(tmp_path):
    """The scenario, and two variants of one other format."""
    build_results(tmp_path / "own", ICEBERG, 2, 12)
    for label in ("delta", "tuned"):
        strategies = {f"{name} @ {label}": every for name, every in ICEBERG.items()}
        later = {"suite_id": label, "format": "delta", "format_title": "Delta Lake", "versions": VERSIONS}
        build_results(tmp_path / label, strategies, 2, 12, **later, variant={**VARIANT, "label": label})
    (group,) = run_groups([run for part in sorted(tmp_path.iterdir()) for run in load_runs(part)])
    return group


def test_two_variants_of_one_format_are_two_parts_with_names_of_their_own(two_variants):
    names = ["Iceberg 1.9", "Delta Lake 3.3, variant delta", "Delta Lake 3.3, variant tuned"]
    (made,) = page_content([two_variants]).contents
    assert [part_name(part, two_variants) for part in two_variants.parts] == names
    *of_parts, of_all = blocks(made, "answer", Table)
    assert [str(table.title) for table in of_parts] == names
    assert (of_all.title, of_all.columns[1].title) == (None, "Start of 0 s")
    assert str(made.title) == "append-small on Iceberg 1.9 and Delta Lake 3.3, real"
    table = summary(two_variants, page_verdicts([two_variants])[0])
    place = [column.title for column in table.columns].index("Compaction CPU")
    bold = [str(row[0].text) for row in table.rows if row[place].is_best]
    assert bold == ["seldom", "seldom @ delta", "seldom @ tuned"]


def test_matrix_and_csv_name_the_formats(both, group, tmp_path):
    columns = [column.unit for column in matrix([both, group]).columns]
    assert columns == ["", "iceberg and delta, real", "iceberg, real"]
    write_csv_files([both], tmp_path)
    with (tmp_path / "summary.csv").open() as lines:
        formats = {line["strategy"]: line["format"] for line in csv.DictReader(lines)}
    assert formats == {**dict.fromkeys(ICEBERG, "iceberg"), **dict.fromkeys(DELTA, "delta")}


def test_the_command_line_shows_and_compares_both_in_one_table(folder, capsys):
    assert main(["show", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("append-small: append on iceberg and delta, real; 3 runs each")
    assert shown.count("append-small: append") == 1

    assert main(["compare", str(folder), "--format", "csv"]) == 0
    out, head = capsys.readouterr()
    lines = csv.DictReader(out.splitlines())
    assert {(line["strategy"], line["format"], line["against"]) for line in lines} == {
        ("often", "iceberg", "never"), ("seldom", "iceberg", "never"), ("never @ delta", "delta", "never"),
        ("often @ delta", "delta", "never @ delta"), ("seldom @ delta", "delta", "never @ delta"),
    }  # fmt: skip
    assert "compared with never of its variant; never in a variant, with never as it is" in " ".join(
        head.split()
    )

    assert main(["compare", str(folder), "--baseline", "often", "--format", "csv"]) == 0
    named = csv.DictReader(capsys.readouterr().out.splitlines())
    assert {line["against"] for line in named} == {"often"}


def test_a_strategy_whose_own_never_did_not_run_is_compared_with_no_other(folder, tmp_path, capsys):
    build_results(tmp_path, ICEBERG, repetitions=1, ticks=12)
    later = {"format": "delta", "variant": VARIANT, "suite_id": "later"}
    build_results(tmp_path, {"often @ delta": 2}, repetitions=1, ticks=12, **later)
    assert main(["compare", str(tmp_path), "--format", "csv"]) == 0
    out, head = capsys.readouterr()
    assert {line["strategy"] for line in csv.DictReader(out.splitlines())} == {"often", "seldom"}
    assert "never @ delta did not run here: nothing to compare with" in head


def test_new_results_of_both_formats_are_compared_with_old_ones_of_one(folder, tmp_path, capsys):
    old = build_results(tmp_path / "old", ICEBERG, repetitions=1, ticks=12, deletes=True, suite_id="earlier")
    assert main(["compare", str(old), str(folder), "--format", "markdown"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("### append-small: append on iceberg and delta, real")
    assert "often @ delta ran in the new results only" in said


def test_another_format_by_set_is_refused_as_another_scenario(folder, tmp_path, capsys):
    by_set = {"format": "delta", "scenario_hash": "other", "suite_id": "x"}
    other = build_results(tmp_path / "set", ICEBERG, repetitions=1, ticks=12, **by_set)
    for arguments in (["show"], ["compare"], ["compare", "--baseline", "never"], ["report"]):
        command, *options = arguments
        assert main([command, str(folder), str(other), *options]) == 2
        assert printed_codes(capsys.readouterr().err) == ["mixed-runs"]
