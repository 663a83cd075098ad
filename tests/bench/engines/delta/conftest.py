"""Fixtures of tests on logs written by hand."""

import pytest
from delta_logs import write_commit

from bench.engines.delta.log import LOG_FOLDER


@pytest.fixture
def place(tmp_path):
    """The folder of a table whose log is written by hand."""
    (tmp_path / LOG_FOLDER).mkdir()
    return str(tmp_path)


@pytest.fixture
def commit(place, tmp_path):
    """Appends a commit to the log of a table."""
    folder = tmp_path / LOG_FOLDER
    return lambda *actions: write_commit(place, len(list(folder.glob("*.json"))), *actions)
