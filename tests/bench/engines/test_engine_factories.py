from dataclasses import replace

import engine_factories
import pytest
from engine_factories import (
    SHEETS,
    SIMULATED,
    EngineKey,
    engine_params,
    engines_for,
    expected_failures,
    needs,
    never,
    notimpl,
    notyet,
    of_format,
)

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
    assert {key for key, kind in kinds.items() if kind is not None} == set(SHEETS)


@pytest.mark.parametrize("key", SHEETS, ids="-".join)
def test_the_answers_of_a_sheet_are_commands_its_engine_can_run(key):
    assert SHEETS[key].commands <= key.capabilities
    assert {command.partition(".")[0] for command in SHEETS[key].commands} == {key.table_format}


def test_a_test_runs_on_the_engines_that_can_do_what_it_needs(only_both):
    assert engines_for(marks()) == engines_for(marks(needs(Capability.COMPACT))) == BOTH
    assert engines_for(marks(needs(Capability.BRANCH))) == [ICEBERG]  # a simulated table has no branches
    assert engines_for(marks(needs(Capability.COMPACT), needs(Capability.BRANCH))) == [ICEBERG]


def test_a_test_runs_on_the_engines_whose_sheets_answer_it(monkeypatch):
    silent = {BOTH[1]: SHEETS[BOTH[1]], ICEBERG: replace(SHEETS[ICEBERG], maintenance=None)}
    monkeypatch.setattr(engine_factories, "SHEETS", silent)
    assert engines_for(marks(needs(answer="merge_from"))) == [BOTH[1], ICEBERG]
    assert engines_for(marks(needs(answer="maintenance"))) == BOTH[1:]
    assert engines_for(marks(needs(Capability.COMPACT, answer="maintenance"))) == BOTH[1:]
    with pytest.raises(AttributeError):
        engines_for(marks(needs(answer="no_such_answer")))


def test_a_test_may_be_for_one_format(monkeypatch):
    monkeypatch.setattr(
        engine_factories, "SHEETS", {**{key: SHEETS[key] for key in BOTH}, OTHER: SHEETS[ICEBERG]}
    )
    assert engines_for([]) == [*BOTH, OTHER]
    assert engines_for(marks(of_format("iceberg"))) == BOTH
    assert engines_for(marks(of_format("other"))) == [OTHER]


def test_a_test_that_no_engine_can_run_is_an_error():
    with pytest.raises(ValueError, match="no engine has what the test asks for"):
        engines_for(marks(needs("iceberg.no_such_command")))


def test_only_real_engines_need_spark(only_both):
    assert [[mark.name for mark in param.marks] for param in engine_params([])] == [["spark"], []]
    assert [param.id for param in engine_params([])] == ["iceberg-real", "iceberg-simulated"]
    assert all(not key.is_real for key in SIMULATED)


@pytest.mark.parametrize("helper", [notimpl, notyet, never])
def test_a_gap_is_a_strict_expected_failure_of_its_engines_only(helper):
    gap = helper(OTHER, reason="no such file", raises=KeyError)
    assert expected_failures([gap.mark], ICEBERG) == []
    (expected,) = expected_failures([gap.mark], OTHER)
    assert expected.mark.name == "xfail"
    assert expected.mark.kwargs == {
        "reason": f"{helper.__name__}: no such file", "raises": KeyError, "strict": True,
    }  # fmt: skip


def test_a_gap_needs_a_reason_and_an_engine():
    with pytest.raises(ValueError, match="never needs engines and a reason"):
        never(ICEBERG, reason="", raises=KeyError)
    with pytest.raises(ValueError, match="notyet needs engines and a reason"):
        notyet(reason="x", raises=KeyError)
