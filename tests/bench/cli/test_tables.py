import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from bench.cli.tables import COMFORT_WIDTH, Column, fact_lines, is_figure, lay_out

NUMBERS = st.one_of(
    st.integers(-(10**9), 10**9).map(lambda n: f"{n:,}"),
    st.floats(0, 1e6).map(lambda x: f"{x:.3g}"),
    st.tuples(st.integers(1, 59), st.integers(1, 59)).map(lambda p: f"{p[0]} min {p[1]} s"),
    st.floats(0.01, 1e5).map(lambda x: f"{x:,.1f} KiB"),
    st.tuples(st.floats(0.01, 9), st.integers(1, 1000)).map(lambda p: f"{p[0]:.2g} to {p[1]}"),
    st.floats(0.01, 500).map(lambda x: f"{x:.1f}x"),
    st.just("\N{EN DASH}"),
)
WORDS = st.text("abcdefghij-_.漢", min_size=1, max_size=30)
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
    ]
    rows = draw(st.lists(st.tuples(*kinds), max_size=5))
    return columns, rows


def printed(columns, rows, width):
    """The lines of a table, or of the facts of its rows; and the columns left out."""
    fitted, left_out = lay_out(columns, rows, width)
    if not isinstance(fitted, Table):
        return [line for facts in fitted for line in fact_lines(facts, width)], left_out
    console = Console(width=width)
    with console.capture() as captured:
        console.print(fitted, crop=False)
    return [line.rstrip() for line in captured.get().splitlines()], left_out


@given(tables(), st.integers(1, 200))
def test_neither_a_number_nor_a_word_is_broken(table, width):
    columns, rows = table
    lines, left_out = printed(columns, rows, width)
    words = {word for line in lines for word in line.split()}
    for index, column in enumerate(columns):
        if column.key not in left_out and column.shown == "always":
            cells = [row[index] for row in rows]
            assert {word for cell in cells for word in cell.split()} <= words
            if width >= 60:  # below, a number and its unit can be on two lines
                figures = [rf"(?<!\S){re.escape(cell)}(?!\S)" for cell in cells if is_figure(cell)]
                assert all(any(re.search(figure, line) for line in lines) for figure in figures)


@given(tables(), st.integers(20, 200))
def test_a_table_fits_its_width(table, width):
    columns, rows = table
    if isinstance(lay_out(columns, rows, width)[0], Table):
        assert all(cell_len(line) <= width for line in printed(columns, rows, width)[0])


@given(tables(), st.integers(40, 200))
def test_a_wider_terminal_never_shows_fewer_columns(table, width):
    narrow, narrow_left_out = lay_out(*table, width)
    wide, wide_left_out = lay_out(*table, width + 40)
    if isinstance(narrow, Table):
        assert isinstance(wide, Table)
        assert set(wide_left_out) <= set(narrow_left_out)


COLUMNS = [
    Column("strategy"), Column("compaction CPU", "s"), Column("query mean", "ms"), Column("files", drop=2),
    Column("health", drop=1),
]  # fmt: skip
ROWS = [("never", "0", "328", "2,587", "80"), ("every-10min", "5.61", "94.1", "1", "99")]


def test_units_are_stacked_below_titles_and_figures_are_right_aligned():
    assert printed(COLUMNS, ROWS, 60)[0] == [
        "strategy     compaction CPU  query mean  files  health",
        "                          s          ms",
        "never                     0         328  2,587      80",
        "every-10min            5.61        94.1      1      99",
    ]


@pytest.mark.parametrize(
    ("width", "lines_count", "left_out"),
    [(54, 4, ()), (46, 5, ()), (41, 5, ()), (40, 5, ("health",)), (31, 5, ("files", "health"))],
)
def test_titles_are_stacked_then_gaps_shrink_then_columns_go_in_their_order(width, lines_count, left_out):
    lines, unprinted = printed(COLUMNS, ROWS, width)
    assert (len(lines), unprinted) == (lines_count, left_out)


def test_rows_that_fit_no_table_become_facts_without_empty_cells():
    facts, left_out = lay_out(COLUMNS, [ROWS[0], ("every-10min", "", "", "1", "99")], 26)
    assert left_out == ()
    assert [list(row) for row in facts] == [
        ["strategy", "compaction CPU (s)", "query mean (ms)", "files", "health"],
        ["strategy", "files", "health"],
    ]


def test_columns_without_information_are_left_out_at_any_width():
    columns = [Column("a"), Column("same", shown="if varied"), Column("none", shown="if any")]
    rows = [("1", "equal", "\N{EN DASH}"), ("2", "equal", "")]
    assert printed(columns, rows, 200)[0] == ["a", "1", "2"]
    rows[1] = ("2", "differs", "7")
    assert printed(columns, rows, 200)[0][0].split() == ["a", "same", "none"]


def test_text_is_folded_but_not_below_what_is_comfortable_to_read():
    columns, words = [Column("name"), Column("what it does")], " ".join(["word"] * 40)
    assert len(printed(columns, [("never", words)], 60)[0]) == 5  # 10 words a line, below the titles
    assert isinstance(lay_out(columns, [("x" * 30, words)], 31 + COMFORT_WIDTH)[0], Table)
    assert isinstance(lay_out(columns, [("x" * 30, words)], 30 + COMFORT_WIDTH)[0], list)


def test_a_path_is_left_whole_beyond_the_width():
    path = "/a/very/long/path" * 5
    columns = [Column("rows"), Column("file", is_path=True)]
    assert printed(columns, [("1,440", path)], 40)[0] == [" rows  file", f"1,440  {path}"]


def test_rows_of_another_length_are_refused():
    with pytest.raises(ValueError, match="zip"):
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


@given(st.dictionaries(WORDS, TEXTS, max_size=5), st.integers(1, 120))
def test_facts_keep_words_whole(facts, width):
    words = {word for line in fact_lines(facts, width) for word in line.split()}
    assert {word for key, value in facts.items() for word in (key, *value.split())} <= words


@pytest.mark.parametrize("width", range(40, 60))
def test_the_end_of_a_line_of_wide_characters_is_not_cut(width):
    text = "a a aa a a a aaaa aaaaa漢 aaaaaaaaaaaaaaaaaa漢漢 a"
    lines, _ = printed([Column("text"), Column("b")], [(text, "x")], width)
    assert "aaaaaaaaaaaaaaaaaa漢漢" in " ".join(lines).split()
