import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from bench.engines.live_files import LiveFiles
from strategies.series import Series
from strategies.state import DataFile


def series(name="s", count=5):
    return Series(DataFile(f"{name}-0", 10, 1), count, f"{name}-{{}}", 0)


def paths(files):
    return [file.path for file in files.values()]


class AnyChanges(RuleBasedStateMachine):
    """A table of series and single files has the files that it would have file by file."""

    def __init__(self):
        super().__init__()
        self.live, self.expected, self.made = LiveFiles(), {}, 0

    @rule(count=st.integers(1, 5), is_series=st.booleans())
    def add(self, count, is_series):
        self.made += 1
        run = series(f"s{self.made}", count) if is_series else DataFile(f"f{self.made}", 5, 1)
        self.live.add(run)
        self.expected |= {file.path: file for file in run.files()}
        with pytest.raises(ValueError, match=run.origin):
            self.live.add(run)

    @precondition(lambda self: self.expected)
    @rule(data=st.data())
    def remove_part_of_a_run(self, data):
        run = data.draw(st.sampled_from(list(self.live.runs)))
        begin = data.draw(st.integers(0, run.count - 1))
        part = run.slice(begin, data.draw(st.integers(begin + 1, run.count)))
        assert self.live.holds(part)
        self.live.remove(part)
        assert not self.live.holds(part)
        for file in part.files():
            del self.expected[file.path]
            assert file.path not in self.live

    @precondition(lambda self: self.expected)
    @rule(data=st.data())
    def remove_files_that_a_planner_names(self, data):
        seen = list(self.live.values())  # planners name only files that they have seen
        named = data.draw(st.lists(st.sampled_from(seen), min_size=1, unique=True))
        runs = self.live.located(named)
        assert [file for run in runs for file in run.files()] == named
        for run in runs:
            self.live.remove(run)
        for file in named:
            del self.expected[file.path]

    @rule()
    def look(self):
        assert paths(self.live) == list(self.expected)
        for path, file in self.expected.items():
            assert self.live[path] == file
            assert file in self.live.values()
            origin, start = self.live.place(path)
            assert self.live.at(origin, start).first == file

    @invariant()
    def counts(self):
        assert len(self.live) == len(self.live.values()) == len(self.expected)
        assert sum(run.count for run in self.live.runs) == len(self.expected)


TestAnyChanges = AnyChanges.TestCase
TestAnyChanges.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)


def test_files_named_in_order_are_one_run():
    live = LiveFiles()
    live.add(series())
    files = list(live.values())
    (run,) = live.located(files[1:4])
    assert (run.count, run.start) == (3, 1)
    assert [(one.count, one.start) for one in live.located([files[3], files[0]])] == [(1, 3), (1, 0)]


def test_what_is_left_of_a_series_keeps_its_place():
    live = LiveFiles()
    live.add(series())
    live.add(DataFile("last", 5, 1))
    live.remove(series().slice(1, 3))
    assert paths(live) == ["s-0", "s-3", "s-4", "last"]
    assert live.count_of("s-0") == 3
    with pytest.raises(KeyError):
        live.remove(series().slice(2, 4))
    for missing in (
        lambda: live["s-1"],
        lambda: live.place("s-1"),
        lambda: live.located([DataFile("x", 1, 1)]),
    ):
        with pytest.raises(KeyError):
            missing()
