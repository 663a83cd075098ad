"""Fixtures of the engine tests."""

from functools import partial

import pytest
from engine_factories import SHEETS, engine_params, expected_failures
from engine_streams import COMMITS, INTERVAL_MS, SEED, WORKLOAD, batches

from workloads.change_log import ensure_change_log


def pytest_configure(config):
    config.addinivalue_line("markers", "gap: what an engine lacks; see engine_factories")
    config.addinivalue_line("markers", "needs: what an engine must have for the test; see engine_factories")
    config.addinivalue_line("markers", "of_format: the one format the test is for; see engine_factories")


def pytest_generate_tests(metafunc):
    """Run a test that uses `engine_key` on each engine its marks admit; for the others there is no test."""
    if "engine_key" in metafunc.fixturenames:
        engines = engine_params(metafunc.definition.iter_markers())
        metafunc.parametrize("engine_key", engines, indirect=True)


@pytest.fixture(scope="session")
def log(spark, tmp_path_factory):
    """The change log of `engine_streams.WORKLOAD`, written once."""
    cache = tmp_path_factory.mktemp("change_logs")
    return ensure_change_log(
        lambda: spark, cache, WORKLOAD, SEED, COMMITS, INTERVAL_MS, lambda done, total: None
    )


@pytest.fixture
def engine_key(request):
    """Format and mode of the engine under test."""
    for mark in expected_failures(request.node.iter_markers("gap"), request.param):
        request.applymarker(mark)
    return request.param


@pytest.fixture
def sheet(engine_key):
    """What the engine's format answers for itself."""
    return SHEETS[engine_key]


@pytest.fixture
def make_engine(sheet, workshop):
    """Makes the test's engine: `make_engine(partitioning=...)`."""
    return partial(sheet.make, workshop)


@pytest.fixture
def make_stream(engine_key, request):
    """Makes the batches of `engine_streams` for any partitioning; only real engines need their rows."""
    log = request.getfixturevalue("log") if engine_key.is_real else None
    return lambda partitioning=None: batches(log, partitioning)


@pytest.fixture
def engine(make_engine):
    """An engine whose empty table is there, unpartitioned, with 8 MiB as its target file size."""
    made = make_engine()
    made.create()
    return made
