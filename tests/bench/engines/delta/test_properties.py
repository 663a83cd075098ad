import pytest

from bench.engines.delta.properties import WriterProperties, writer_properties
from bench.errors import ScenarioError


def test_nothing_is_on_by_default():
    assert writer_properties({"delta.other": "x"}) == WriterProperties(10, False, False)


def test_properties_are_read_as_delta_does():
    given = {"delta.checkpointInterval": "3", "delta.autoOptimize.optimizeWrite": "TRUE"}
    assert writer_properties(given) == WriterProperties(3, False, True)
    assert writer_properties({"delta.autoOptimize.autoCompact": "true"}).compacts_by_itself
    both = {"delta.autoOptimize": "true", "delta.autoOptimize.autoCompact": "false"}
    assert writer_properties(both).compacts_by_itself


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("delta.checkpointInterval", "0"),
        ("delta.checkpointInterval", "ten"),
        ("delta.autoOptimize.autoCompact", "auto"),
        ("delta.autoOptimize", "yes"),
    ],
)
def test_what_delta_rejects_is_refused(name, value):
    with pytest.raises(ScenarioError, match=f"{name}='{value}' must be"):
        writer_properties({name: value})
