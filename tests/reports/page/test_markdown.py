import html
import re

from hypothesis import example, given
from hypothesis import strategies as st

from reports.page.markdown import code, escape, fenced, table, to_markdown
from reports.page.tables import Cell, Column, Table
from reports.phrases import Verbatim, say

anything = st.text(max_size=40)


@given(anything)
@example("`|<script>\n")
def test_code_holds_nothing_that_ends_a_cell_a_span_or_a_line(label):
    shown = code(label)
    inner = shown[1:-1] if shown.startswith("`") else shown[len("<code>") : -len("</code>")]
    assert not set("`|<>\n\r") & set(inner)


@given(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=40))
def test_code_shows_the_label_itself(label):
    shown = code(label)
    inner = shown[1:-1] if shown.startswith("`") else html.unescape(shown[len("<code>") : -len("</code>")])
    assert inner == label


@given(anything)
def test_escaped_text_has_no_bare_special_character(text):
    assert not re.search(r"(?<!\\)(?:\\\\)*[`|<>*_\[\]]", escape(text))
    assert "://" not in escape(text)


def test_plain_labels_stay_readable():
    assert code("every-10min") == "`every-10min`"
    assert escape("1.5 s of 3") == "1.5 s of 3"


def test_text_that_would_begin_a_list_does_not():
    assert [escape(text) for text in ("- a", "1. a", "= a")] == ["\\- a", "1\\. a", "\\= a"]


def test_fence_is_longer_than_any_within():
    assert fenced("a ```` b").startswith("`````\n")


def test_sentence_sets_labels_as_code():
    assert to_markdown(say("with ", Verbatim("a|b"), " *now*")) == "with <code>a&#124;b</code> \\*now\\*"


def test_table_aligns_numbers_and_marks_the_best():
    shown = table(
        Table(
            (Column("Who", is_number=False), Column("Time", "s")),
            ((Cell(Verbatim("a")), Cell("1.5", "x", True)),),
        )
    )
    assert shown.splitlines() == ["| Who | Time (s) |", "| --- | ---: |", "| `a` | **1.5** (x) |"]
