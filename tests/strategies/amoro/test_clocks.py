import pytest
from amoro_tables import ran, settings, table

from strategies.amoro.clocks import STREAM_BEGIN_MS, Clocks, read_clocks
from strategies.state import CompactionSeen
from workloads.orders import EPOCH_MS


def clocks(*seen, at_ms=100_000):
    return read_clocks(table(at_ms=at_ms, ran=seen))


def test_a_new_table_has_clocks_since_1970_so_that_every_usual_interval_is_over():
    # The times of a new table are 0, the epoch; scenario time begins with the stream.
    since = clocks()
    assert STREAM_BEGIN_MS == EPOCH_MS
    assert (since.minor_ms, since.major_ms, since.full_ms, since.any_ms) == (EPOCH_MS + 100_000,) * 4
    assert since.is_minor_due(settings(minor__trigger__interval="1h"))
    assert since.is_full_due(settings(full__trigger__interval="24d"))


@pytest.mark.parametrize("option", ["evaluation__fallback_interval", "min_plan_interval"])
def test_an_interval_longer_than_the_time_since_1970_is_not_over_on_a_new_table(option):
    # now - 0 >= interval, in milliseconds (MetadataBasedEvaluationEvent, SchedulingPolicy.fillSkipSet).
    def is_over(interval_ms):
        opts = settings(**{option: interval_ms})
        since = clocks()
        return since.may_plan(opts) if option == "min_plan_interval" else since.is_fallback_reached(opts)

    assert is_over(EPOCH_MS + 100_000)
    assert not is_over(EPOCH_MS + 100_001)
    assert not is_over("36500d")


def test_each_kind_has_a_clock_that_runs_from_its_last_plan_time():
    since = clocks(
        ran("full", 10_000),
        ran("minor", 20_000),
        ran("major", 30_000),
        ran("minor", 40_000, ended_at_ms=90_000),
    )
    assert (since.minor_ms, since.major_ms, since.full_ms) == (60_000, 70_000, 90_000)
    assert since.any_ms == 60_000


@pytest.mark.parametrize("status", ["ok", "noop", "failed", "vetoed"])
def test_a_process_that_failed_restarts_its_clock_too(status):
    # completeProcess sets the time always.
    assert clocks(ran("minor", 60_000, status)).minor_ms == 40_000


def test_compactions_of_other_systems_move_no_clock():
    foreign = CompactionSeen(60_000, "ok", "scheduled", 2, 1, 2, 2, 1.0, 1.0)
    assert clocks(foreign, ran("optimize", 60_000)) == clocks()


def test_a_process_of_unknown_plan_time_counts_from_its_end():
    assert clocks(CompactionSeen(60_000, "ok", "size", 2, 1, 2, 2, 1.0, 1.0, "full")).full_ms == 40_000


@pytest.mark.parametrize(("at_ms", "due"), [(3_610_000, False), (3_610_001, True)])
def test_an_interval_is_over_strictly_after_it(at_ms, due):
    # Compared with strict >.
    since = clocks(ran("minor", 10_000), ran("full", 10_000), at_ms=at_ms)
    assert since.is_minor_due(settings(minor__trigger__interval="1h")) is due
    assert since.is_full_due(settings(full__trigger__interval="1h")) is due


def test_an_interval_of_0_is_over_a_millisecond_later_and_one_below_0_never():
    now, later = (
        clocks(ran("minor", 100_000), ran("full", 100_000)),
        clocks(ran("minor", 99_999), ran("full", 99_999)),
    )
    off, zero = (
        settings(full__trigger__interval=-1),
        settings(minor__trigger__interval=0, full__trigger__interval=0),
    )
    assert (now.is_minor_due(zero), later.is_minor_due(zero)) == (False, True)
    assert (now.is_full_due(zero), later.is_full_due(zero)) == (False, True)
    assert not Clocks().is_minor_due(off)
    assert not Clocks().is_full_due(off)


@pytest.mark.parametrize("kind", ["minor", "major", "full"])
def test_the_next_plan_waits_for_the_plan_interval_after_any_process(kind):
    # Skipped while now - lastPlanTime < min-plan-interval.
    assert not clocks(ran(kind, 40_001)).may_plan(settings())
    assert clocks(ran(kind, 40_000)).may_plan(settings())


def test_the_fallback_is_reached_when_exactly_that_much_time_has_passed():
    # metaNecessary with >=, and the gate is closed while < fallback.
    hour = settings(evaluation__fallback_interval="1min")
    assert clocks(ran("major", 40_000)).is_fallback_reached(hour)
    assert not clocks(ran("major", 40_001)).is_fallback_reached(hour)
    assert clocks(ran("major", 100_000)).is_fallback_reached(settings())
