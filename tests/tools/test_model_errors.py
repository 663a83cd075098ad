import json

import pytest

from tools.model_errors import FILE, as_document, as_text, errors_of
from tools.publishing import entries

# A few seconds of simulation each; one entry of each format.
CHECKED = ("upsert-17", "delta-upsert-quick", "hudi-sync-async")

DOCUMENT = json.loads(FILE.read_bytes())


@pytest.mark.parametrize("name", CHECKED)
def test_errors_of_the_model_are_the_published_ones(name):
    """If they are worse, the change makes simulations worse; `make model-errors` shows by how much."""
    (entry,) = (entry for entry in entries() if entry.name == name)
    assert json.loads(as_text(as_document(*errors_of(entry)))) == DOCUMENT["entries"][name]


def test_all_real_runs_are_compared():
    assert set(DOCUMENT["entries"]) == {
        entry.name for entry in entries() if not entry.name.endswith(("-simulated", "-at-once"))
    }


@pytest.mark.parametrize("name", ["upsert-17-simulated", "merge-at-once"])
def test_simulated_runs_and_those_with_a_real_clock_have_no_errors(name):
    (entry,) = (entry for entry in entries() if entry.name == name)
    assert errors_of(entry) is None
