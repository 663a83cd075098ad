from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from bench.cli.progress_line import BAR_WIDTH, SHORT_BAR_WIDTH, Activity, fitted

RUN = Activity(
    "append-only every-10min #2", "every-10min #2", 14, 60, "commits", 0.25, "23 s",
    "9 files, last query 94 ms, 2 compactions (5.6 s CPU)",
)  # fmt: skip


def text(line):
    return f"{line.before}{'#' * line.filled}{'.' * (line.bar_width - line.filled)}{line.after}"


def test_everything_is_there_where_it_fits():
    assert text(fitted(RUN, 140)) == (
        "append-only every-10min #2  14/60 commits  ######..................  23 s  "
        "9 files, last query 94 ms, 2 compactions (5.6 s CPU)"
    )


def test_the_label_goes_first_then_the_time_then_the_bar_and_then_the_status():
    at = {width: fitted(RUN, width) for width in (115, 110, 96, 80, 40)}
    assert at[115].before.startswith("every-10min #2  14/60 commits")
    assert "23 s" in at[115].after
    assert "23 s" not in at[110].after
    assert at[110].bar_width == BAR_WIDTH
    assert at[96].bar_width == SHORT_BAR_WIDTH
    assert at[96].after.endswith("CPU)")
    assert at[80].after.endswith("…")
    assert "9 files, last query 94 ms" in at[80].after
    assert at[40].after == ""


def test_a_long_label_is_cut():
    named = replace(RUN, label="s " + "x" * 60, short_label="x" * 60)
    assert fitted(named, 80).before.startswith("x" * 13 + "…  14/60 commits")


activities = st.builds(
    Activity, st.text("abc-é漢", max_size=60), st.text("abc-é漢", max_size=60), st.integers(0, 99_999),
    st.integers(0, 99_999), st.sampled_from(["runs", "commits"]), st.floats(0, 1),
    st.sampled_from(["", "23 s", "1 h 5 min, about 3 h 20 min left"]), st.text("abc 12", max_size=90),
)  # fmt: skip


@given(activities, st.integers(40, 200))
def test_a_line_fits_and_always_has_its_count(activity, width):
    line = fitted(activity, width)
    assert cell_len(text(line)) == line.width <= width
    assert activity.count in line.before
    assert 0 <= line.filled <= line.bar_width


@given(activities, st.integers(40, 200))
def test_a_finished_bar_is_full(activity, width):
    line = fitted(replace(activity, share=1.0), width)
    assert line.filled == line.bar_width
