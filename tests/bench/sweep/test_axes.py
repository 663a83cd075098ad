import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.errors import ScenarioError
from bench.sweep.axes import Axis, parse_axis

MINUTE_MS = 60_000


def axis(text, tick_ms=MINUTE_MS):
    return parse_axis(text, tick_ms)


def test_a_list_of_values():
    assert axis("workload.rows_per_commit=80, 800") == Axis(
        None, "workload.rows_per_commit", "rows_per_commit", ("80", "800")
    )


def test_the_interval_and_options_of_a_strategy_have_short_names():
    interval = Axis("rewrite", "rules[0].trigger.interval", "every", ("1h", "2h"))
    assert axis("strategies.rewrite.every=1h,2h") == interval
    assert axis("strategies[rewrite].every=1h,2h") == interval
    option = axis("strategies.rewrite.options.min-input-files=2")
    assert option.key == 'rules[0].planner.options."min-input-files"'
    assert option.name == "min-input-files"
    long = axis("strategies.c.options.hoodie.clustering.plan.strategy.small.file.limit=1,2")
    assert (long.key[17:-1], long.name) == (
        'options."hoodie.clustering.plan.strategy.small.file.limit', "small.file.limit"
    )  # fmt: skip
    field = axis("strategies.rewrite.planner.scope=table,partition")
    assert (field.key, field.name) == ("rules[0].planner.scope", "scope")
    assert axis("strategies[rewrite].writer.commit_every=1h").key == "writer.commit_every"


@pytest.mark.parametrize(
    ("values", "made"),
    [
        ("1min..8min*4", ("1min", "2min", "4min", "8min")),
        ("1min..4min*9", ("1min", "2min", "3min", "4min")),  # whole ticks, each once
        ("30s..60s*2", ("30s", "1min")),
        ("1MiB..16MiB*3", ("1MiB", "4MiB", "16MiB")),
        ("2..50*3", ("2", "10", "50")),
        ("0.1..0.4*3", ("0.1", "0.2", "0.4")),
    ],
)
def test_a_series_is_geometric(values, made):
    assert axis(f"strategies.x.every={values}").values == made


@given(st.integers(1, 600), st.integers(2, 600), st.integers(2, 40))
def test_durations_of_a_series_are_whole_ticks_between_its_ends(low, factor, count):
    values = axis(f"strategies.x.every={low}min..{low * factor}min*{count}").values
    minutes = [_minutes(value) for value in values]
    assert minutes == sorted(set(minutes))
    assert (minutes[0], minutes[-1]) == (low, low * factor)
    assert len(minutes) <= count


def _minutes(text):
    for unit, length in (("min", 1), ("h", 60), ("d", 1440)):
        if text.endswith(unit):
            return int(text.removesuffix(unit)) * length
    raise AssertionError(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("workload.rows_per_commit", "write KEY=VALUE"),
        ("=1", "write KEY=VALUE"),
        ("a=", "write KEY=VALUE"),
        ("a=1min..2min", "write KEY=VALUE"),
        ("a=4min..1min*3", "must be above 0 and below"),
        ("a=1min..2GiB*3", "must both be durations, sizes or numbers"),
        ("a=1min..2min*1", "a series has 2 to 1000 values"),
    ],
)
def test_a_mistake_says_what_to_write(text, problem):
    with pytest.raises(ScenarioError, match=problem):
        axis(text)
