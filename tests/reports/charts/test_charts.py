import base64
import math
import re
import struct
import xml.etree.ElementTree as ET
import zlib
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from live_runs import MINUTES, live
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox
from matplotlib.patches import Polygon
from matplotlib.path import Path
from matplotlib.text import Text
from records import query
from result_builder import build_group

from bench.results.records import CommitRecord, CompactionRecord, ObserveRecord
from bench.results.tables import RunRecords
from bench.text import human_duration
from reports.charts import pareto
from reports.charts.canvas import time_unit
from reports.charts.hints import MOST_HINTS, hint, hints_of
from reports.charts.lines import outline
from reports.charts.output import png, svg, svg_of_page
from reports.charts.placing import CHARACTER_PT, LINE_PT, beside, spread
from reports.charts.registry import CHARTS
from reports.charts.slides import as_slide
from reports.charts.theme import DARK, LIGHT, chart_label, traits
from reports.data.frames import health, latency
from reports.data.group import RunGroup, run_groups

BY_ID = {chart.id: chart for chart in CHARTS}
EACH = pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.id)


@pytest.fixture(scope="module")
def odd_groups(tmp_path_factory, hostile_runs):
    """Results that leave charts with little, nothing or strange things to draw."""

    def group(**how):
        return build_group(tmp_path_factory.mktemp("odd"), **how)

    return (
        group(repetitions=1, strategies={"every-1min": 1}, ticks=1),
        group(repetitions=1, strategies={"never": None}, ticks=5, deletes=True),
        group(repetitions=1, ticks=6, fate={("never", 1): "failed", ("every-1min", 1): "failed"}),
        group(repetitions=1, strategies={"never": None}, ticks=4, fate={("never", 1): "cut off"}),
        group(repetitions=1, ticks=6, fate={("every-1min", 1): "timings_invalid"}),
        run_groups(hostile_runs)[0],
    )  # fmt: skip


@pytest.fixture(scope="module")
def partitioned_group(tmp_path_factory):
    """Strategies that compact after every commit, one of them fewer partitions than the other."""
    folder = tmp_path_factory.mktemp("partitions")
    data = build_group(folder, {"never": None, "all": 1, "some": 1}, 1, 6)
    of = {"never": [], "all": ["day=1", "day=2"], "some": ["day=2"]}
    return RunGroup(data.rows, tuple(_in_partitions(run, of[run.manifest.strategy]) for run in data.runs))


@pytest.fixture(scope="module")
def swept_group(tmp_path_factory):
    """A sweep: a family of nine cells of two settings, and `never`."""
    cells = {f"merge every={n}min files={files}": n for n in (1, 2, 3) for files in (2, 5, 8)}
    return build_group(tmp_path_factory.mktemp("sweep"), {"never": None, **cells}, 1, 6)


@pytest.fixture
def suited(group, upsert_group, cadence_group, partitioned_group, swept_group, live_group):
    """A run group a chart applies to."""
    groups = (group, upsert_group, cadence_group, partitioned_group, swept_group, live_group)
    return lambda chart: next(group for group in groups if chart.applies(group))


@EACH
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_chart_draws_in_both_themes_on_its_background(chart, theme, suited):
    drawn = svg(chart.draw, suited(chart), theme, "test")
    ET.fromstring(drawn)
    assert theme.background in drawn


@EACH
def test_chart_of_a_page_has_variables_for_colours_and_numbers_for_strategies(chart, suited):
    data = suited(chart)
    theme = LIGHT.of_page(["another", *data.strategies])
    drawn = svg_of_page(chart.draw, data, theme, "test")
    ET.fromstring(drawn)
    assert not set(re.findall("#[0-9a-f]{6}", drawn)) & set(theme.colours.values())
    numbers = set(re.findall(r'data-strategy="(\d+)"', drawn))
    assert numbers
    assert numbers <= {str(number) for number in range(1, len(data.strategies) + 1)}


@EACH
def test_chart_says_what_it_shows_and_draws_odd_results_without_a_warning(chart, suited, odd_groups):
    assert str(chart.finding(suited(chart))).endswith(".")
    for group in filter(chart.applies, odd_groups):
        assert str(chart.finding(group)) == "" or str(chart.finding(group)).endswith(".")
        ET.fromstring(svg(chart.draw, group, LIGHT, "test"))


def test_a_sweep_has_curves_instead_of_single_points(swept_group, group):
    assert [BY_ID[name].applies(swept_group) for name in ("pareto", "curves")] == [False, True]
    assert [BY_ID[name].applies(group) for name in ("pareto", "curves")] == [True, False]
    figure = BY_ID["curves"].draw(swept_group, LIGHT)
    assert len(figure.axes) == 2
    lines = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) == 3]
    assert len(lines) == 3  # one for each number of files


def test_charts_of_deletes_and_health_are_for_groups_that_have_them(group, odd_groups, upsert_group):
    def shown(group):
        return {chart.id for chart in CHARTS if chart.applies(group)} & {"deletes", "health"}

    assert shown(upsert_group) == {"deletes", "health"}
    assert shown(odd_groups[1]) == {"deletes"}  # delete files, and no strategy that reports a score
    assert shown(group) == set()


def test_a_health_score_that_stays_the_same_is_no_chart(tmp_path):
    data = build_group(tmp_path, {"never": None, "amoro": 6}, 1, 6)  # one evaluation fires
    assert not health(data).empty
    assert "health" not in {chart.id for chart in CHARTS if chart.applies(data)}


def test_the_chart_of_deletes_has_no_panel_for_what_was_not_counted(upsert_group):
    chart = BY_ID["deletes"]
    assert len(chart.draw(upsert_group, LIGHT).axes) == 3
    uncounted = {"delete_rows": None, "equality_files_count": None}
    old = tuple(_changed(run, lambda record: _seen(record, **uncounted)) for run in upsert_group.runs)
    assert len(chart.draw(RunGroup(upsert_group.rows, old), LIGHT).axes) == 1


def test_the_chart_of_partitions_is_for_strategies_that_compact_different_ones(group, partitioned_group):
    chart = BY_ID["partitions"]
    assert not chart.applies(group)
    same = (_in_partitions(run, ["day=1", "day=2"]) for run in partitioned_group.runs)
    assert not chart.applies(RunGroup(partitioned_group.rows, tuple(same)))
    assert chart.applies(partitioned_group)
    panels = [axes for axes in chart.draw(partitioned_group, LIGHT).axes if axes.get_visible()]
    assert [[text.get_text() for text in axes.texts] for axes in panels] == [["all"], ["some"]]
    assert [label.get_text() for label in panels[0].get_yticklabels()] == ["day=2", "day=1"]
    all_of, some_of = (axes.lines[0].get_xydata().tolist() for axes in panels)
    assert len(all_of) == 2 * len(some_of) > 0
    assert {lane for _, lane in some_of} == {0}
    assert "all 12 partitions in 6 compactions" in str(chart.finding(partitioned_group))


def test_names_of_partitions_are_whole(partitioned_group):
    of = {"never": [], "all": ["partition_day=2026-01-03", "partition_day=2026-01-04"], "some": ["day=2"]}
    runs = tuple(_in_partitions(run, of[run.manifest.strategy]) for run in partitioned_group.runs)
    figure = BY_ID["partitions"].draw(RunGroup(partitioned_group.rows, runs), LIGHT)
    renderer = FigureCanvasAgg(figure).get_renderer()
    labels = [label for label in figure.axes[0].get_yticklabels() if "2026" in label.get_text()]
    assert len(labels) == 2
    assert all(label.get_window_extent(renderer).x0 >= 0 for label in labels)


def _in_partitions(run, names):
    """A run whose compactions rewrote these partitions, and whose delete files were in the first."""

    def changed(record):
        if isinstance(record, CompactionRecord):
            return record.model_copy(update={"partitions": names})
        return _seen(record, delete_bytes_by_partition={"day=1": 10 * record.tick})

    return _changed(run, changed)


def _changed(run, changed):
    return replace(run, records=RunRecords.listed(map(changed, run.records)))


def _seen(record, **fields):
    """The record; what it has seen of the table is changed."""
    if not isinstance(record, ObserveRecord):
        return record
    return record.model_copy(update={"table": replace(record.table, **fields)})


def test_chart_of_simulated_runs_says_so_itself(group, tmp_path):
    simulated = build_group(tmp_path, repetitions=1, ticks=6, mode="simulated")
    draw = CHARTS[0].draw
    assert "simulated: nothing was measured" in svg(draw, simulated, LIGHT, "test")
    assert "simulated" not in svg(draw, group, LIGHT, "test")


@pytest.mark.parametrize(
    ("duration_ms", "unit"),
    [
        (0, (1000, "seconds")), (180_000, (1000, "seconds")), (180_001, (60_000, "minutes")),
        (10_800_000, (60_000, "minutes")), (10_800_001, (3_600_000, "hours")),
        (345_600_000, (3_600_000, "hours")), (345_600_001, (86_400_000, "days")),
    ],
)  # fmt: skip
def test_time_unit_keeps_the_numbers_of_an_axis_short(duration_ms, unit):
    assert time_unit(duration_ms) == unit


@EACH
def test_scenario_time_is_drawn_to_the_end_of_the_stream(chart, suited):
    data = suited(chart)
    commits = len(data.runs[0].of(CommitRecord))  # one a minute
    timed = [axes for axes in chart.draw(data, LIGHT).axes if "scenario time" in axes.get_xlabel()]
    assert bool(timed) == (chart.id not in {"pareto", "curves", "freshness", "latency_split", "sizes"})
    for axes in timed:
        assert (axes.get_xlabel(), axes.get_xlim()) == ("scenario time (minutes)", (0, commits))
        drawn = [line.get_xdata() for line in axes.get_lines() if line.get_transform() == axes.transData]
        assert max(map(max, drawn)) == commits


@EACH
def test_a_page_knows_what_stands_at_which_time(chart, suited):
    data = suited(chart)
    drawn = ET.fromstring(svg_of_page(chart.draw, data, LIGHT.of_page(data.strategies), "test"))
    panels = [group for group in drawn.iter() if group.get("data-time")]
    assert bool(panels) == (chart.id not in {"pareto", "curves", "freshness", "latency_split", "sizes"})
    for panel in panels:
        left, right, end, unit = panel.get("data-time").split("|")
        commits = len(data.runs[0].of(CommitRecord))  # one a minute
        assert (float(end), unit) == (commits, "minutes")
        timed = [group for group in panel.iter() if group.get("data-over-time") is not None]
        assert timed
        for x in (x for group in timed for x in _places_of(group)):
            assert float(left) - 0.02 <= x <= float(right) + 0.02
        ticks = [group for group in panel.iter() if group.get("class") == "xtick"]
        shown = [float("".join(tick.itertext())) for tick in ticks if "".join(tick.itertext()).strip()]
        assert shown == sorted(shown)


def _places_of(group):
    """Where lines and marks of a group stand, in points from the left."""
    for element in group.iter():
        tag = element.tag.rpartition("}")[2]
        if tag == "use" and float(element.get("x")) > 0:
            yield float(element.get("x"))
        elif tag == "path" and element.get("id") is None:  # one with an id is the shape of a mark
            yield from (float(x) for x in re.findall(r"(-?[\d.]+) -?[\d.]+", element.get("d")))


def test_names_and_their_leaders_do_not_move_with_time(group):
    drawn = ET.fromstring(svg_of_page(BY_ID["latency"].draw, group, LIGHT.of_page(group.strategies), "test"))
    for number in range(len(group.strategies)):
        own = [g for g in drawn.iter() if g.get("data-strategy") == str(number) and g.get("class") != "hints"]
        still = [g for g in own if g.get("data-over-time") is None]
        assert len(still) == 2  # the name and the line that leads to it
        assert len(own) > 2


def test_a_long_series_is_drawn_in_steps_that_its_axis_names(tmp_path):
    data = build_group(tmp_path, {f"often-{n}": 1 for n in range(6)}, 1, 2_000)
    labels = {}
    for chart_id in ("files", "latency", "compactions"):
        (axes,) = BY_ID[chart_id].draw(data, LIGHT).axes
        labels[chart_id] = axes.get_xlabel()
    # The areas of a panel have 3,000 stretches, each outline of compactions has 150.
    assert labels == {
        "files": "scenario time (hours; areas: lowest to highest of each 4 min)",
        "latency": "scenario time (hours; areas: lowest to highest of each 4 min)",
        "compactions": "scenario time (hours; drawn in steps of 13 min 20 s)",
    }


def test_a_page_has_every_point_of_what_is_drawn_in_steps(tmp_path):
    strategies = {f"every-{every}": every for every in (1, 700, 2_000)}
    data = build_group(tmp_path, strategies, 1, 3_400)
    theme = LIGHT.of_page(data.strategies)
    drawn = ET.fromstring(svg_of_page(BY_ID["latency"].draw, data, theme, "test"))
    packed = [
        (path.get("data-strategy"), path.get("data-points"))
        for path in drawn.iter()
        if path.get("data-points")
    ]
    outlines = [g.get("data-strategy") for g in drawn.iter() if g.get("data-over-time") == "outline"]
    assert sorted(number for number, _ in packed) == sorted(outlines) == ["0", "0", "1", "2"]
    line, marks = (_unpacked(text) for number, text in packed if number == "0")
    wall_s = latency(data).query("strategy == 'every-1'")["wall_s"].to_numpy()
    assert line[0] == marks[0] == "3400"
    assert line[1].tolist() == list(range(1, 3_401))
    assert (np.diff(line[2][np.argsort(wall_s)]) <= 0).all()  # longer queries are nearer to the upper edge
    assert len(set(line[2])) > 100
    assert marks[1].tolist() == [tick for tick in range(1, 3_401) for _ in range(3)]
    assert (marks[2][2::3] == 0).all()
    assert set(marks[2][0::3] - marks[2][1::3]) <= {89, 90, 91}  # 4.5 points


def _unpacked(text):
    """The last time, the times and the heights in twentieths of a point, with 0 for a gap."""
    end, _, encoded = text.partition("|")
    steps = np.frombuffer(zlib.decompress(base64.b64decode(encoded)), "<i4")
    times, heights = steps.reshape(2, -1).cumsum(axis=1)
    return end, times, heights


@pytest.mark.parametrize(("every", "ends"), [(1, [0, 700]), (350, [350, 350, 700, 700])])
def test_more_compactions_than_ticks_are_bars(tmp_path, every, ends):
    data = build_group(tmp_path, {"often": every}, 1, 700)
    (axes,) = BY_ID["latency"].draw(data, LIGHT).axes
    (lane,) = (line for line in axes.get_lines() if line.get_transform() == axes.get_xaxis_transform())
    minutes = [60 * hours for hours in lane.get_xdata() if hours == hours]
    assert minutes == pytest.approx(ends, abs=1.2)


@EACH
def test_chart_of_a_page_is_that_of_the_file_in_shorter_numbers(chart, suited):
    data = suited(chart)
    theme = LIGHT.of_page(data.strategies)
    alone, in_page = (draw(chart.draw, data, theme, "test") for draw in (svg, svg_of_page))
    assert len(in_page.partition('<g class="hints"')[0]) < len(alone)
    whole, short = (
        [list(map(float, re.findall(r"-?\d+\.?\d*", path))) for path in re.findall(r' d="([^"]*)"', text)]
        for text in (alone, in_page)
    )
    assert len(whole) == len(short) > 3
    for before, after in zip(whole, short, strict=True):
        assert after == pytest.approx(before, abs=0.006)


@EACH
def test_chart_is_the_same_bytes_each_time(chart, suited):
    assert svg(chart.draw, suited(chart), LIGHT, "test") == svg(chart.draw, suited(chart), LIGHT, "test")


def test_chart_as_png_shows_scripts_its_font_lacks_without_a_warning(hostile_runs):
    assert png(CHARTS[0].draw, run_groups(hostile_runs)[0], LIGHT).startswith(b"\x89PNG")


def test_chart_names_strategies_as_they_are(odd_groups):
    drawn = svg(BY_ID["latency"].draw, odd_groups[-1], LIGHT, "test")
    elements = ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")
    texts = ["".join(element.itertext()) for element in elements]
    assert "$\\frac{1}{2}$_a_" in texts
    assert "<script>alert(1)</script>" in texts
    assert all(len(text) < 60 for text in texts)


def test_two_charts_of_a_page_share_no_id(upsert_group):
    theme = LIGHT.of_page(upsert_group.strategies)
    drawn = [svg_of_page(chart.draw, upsert_group, theme, chart.id) for chart in CHARTS]
    ids = [{element.get("id") for element in ET.fromstring(text).iter()} - {None} for text in drawn]
    assert sum(map(len, ids)) == len(set().union(*ids))


def _luminance(colour):
    """Relative luminance as WCAG 2.1 defines it."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(a, b):
    low, high = sorted((_luminance(a), _luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_colours_stand_out_from_their_background(theme):
    # WCAG 2.1: 4.5 for text, 3 for graphical objects.
    assert min(_contrast(c, theme.background) for c in (theme.ink, theme.muted)) >= 4.5
    assert min(_contrast(c, theme.background) for c in (*theme.hues, theme.baseline, theme.alarm)) >= 3


def test_never_is_grey_wherever_it_stands():
    for labels in (("a", "never"), ("never",)):
        assert traits(labels, LIGHT)["never"].colour == LIGHT.baseline


def test_a_strategy_has_one_hue_in_all_variants_and_each_variant_a_mark_and_dash():
    policies = ["never", *(f"every-{count}min" for count in range(1, 9))]
    labels = [f"{policy}{variant}" for policy in policies for variant in ("", " @ delta", " @ hudi")]
    styles = traits(labels, LIGHT)
    for policy in policies:
        own = [styles[label] for label in labels if label.partition(" @ ")[0] == policy]
        assert len({trait.colour for trait in own}) == 1
        assert len({trait.mark for trait in own}) == len({trait.dash for trait in own}) == 3
    assert styles["never @ hudi"].colour == LIGHT.baseline
    assert len({styles[f"every-{count}min @ hudi"].mark for count in range(1, 7)}) == 1
    assert len({(trait.colour, trait.dash) for trait in styles.values()}) == len(labels)


def test_every_strategy_of_a_page_differs_by_more_than_its_hue():
    styles = traits([str(n) for n in range(20)], LIGHT)
    assert len({(trait.colour, trait.dash) for trait in styles.values()}) == 20
    assert len({styles[str(n)].dash for n in range(6)}) == len({styles[str(n)].mark for n in range(6)}) == 6


@given(st.lists(st.text(max_size=6), unique=True, max_size=6))
def test_up_to_six_strategies_have_six_hues(labels):
    styles = traits(labels, LIGHT)
    assert len({trait.colour for trait in styles.values()}) == len(labels)


@given(st.lists(st.text(max_size=6), unique=True, min_size=1, max_size=12), st.data())
def test_a_strategy_is_drawn_alike_in_every_section_of_a_page(labels, data):
    some = data.draw(st.permutations(labels).map(lambda order: order[: len(order) // 2 + 1]))
    theme = LIGHT.of_page(labels)
    whole = traits(labels, theme)
    assert traits(some, theme) == {label: whole[label] for label in some}


def test_a_strategy_alone_has_the_hue_of_its_label():
    alone, among = traits(["amoro"], LIGHT), traits(["never", "every-1min", "amoro"], LIGHT)
    assert alone["amoro"].colour == among["amoro"].colour


def test_colours_of_a_theme_have_names_of_their_own():
    for theme in (LIGHT, DARK):
        assert len(set(theme.colours.values())) == len(theme.colours)


def test_chart_label_shortens_in_the_middle():
    assert chart_label("iceberg-rewrite-data-files-every-10min") == "iceberg-rewri…-every-10min"


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.01, 0.2))
def test_spread_keeps_order_and_distance(places, gap):
    moved = spread(sorted(places), gap)
    assert len(moved) == len(places)
    assert all(b - a >= gap * (1 - 1e-9) for a, b in pairwise(moved))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_spread_moves_nothing_that_has_room(places):
    far = [index + place / 2 for index, place in enumerate(places)]
    assert spread(far, 0.4) == pytest.approx(far)


WITHIN = (0.0, 0.0, 500.0, 300.0)


def box_of(spot, text, place):
    """Left, lower, right and upper edge of a name."""
    width = CHARACTER_PT * len(text)
    left = spot[0] + place.dx - {"left": 0, "center": width / 2, "right": width}[place.side]
    return left, spot[1] + place.dy - LINE_PT / 2, left + width, spot[1] + place.dy + LINE_PT / 2


def test_names_make_room_for_those_that_come_after_them():
    spots, texts = [(380, 274), (375, 266), (425, 290)], ["a rather long name"] * 3
    boxes = [box_of(*of) for of in zip(spots, texts, beside(spots, texts, WITHIN), strict=True)]
    for a, b in combinations(boxes, 2):
        assert a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3]


@given(st.lists(st.tuples(st.floats(0, 500), st.floats(0, 300)), max_size=15))
def test_each_point_gets_a_place_inside(spots):
    places = beside(spots, ["a name"] * len(spots), WITHIN)
    for spot, place in zip(spots, places, strict=True):
        left, lower, right, upper = box_of(spot, "a name", place)
        assert 0 <= left <= right <= 500
        assert 0 <= lower <= upper <= 300


def test_a_name_keeps_clear_of_the_line():
    rising = [(0.0, 0.0), (100.0, 100.0), (200.0, 200.0)]
    (place,) = beside([rising[1]], ["name"], WITHIN, [rising])
    left = 100 + place.dx - (5 * 4 if place.side == "right" else 0)
    below = 100 + place.dy + 5.5 < left  # all of it is under the line, or all of it above
    above = 100 + place.dy - 5.5 > left + 5 * 4
    assert below or above


def test_names_along_a_front_cover_neither_it_nor_points_without_a_name():
    front, other = [(20.0, 270.0), (140.0, 120.0), (180.0, 85.0), (460.0, 60.0)], (196.0, 88.0)
    texts = ["never", "every-10min", "every-5min = amoro", "every-1min"]
    places = beside(front, texts, WITHIN, [front], [other])
    boxes = [box_of(*of) for of in zip(front, texts, places, strict=True)]
    for (x1, y1), (x2, y2) in pairwise(front):
        line = [(x1 + (x2 - x1) * part / 500, y1 + (y2 - y1) * part / 500) for part in range(501)]
        for left, lower, right, upper in boxes:
            assert not [1 for x, y in (*line, other) if left < x < right and lower < y < upper]


def test_a_long_line_is_outlined_by_its_extremes():
    points = pd.DataFrame({"at_ms": range(10_000), "median": [n % 7 for n in range(10_000)]})
    points["min"], points["max"] = points["median"] - 1, points["median"] + 1
    points.loc[5_003, ["median", "max"]] = [99, 100]
    points.loc[200:399, ["median", "min", "max"]] = float("nan")
    line = outline(points, 100)
    assert list(line["at_ms"]) == [*range(0, 10_000, 100), 9_999]
    names = ["min", "lowest", "highest", "max"]
    assert line.loc[0, names].tolist() == line.loc[100, names].tolist() == [-1, 0, 6, 7]
    assert line.loc[3, names].isna().all()
    assert line.loc[50, names].tolist() == line.loc[51, names].tolist() == [-1, 0, 99, 100]
    assert line.loc[[49, 52], "highest"].tolist() == [6, 6]


def test_many_compactions_are_one_outline(tmp_path):
    for compactions_count, lines_count in ((100, 100), (101, 1)):
        data = build_group(tmp_path / str(compactions_count), {"often": 1}, 1, compactions_count)
        assert len(BY_ID["compactions"].draw(data, LIGHT).axes[0].get_lines()) == lines_count


def _named(axes):
    """The texts of each name in a chart."""
    several = [[text.get_text() for text in box.findobj(Text)] for box in axes.findobj(AnnotationBbox)]
    return [*several, *([text.get_text()] for text in axes.texts if (text.get_gid() or "").endswith("n"))]


def _outlined(axes, spots):
    """The strategies in the outline of a cluster."""
    (outline,) = (patch for patch in axes.patches if isinstance(patch, Polygon))
    corners = Path(axes.transData.transform(outline.get_xy()))
    return {label for label, spot in spots.items() if corners.contains_point(axes.transData.transform(spot))}


def _spots(axes, group):
    """Where the mark of each strategy is."""
    marks = (line for line in axes.get_lines() if (line.get_gid() or "").startswith("strategy"))
    spots = {int(mark.get_gid()[8:]): tuple(mark.get_xydata()[0]) for mark in marks}
    return {label: spots[number] for number, label in enumerate(group.strategies) if number in spots}


def test_the_first_picture_has_all_strategies_on_one_scale(tmp_path):
    data = build_group(tmp_path, {"never": None, "every-2min": 2, "every-3min": 3}, 1, 240)
    (axes,) = BY_ID["pareto"].draw(data, LIGHT.of_page(data.strategies)).axes
    assert (axes.get_yscale(), axes.get_xscale()) == ("log", "linear")  # latencies span more than 3x
    (low, high), (left, right) = axes.get_ylim(), axes.get_xlim()
    spots = _spots(axes, data)
    assert spots.keys() == set(data.strategies)
    assert all(left < x < right and low < y < high for x, y in spots.values())
    assert spots["never"][0] == 0
    assert sorted(_named(axes)) == [["every-2min"], ["every-3min"], ["never"]]


def test_a_cost_of_0_has_a_band_of_its_own_on_a_logarithmic_axis(tmp_path):
    data = build_group(tmp_path, {"never": None, "every-1min": 1, "every-12min": 12}, 2, 24)
    (axes,) = BY_ID["pareto"].draw(data, LIGHT.of_page(data.strategies)).axes
    assert axes.get_xscale() == "log"
    axes.figure.draw_without_rendering()
    zero, *others = [label.get_text() for label in axes.get_xticklabels()]
    assert zero == "0\nno compaction"
    assert len(others) > 1
    assert all(float(text) > 0 for text in others)
    spots, ticks = _spots(axes, data), axes.get_xticks()
    left_of_all = min(row.values["compaction_cpu_s"] for row in data.rows if not row.is_baseline)
    assert axes.get_xlim()[0] < spots["never"][0] == ticks[0] < left_of_all
    (band,) = axes.patches
    assert band.get_x() < spots["never"][0] < band.get_x() + band.get_width() < left_of_all
    joined = [line.get_xdata() for line in axes.get_lines() if line.get_linestyle() == "--"]
    assert [spots["never"][0], spots["every-12min"][0]] in [list(x) for x in joined]


def test_without_a_cost_of_0_a_logarithmic_axis_has_no_band(tmp_path):
    data = build_group(tmp_path, {"every-1min": 1, "every-12min": 12}, 1, 24)
    (axes,) = BY_ID["pareto"].draw(data, LIGHT).axes
    assert axes.get_xscale() == "log"
    assert not axes.patches


def test_the_target_size_is_drawn_within_its_bin(tmp_path):
    size = {"target_file_size_bytes": 3 * 2**20}
    axes = BY_ID["sizes"].draw(build_group(tmp_path, {"never": None, "all": 1}, 1, 3, **size), LIGHT).axes[0]
    (line,) = axes.lines  # bin 21, from 2 to 4 MiB, ends at 21.5
    assert line.get_xdata()[0] == pytest.approx(20.5 + math.log2(1.5))


def test_strategies_that_are_not_told_apart_are_one_cluster_with_one_name(group, monkeypatch):
    cluster = ("every-1min", "every-10min")
    monkeypatch.setattr(pareto, "clusters", lambda part: (cluster,))
    chart, theme = BY_ID["pareto"], LIGHT.of_page(group.strategies)
    (axes,) = chart.draw(group, theme).axes
    assert ["every-1min", "=", "every-10min"] in _named(axes)
    assert len(_named(axes)) == len(group.strategies) - 1
    spots = _spots(axes, group)
    assert _outlined(axes, spots) == {*cluster}
    drawn = svg_of_page(chart.draw, group, theme, "test")
    for label in cluster:  # each can be lit and hidden alone
        number = group.strategies.index(label)
        assert f'<g data-strategy="{number}">' in drawn
        assert f'<g data-strategy="{number}" data-name="">' in drawn
    said = str(chart.finding(group))
    assert re.search(r" every-10min, \S+ \S+ at \S+ s, is not told apart from every-1min\.$", said)
    monkeypatch.undo()
    assert "told apart" not in str(chart.finding(group))


def test_a_large_cluster_names_some_and_counts_the_others(tmp_path, monkeypatch):
    labels = [f"every-{count}min" for count in (1, 2, 3, 4, 5)]
    data = build_group(tmp_path, {label: count for count, label in enumerate(labels, 1)}, 1, 24)
    monkeypatch.setattr(pareto, "clusters", lambda part: (tuple(labels),))
    (axes,) = BY_ID["pareto"].draw(data, LIGHT.of_page(labels)).axes
    assert _named(axes) == [["every-1min", "=", "every-2min", "=", "3 more"]]
    assert _spots(axes, data).keys() == set(labels)


def _texts(figure):
    """The texts that a figure shows, after it was laid out."""
    figure.draw_without_rendering()
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def _is_whole(figure):
    """Whether nothing reaches beyond the figure."""
    box = figure.get_tightbbox()
    width_in, height_in = figure.get_size_inches()
    return box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width_in and box.y1 <= height_in


@pytest.mark.parametrize(
    "chart", [chart for chart in CHARTS if chart.place != "folded"], ids=lambda chart: chart.id
)
def test_a_chart_as_a_slide_stands_alone_and_is_legible(chart, suited):
    data = suited(chart)
    theme = replace(LIGHT.of_page(data.strategies), is_slide=True)
    is_answer = chart.place == "answer"
    title = chart.title if is_answer else str(chart.message(data)) or str(chart.finding(data))
    draw = as_slide(chart.draw, title, "the source")
    assert struct.unpack(">II", png(draw, data, theme)[16:24]) == (1920, 1080)
    figure = draw(data, theme)
    shown = _texts(figure)
    assert min(text.get_fontsize() for text in shown) * 200 / 72 >= 20  # pixels
    words = [re.sub(r"\s", " ", text.get_text()) for text in shown]
    assert {title, "the source"} <= {*words}
    assert _is_whole(figure)
    drawn = svg(draw, data, theme, "test")
    assert "<text" not in drawn  # no font is needed
    assert not re.search(r'href="(?!#)', drawn)


def test_a_title_that_has_no_room_is_set_smaller_and_then_cut(group):
    theme = replace(LIGHT, is_slide=True)

    def titled(words):
        figure = as_slide(BY_ID["files"].draw, " ".join(["words"] * words), "source")(group, theme)
        title = next(text for text in figure.texts if text.get_text().startswith("words"))
        return title.get_fontsize(), title.get_text().count("\n") + 1, title.get_text().endswith("…")

    assert [titled(8), titled(20), titled(30), titled(300)] == [
        (16, 1, False), (16, 2, False), (12.5, 3, False), (12.5, 3, True),
    ]  # fmt: skip


def test_a_slide_of_simulated_runs_has_no_stamp_over_its_title(tmp_path):
    simulated = build_group(tmp_path, repetitions=1, ticks=6, mode="simulated")
    draw, theme = as_slide(BY_ID["files"].draw, "title", "source"), replace(LIGHT, is_slide=True)
    png(draw, simulated, theme)
    assert "nothing was measured" not in [text.get_text() for text in draw(simulated, theme).texts]


def test_messages_have_the_ends_of_a_range(group, tmp_path):
    said = {chart.id: str(chart.message(group)) for chart in CHARTS if chart.applies(group)}
    assert (
        said["files"] == "At the end, tables have 1 (every-1min and 2 others) to 480 (never) live data files."
    )
    fastest, slowest = (human_duration(group.row(x).values["query_mean_s"]) for x in ("every-1min", "never"))
    assert said["latency"] == f"Mean query over time: {fastest} (every-1min) to {slowest} (never)"
    alone = build_group(tmp_path, {"every-1min": 1}, 1, 6)
    assert str(BY_ID["files"].message(alone)) == "At the end, tables have 1 (every-1min) live data files."


def test_findings_list_strategies_in_the_order_of_the_scenario(group):
    turned = RunGroup(group.rows, group.runs[::-1])
    said = str(BY_ID["latency"].finding(turned))
    places = [said.index(f"{label} ") for label in group.strategies]
    assert places == sorted(places)


def test_names_of_partitions_are_not_cut_and_each_panel_has_numbers(tmp_path):
    names = [f"partition_day=2026-01-0{day}" for day in (1, 2)]
    of = {"never": [], "a": names, "b": names[:1], "c": names[1:], "d": names}
    plain = build_group(tmp_path, {"never": None, "a": 1, "b": 1, "c": 1, "d": 1}, 1, 6)
    runs = tuple(_in_partitions(run, of[run.manifest.strategy]) for run in plain.runs)
    figure = BY_ID["partitions"].draw(RunGroup(plain.rows, runs), LIGHT)
    assert _is_whole(figure)
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert len(panels) == 4
    assert all(axes.xaxis.get_tick_params()["labelbottom"] for axes in panels)


def test_names_of_equal_ends_stand_in_the_order_of_the_scenario(group):
    turned = RunGroup(group.rows, group.runs[::-1])
    (axes,) = BY_ID["files"].draw(turned, LIGHT).axes
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts}
    ends = ["every-1min", "every-10min", "every-60min"]  # of one file each
    assert sorted(ends, key=heights.get, reverse=True) == ends


def test_an_axis_names_the_query(group):
    (axes,) = BY_ID["latency"].draw(group, LIGHT).axes
    assert "latency of first-order (ms)" in [text.get_text() for text in axes.texts]


def _titles(chart_id, group):
    theme = LIGHT.of_page(group.strategies)
    drawn = ET.fromstring(svg_of_page(BY_ID[chart_id].draw, group, theme, "test"))
    svg_name = "{http://www.w3.org/2000/svg}"
    circles = list(drawn.iter(f"{svg_name}circle"))
    width, height = (float(part) for part in drawn.get("viewBox").split()[2:])
    assert all(0 <= float(c.get("cx")) <= width and 0 <= float(c.get("cy")) <= height for c in circles)
    return [circle.find(f"{svg_name}title").text for circle in circles]


def test_points_of_a_page_say_what_they_are(group):
    never = group.row("never").values
    assert f"never, 0 s, {human_duration(never['query_mean_s'])}" in _titles("pareto", group)
    assert "never, 1 min: 8" in _titles("files", group)
    assert sum(text.startswith("never, 1 min: ") for text in _titles("latency", group)) == 1


def test_hints_are_few_and_gaps_have_none():
    figure = Figure()
    axes, theme = figure.subplots(), LIGHT.of_page(["a"])
    hint(axes, "a", [(float(n), float("nan") if n == 3 else 1.0, f"<{n}>") for n in range(1_000)], theme)
    hint(axes, "not on the page", [(1.0, 1.0, "no")], theme)
    drawn = hints_of(figure)
    assert MOST_HINTS / 2 < drawn.count("<circle") <= MOST_HINTS
    assert "a, &lt;0&gt;" in drawn
    assert "not on the page" not in drawn
    assert hints_of(Figure()) == ""


def test_a_query_that_failed_is_a_gap_of_the_chart_on_a_page():
    failed = query(0.0, when="due", status="failed", tick=2, at_ms=150_000)
    (group,) = run_groups([live("never", failed), live("late")])
    titles = _titles("latency", group)
    assert sum(text.startswith("never, ") for text in titles) == MINUTES
    assert not any("nan" in text for text in titles)


def test_freshness_is_shown_where_writers_commit_at_different_intervals(group, cadence_group):
    chart = BY_ID["freshness"]
    assert not chart.applies(group)
    assert chart.applies(cadence_group)
    assert re.fullmatch(
        r"Age of the newest rows, files and latency: never 30 s, 52 files, \S+ ms, "
        r"late 1 min 30 s, 18 files, \S+ ms and later 6 min, 8 files, \S+ ms\.",
        str(chart.finding(cadence_group)),
    )
