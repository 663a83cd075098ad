"""Fixtures of the engine tests."""

import pytest
from engine_factories import FACTORIES, engine_params, expected_failures
from engine_streams import COMMITS, INTERVAL_MS, SEED, WORKLOAD, batches

from workloads.change_log import ensure_change_log


def pytest_configure(config):
    config.addinivalue_line("markers", "gap: what an engine lacks; see engine_factories")


@pytest.fixture(scope="session")
def log(spark, tmp_path_factory):
    """The change log of `engine_streams.WORKLOAD`, written once."""
    cache = tmp_path_factory.mktemp("change_logs")
    return ensure_change_log(
        lambda: spark, cache, WORKLOAD, SEED, COMMITS, INTERVAL_MS, lambda done, total: None
    )


@pytest.fixture(params=engine_params())
def engine_key(request):
    """Format and mode of the engine under test, each registered kind in turn."""
    for mark in expected_failures(request.node.iter_markers("gap"), request.param):
        request.applymarker(mark)
    return request.param


@pytest.fixture
def make_engine(engine_key, workshop):
    """Makes the test's engine: `make_engine(partitioning=...)`."""
    return lambda **table: FACTORIES[engine_key].make(workshop, **table)


@pytest.fixture
def make_stream(engine_key, request):
    """Makes the batches of `engine_streams` for any partitioning; only real engines need their rows."""
    log = request.getfixturevalue("log") if FACTORIES[engine_key].is_real else None
    return lambda partitioning=None: batches(log, partitioning)


@pytest.fixture
def engine(make_engine):
    """An engine whose empty table is there, unpartitioned, with 8 MiB as its target file size."""
    made = make_engine()
    made.create()
    return made
