"""A run group of several parts: what its page says of each format, and of one against the other."""

import csv

import pytest
from matplotlib.text import Text
from records import commit, compaction, end, observed, query, run, truth
from refused import printed_codes
from result_builder import build_results

from bench.cli.main import main
from bench.results.folders import load_runs
from bench.text import human_duration
from reports.charts.theme import LIGHT, traits
from reports.data.csv_files import csv_tables, write_csv_files
from reports.data.formats import part_name
from reports.data.group import RunGroup, run_groups
from reports.page.blocks import Listing, Picture, Prose, Terms
from reports.page.content import page_content
from reports.page.render import markdown_text, render
from reports.page.sections.deletes import left_behind
from reports.page.sections.matrix import matrix
from reports.page.sections.parts import sentences_by_part
from reports.page.sections.policies import policies_by_format
from reports.page.sections.summary import summary
from reports.page.sections.variants import variants
from reports.page.slides import title
from reports.page.tables import Table
from reports.phrases import say
from reports.verdicts.judge import compare_strategies
from reports.verdicts.page_verdicts import page_verdicts

VARIANT = {"label": "delta", "set": {"table.format": "delta"}}
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
    assert first.startswith("Iceberg 1.9: On the means of 3 repetitions, ")
    assert second.startswith("Delta 3.3: On the means of 3 repetitions, ")
    assert "@ delta" not in first
    assert "often @ delta" in second
    assert any(line.startswith("Without compaction (never) ") for line in lines)
    assert any(line.startswith("Without compaction (never @ delta) ") for line in lines)


def test_what_all_formats_have_in_common_is_said_once(both, content):
    said = [str(prose.text) for prose in blocks(content, "answer", Prose)]
    assert len(said) == len(set(said))
    costs = (
        "Costs are the CPU of commits and policy together, since not all strategies commit in the same way."
    )
    assert said.count(costs) == 1
    assert not any(line.endswith(costs) and line != costs for line in said)
    for section in ("answer", "timings"):
        notes = [table.note for table in blocks(content, section, Table) if table.title]
        assert notes[0] == ""
        assert notes[-1] != ""
    alike = sentences_by_part(both, lambda part: (say("alike"), say(str(len(part.rows))), say("too")))
    assert [str(line) for line in alike] == ["alike", "3", "too"]
    own = sentences_by_part(both, lambda part: (say("alike"), say(str(part.strategies[0]))))
    assert [str(line) for line in own] == ["Iceberg 1.9: never", "Delta 3.3: never @ delta", "alike"]


def test_the_answer_begins_with_every_policy_in_every_format(both, content, runs):
    table, *_ = blocks(content, "answer", Table)
    assert next(built for built in content.sections if built.section.id == "answer").blocks[0] is table
    assert [str(row[0].text) for row in table.rows] == list(ICEBERG)
    assert [column.title for column in table.columns[1:]] == ["Iceberg 1.9"] * 2 + ["Delta 3.3"] * 2
    assert [column.unit for column in table.columns[1:]] == ["Total CPU, s", "query mean, ms"] * 2
    for row in table.rows:
        values = [cell.value for cell in row[1:]]
        own, other = (both.row(label).values for label in (str(row[0].text), f"{row[0].text} @ delta"))
        assert values == [
            own["total_cpu_s"], own["query_mean_s"] * 1000,
            other["total_cpu_s"], other["query_mean_s"] * 1000,
        ]  # fmt: skip
        assert not any(cell.is_best for cell in row)
    assert policies_by_format(run_groups(runs)[0]) is None


def test_a_policy_that_one_format_lacks_has_a_dash_there(tmp_path):
    build_results(tmp_path, ICEBERG, repetitions=1, ticks=12)
    later = {"format": "delta", "variant": VARIANT, "suite_id": "later"}
    build_results(tmp_path, {"often @ delta": 2, "own @ delta": 3}, repetitions=1, ticks=12, **later)
    (group,) = run_groups(load_runs(tmp_path))
    table = policies_by_format(group)
    assert "A dash: the policy does not run there" in table.note
    cells = {str(row[0].text): [cell.value is None for cell in row[1:]] for row in table.rows}
    assert cells == {
        "never": [False, False, True, True], "often": [False] * 4, "seldom": [False, False, True, True],
        "own": [True, True, False, False],
    }  # fmt: skip


def test_formats_are_panels_of_one_picture_on_common_scales(both, content):
    (picture,) = blocks(content, "answer", Picture)
    theme = LIGHT.of_page(both.strategies)
    panels = picture.chart.draw(both, theme).axes
    heads = [[text.get_text() for text in axes.texts] for axes in panels]
    assert ["Iceberg 1.9" in heads[0], "Delta 3.3" in heads[1]] == [True, True]
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in panels}) == 1
    assert len({axes.get_position().width for axes in panels}) == 1
    named = [text for axes in panels for text in axes.findobj(Text) if (text.get_gid() or "").endswith("n")]
    assert {text.get_text() for text in named} == {*ICEBERG}  # without their variants
    styles = traits(both.strategies, theme)
    for label in ICEBERG:
        own, other = styles[label], styles[f"{label} @ delta"]
        assert own.colour == other.colour
        assert own.mark != other.mark
    assert len({styles[label].mark for label in ICEBERG}) == 1
    said = str(picture.finding)
    assert said.startswith("On the front, from the cheapest to the fastest: Iceberg 1.9, never ")
    assert "; Delta 3.3, never @ delta " in said


def test_a_slide_of_formats_names_a_choice_for_each_or_none(tmp_path, both, content):
    (picture,) = blocks(content, "answer", Picture)
    assert title(picture) == "Cost and mean query of each policy, by format"
    build_results(tmp_path, {"never": None, "often": 2}, repetitions=1, ticks=12)
    build_results(
        tmp_path, {"never @ delta": None, "often @ delta": 2}, repetitions=1, ticks=12, suite_id="later",
        format="delta", variant=VARIANT, versions=VERSIONS,
    )  # fmt: skip
    (chosen,) = page_content(run_groups(load_runs(tmp_path))).contents
    (picture,) = blocks(chosen, "answer", Picture)
    assert title(picture) == "Best trade-offs by format: often (Iceberg 1.9) and often (Delta 3.3)"
    latency = next(one for one in blocks(content, "charts", Picture) if one.chart.id == "latency")
    never, often = (human_duration(both.row(x).values["query_mean_s"]) for x in ("never", "often"))
    assert title(latency) == f"Mean query over time, Iceberg 1.9: {often} (often) to {never} (never)"


def test_fronts_and_budgets_are_of_one_format_each(content):
    for section, column in (("answer", 1), ("timings", 0)):
        tables = [
            table
            for table in blocks(content, section, Table)
            if table.title and not table.caption.startswith("Core seconds if")
        ]
        assert [str(table.title) for table in tables] == ["Iceberg 1.9", "Delta 3.3"]
        own, other = ({str(row[column].text) for row in table.rows} for table in tables)
        assert own <= set(ICEBERG)
        assert other <= set(DELTA)
    pictures = blocks(content, "answer", Picture)
    assert [(picture.stem, str(picture.title)) for picture in pictures] == [
        ("pareto", "Cost and query latency")
    ]
    below = blocks(content, "charts", Picture)
    assert [str(picture.title) for picture in below] == [picture.chart.title for picture in below]


def test_what_jobs_add_is_a_table_of_each_format(content):
    tables = [
        table for table in blocks(content, "answer", Table) if table.caption.startswith("Core seconds if")
    ]
    assert [{str(row[0].text) for row in table.rows} for table in tables] == [{*ICEBERG}, {*DELTA}]
    for table in tables:
        assert [cell.is_best for row in table.rows for cell in row[1:]].count(True) == len(table.columns) - 1


def test_a_strategy_is_compared_with_its_own_never_and_with_itself_in_the_other_format(both):
    (verdicts,) = page_verdicts([both])
    keys = set(verdicts.comparisons)
    assert ("query_mean_s", "often @ delta", "never @ delta") in keys
    assert ("total_cpu_s", "often @ delta", "often") in keys
    assert not [key for key in keys if "delta" in key[1] and key[2] in {"often", "seldom"} - {key[1][:-8]}]
    of_formats = [c for (_, one, other), c in verdicts.comparisons.items() if one == f"{other} @ delta"]
    corrected = [c for c in verdicts.comparisons.values() if c.adjusted_p is not None]
    assert verdicts.number == len(corrected) - len(of_formats) > 0  # no page proves less for a further format
    table = variants(both, verdicts)
    assert [str(row[0].text) for row in table.rows] == list(DELTA)
    assert table.note.endswith(" Their verdicts are corrected for their own number.")
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
        compared = of_page.of("query_mean_s", "often @ delta", "often")
        return compared, variants(group, of_page), policies_by_format(group).note

    (rough, said, rough_note), (fitted, table, note) = verdicts(False), verdicts(True)
    assert (rough.ratio, fitted.ratio) == (None, 1.0)
    assert "coefficients of two formats are not fitted yet" in rough.reason
    assert str(said.text) == f"Variants are not compared: the {rough.reason}."  # no table of dashes
    assert f"Do not compare formats here: {rough.reason}." in rough_note
    assert len(table.rows) == 1
    assert "not fitted" not in table.note + note


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


@pytest.mark.parametrize("metric", ["query_mean_s", "compaction_added_bytes"])
def test_strategies_of_a_part_compare_alike_wherever_the_page_compares_them(both, metric):
    """The noise of all formats counts, so that a line on one of them has the ratios of the tables."""
    part = both.parts[0]
    assert part.whole is both
    assert compare_strategies(part, metric, "often", "seldom") == compare_strategies(
        both, metric, "often", "seldom"
    )


def test_two_variants_of_one_format_are_two_parts_with_names_of_their_own(two_variants):
    names = ["Iceberg 1.9", "Delta Lake 3.3, variant delta", "Delta Lake 3.3, variant tuned"]
    (made,) = page_content([two_variants]).contents
    assert [part_name(part, two_variants) for part in two_variants.parts] == names
    _, *of_parts = blocks(made, "answer", Table)
    assert [str(table.title) for table in of_parts] == [*names, *names]
    assert {table.columns[1].title for table in of_parts[3:]} == {"Start of 0 s"}
    assert str(made.title) == "append-small on Iceberg 1.9 and Delta Lake 3.3, real"
    table = summary(two_variants, page_verdicts([two_variants])[0])
    place = [column.title for column in table.columns].index("Compaction CPU")
    bold = [str(row[0].text) for row in table.rows if row[place].is_best]
    assert bold == ["seldom", "seldom @ delta", "seldom @ tuned"]


def test_matrix_and_csv_name_the_formats(both, group, tmp_path):
    columns = [column.unit for column in matrix([both, group]).columns]
    assert columns == [
        "", "iceberg and delta, real: CPU of commits and policy", "iceberg, real: compaction CPU",
    ]  # fmt: skip
    write_csv_files(csv_tables([both]), tmp_path)
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
