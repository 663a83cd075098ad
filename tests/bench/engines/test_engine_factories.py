import engine_factories
import pytest
from engine_factories import SHEETS, EngineKey, engines_for, expected_failures, needs, never, notimpl, notyet

from bench.engines.registry import FORMATS
from strategies.plan import Capability

ICEBERG, OTHER = EngineKey("iceberg", "real"), EngineKey("other", "simulated")
BOTH = [ICEBERG, EngineKey("iceberg", "simulated")]


def marks(*decorators):
    return [decorator.mark for decorator in decorators]


@pytest.fixture
def only_both(monkeypatch):
    """As if one format were registered."""
    monkeypatch.setattr(engine_factories, "SHEETS", {key: SHEETS[key] for key in BOTH})


def test_every_mode_of_a_registered_format_has_a_sheet():
    kinds = {(name, mode): getattr(found.engines, mode) for name, found in FORMATS.items()
             for mode in ("real", "simulated")}  # fmt: skip
    with_own_executor = {(key.table_format, key.mode) for key in SHEETS if not key.executor}
    assert {key for key, kind in kinds.items() if kind is not None} == with_own_executor


def test_every_executor_of_a_real_engine_that_rewrites_has_a_sheet():
    """Others execute commands of their format alone, such as delta-rs, and have tests of their own."""
    found = {
        (name, "real", executor)
        for name, table_format in FORMATS.items()
        for executor, able in table_format.engines.real.executors.items()
        if Capability.REWRITE in able
    }
    assert found == {key for key in SHEETS if key.executor}


def test_an_executor_runs_the_tests_of_rewrites_alone():
    assert all(not key.executor for key in engines_for(marks(needs(Capability.COMPACT))))
    assert EngineKey("iceberg", "real", "single-node") in engines_for(marks(needs(Capability.REWRITE)))


@pytest.mark.parametrize("key", SHEETS, ids=lambda key: key.id)
def test_the_answers_of_a_sheet_are_commands_its_engine_can_run(key):
    assert SHEETS[key].commands <= key.capabilities
    assert {command.partition(".")[0] for command in SHEETS[key].commands} == {key.table_format}


def test_a_test_runs_on_the_engines_that_can_do_what_it_needs(only_both):
    assert engines_for(marks()) == engines_for(marks(needs(Capability.COMPACT))) == BOTH
    assert engines_for(marks(needs(Capability.BRANCH))) == [ICEBERG]  # a simulated table has no branches
    assert engines_for(marks(needs(Capability.COMPACT), needs(Capability.BRANCH))) == [ICEBERG]


def test_a_test_that_no_engine_can_run_is_an_error():
    with pytest.raises(ValueError, match="no engine has what the test asks for"):
        engines_for(marks(needs("iceberg.no_such_command")))


@pytest.mark.parametrize(("kind", "helper"), [("notimpl", notimpl), ("notyet", notyet), ("never", never)])
def test_a_gap_is_a_strict_expected_failure_of_its_engines_only(kind, helper):
    gap = helper(OTHER, reason="no such file", raises=KeyError)
    assert expected_failures([gap.mark], ICEBERG) == []
    (expected,) = expected_failures([gap.mark], OTHER)
    assert expected.mark.name == "xfail"
    assert expected.mark.kwargs == {
        "reason": f"{kind}: no such file", "raises": KeyError, "strict": True,
    }  # fmt: skip
