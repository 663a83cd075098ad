import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from bench.cli.tables import COMFORT_WIDTH, Column, fact_lines, folded_lines, is_figure, lay_out

NUMBERS = st.one_of(
    st.integers(-(10**9), 10**9).map(lambda n: f"{n:,}"),
    st.floats(0, 1e6).map(lambda x: f"{x:.3g}"),
    st.tuples(st.integers(1, 59), st.integers(1, 59)).map(lambda p: f"{p[0]} min {p[1]} s"),
    st.floats(0.01, 1e5).map(lambda x: f"{x:,.1f} KiB"),
    st.tuples(st.floats(0.01, 9), st.integers(1, 1000)).map(lambda p: f"{p[0]:.2g} to {p[1]}"),
    st.floats(0.01, 500).map(lambda x: f"{x:.1f}x"),
    st.just("\N{EN DASH}"),
)
WORDS = st.text("abcdefghij-_.", min_size=1, max_size=30)
TITLES = st.lists(st.text("abcdef", min_size=1, max_size=9), min_size=1, max_size=3).map(" ".join)
TEXTS = st.lists(st.one_of(WORDS, NUMBERS), max_size=12).map(" ".join)


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.sampled_from([NUMBERS, WORDS, TEXTS]), min_size=1, max_size=12))
    columns = [
        Column(
            f"{draw(TITLES)} {n}",
            draw(st.sampled_from(["", "ms", "%", "MiB"])),
            draw(st.sampled_from([None, 1, 2, 3])),
            draw(st.sampled_from(["always", "if any", "if varied"])),
        )
        for n, _ in enumerate(kinds)
    ]  # fmt: skip
    rows = draw(st.lists(st.tuples(*kinds), max_size=5))
    return columns, rows


def occurs_whole(cell, lines):
    """Whether the cell stands on one line with nothing but spaces around it."""
    return any(re.search(rf"(?<!\S){re.escape(cell)}(?!\S)", line) for line in lines)


@given(tables(), st.integers(40, 200))
def test_no_number_is_ever_folded(table, width):
    columns, rows = table
    layout = lay_out(columns, rows, width)
    for index, column in enumerate(columns):
        cells = [row[index] for row in rows]
        if column.key in layout.left_out or column.shown != "always":
            continue
        assert all(occurs_whole(cell, layout.lines) for cell in cells if is_figure(cell))


@given(tables(), st.integers(40, 200))
def test_no_word_is_broken_and_only_a_longer_word_exceeds_the_width(table, width):
    columns, rows = table
    layout = lay_out(columns, rows, width)
    printed = {word for line in layout.lines for word in line.split()}
    for index, column in enumerate(columns):
        if column.key not in layout.left_out and column.shown == "always":
            assert {word for row in rows for word in row[index].split()} <= printed
    longest = max((cell_len(cell) for row in rows for cell in row), default=0)
    assert all(cell_len(line) <= max(width, longest + 2) for line in layout.lines)


@given(tables(), st.integers(40, 200))
def test_a_wider_terminal_never_shows_fewer_columns(table, width):
    columns, rows = table
    narrow, wide = (lay_out(columns, rows, each) for each in (width, width + 40))
    if narrow.heading_lines_count and wide.heading_lines_count:
        assert set(wide.left_out) <= set(narrow.left_out)
    assert wide.heading_lines_count or not narrow.heading_lines_count


@given(tables(), st.integers(40, 200))
def test_every_cell_of_a_row_is_below_its_title(table, width):
    columns, rows = table
    layout = lay_out(columns, rows, width)
    figures = {
        index
        for index, column in enumerate(columns)
        if rows and column.key not in layout.left_out and all(is_figure(row[index]) for row in rows)
    }
    body = layout.lines[layout.heading_lines_count :]
    if layout.heading_lines_count and len(columns) == len(figures):
        assert len({cell_len(line) for line in body if line}) <= 1  # right-aligned: all end at one column


COLUMNS = [
    Column("strategy"), Column("compaction CPU", "s"), Column("query mean", "ms"), Column("files", drop=2),
    Column("health", drop=1),
]  # fmt: skip
ROWS = [("never", "0", "328", "2,587", "80"), ("every-10min", "5.61", "94.1", "1", "99")]


def test_units_are_stacked_below_titles_and_figures_are_right_aligned():
    assert lay_out(COLUMNS, ROWS, 60).lines == (
        "strategy     compaction CPU  query mean  files  health",
        "                          s          ms",
        "never                     0         328  2,587      80",
        "every-10min            5.61        94.1      1      99",
    )


def test_titles_are_stacked_then_gaps_shrink_then_columns_go_in_their_order():
    stacked = lay_out(COLUMNS, ROWS, 46)
    assert (stacked.heading_lines_count, stacked.left_out) == (3, ())
    assert lay_out(COLUMNS, ROWS, 41).left_out == ()  # with gaps of one space
    assert lay_out(COLUMNS, ROWS, 40).left_out == ("health",)
    assert lay_out(COLUMNS, ROWS, 31).left_out == ("files", "health")


def test_what_fits_no_table_is_a_block_per_row_with_every_column():
    blocks = lay_out(COLUMNS, ROWS, 26)
    assert (blocks.heading_lines_count, blocks.left_out) == (0, ())
    assert blocks.lines[:7] == (
        "strategy            never",
        "compaction CPU (s)  0",
        "query mean (ms)     328",
        "files               2,587",
        "health              80",
        "",
        "strategy",
    )
    assert blocks.lines[7] == "  every-10min"


def test_a_block_leaves_out_its_empty_cells():
    blocks = lay_out([Column("name"), Column("unit"), Column("text")], [("x" * 30, "", "y" * 30)], 40)
    assert [line.split()[0] for line in blocks.lines] == ["name", "text"]


def test_columns_that_say_nothing_are_left_out_at_any_width():
    columns = [Column("a"), Column("same", shown="if varied"), Column("none", shown="if any")]
    rows = [("1", "equal", "\N{EN DASH}"), ("2", "equal", "")]
    assert lay_out(columns, rows, 200).lines == ("a", "1", "2")
    rows[1] = ("2", "differs", "7")
    assert lay_out(columns, rows, 200).lines[0].split() == ["a", "same", "none"]


def test_text_is_folded_at_spaces_and_never_between_a_number_and_its_unit():
    text = "it rewrote 12.5 MiB in 3 min 20 s of CPU"
    assert folded_lines(text, 15) == ["it rewrote", "12.5 MiB in", "3 min 20 s of", "CPU"]
    columns = [Column("name"), Column("what it does")]
    words = " ".join(["word"] * 40)
    described = lay_out(columns, [("never", words)], 60)
    assert all(len(line) <= 60 for line in described.lines)
    assert len(described.lines) == 5  # 10 words a line, below the titles
    assert lay_out(columns, [("x" * 30, words)], 31 + COMFORT_WIDTH).heading_lines_count == 1
    assert lay_out(columns, [("x" * 30, words)], 30 + COMFORT_WIDTH).heading_lines_count == 0  # a block


def test_a_path_is_left_whole():
    path = "/a/very/long/path" * 5
    columns = [Column("rows"), Column("file", is_path=True)]
    assert lay_out(columns, [("1,440", path)], 40).lines == (" rows  file", f"1,440  {path}")


def test_a_table_without_rows_is_its_heading():
    assert lay_out([Column("a"), Column("b")], [], 80).lines == ("a  b",)


def test_rows_of_another_length_are_refused():
    with pytest.raises(ValueError, match="2 columns"):
        lay_out([Column("a"), Column("b")], [("1",)], 80)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("1,440", True), ("3 min 20 s", True), ("0.0040 to 18", True), ("5 / 7", True), ("12.5 KiB", True),
        ("-3.2", True), ("80 -> 1", True), ("1.0e-05x", True), ("30 %", True), ("\N{EN DASH}", False),
        ("never", False), ("ok 80 -> 1", False), ("0 -100 5", False), ("", False), ("2 files", False),
    ],
)  # fmt: skip
def test_figures_are_recognised(cell, expected):
    assert is_figure(cell) is expected


@given(st.dictionaries(WORDS, TEXTS, max_size=5), st.integers(40, 120))
@example({"Java": "ok: 17 at " + "/x" * 60}, 80)
def test_facts_keep_words_whole(facts, width):
    lines = list(fact_lines(facts, width))
    printed = {word for line in lines for word in line.split()}
    assert {word for value in facts.values() for word in value.split()} <= printed
    assert all(
        cell_len(line) <= max(width, 2 + max(map(cell_len, line.split()), default=0)) for line in lines
    )
