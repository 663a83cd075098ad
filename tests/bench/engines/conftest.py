"""Fixtures of the engine tests."""

import pytest
from change_batches import ModelTable
from delta_sheets import make_real as make_delta
from engine_factories import SHEETS, engine_params, expected_failures
from engine_streams import COMMITS, INTERVAL_MS, SEED, WORKLOAD, batches
from hudi_sheets import make_real as make_hudi
from iceberg_sheets import make_real as make_iceberg

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


def creating(make, workshop, **defaults):
    """Makes the test's engine with its empty table, with the fields of its TableSpec that a test varies."""

    def make_and_create(**table):
        engine = make(workshop, **defaults | table)
        engine.create()
        return engine

    return make_and_create


@pytest.fixture
def make_engine(sheet, workshop):
    return creating(sheet.make, workshop)


@pytest.fixture
def iceberg(workshop):
    return creating(make_iceberg, workshop)


@pytest.fixture
def delta(workshop):
    return creating(make_delta, workshop)


@pytest.fixture
def hudi(workshop):
    return creating(make_hudi, workshop, index_buckets=1)


@pytest.fixture
def model(tmp_path):
    """The rows that the commits of `change_batches` should leave in the test's table."""
    return ModelTable(tmp_path / "changes")


@pytest.fixture
def make_stream(engine_key, request):
    """Makes the batches of `engine_streams` for any partitioning; only real engines need their rows."""
    log = request.getfixturevalue("log") if engine_key.is_real else None
    return lambda partitioning=None: batches(log, partitioning)


@pytest.fixture
def stream(make_stream):
    """The initial load (60 rows, 3 files) and six commits of 40 rows and 4 files."""
    return make_stream()


@pytest.fixture
def stream_with_rows(log):
    """The same, for real engines of any format."""
    return batches(log)


@pytest.fixture
def engine(make_engine):
    """An engine whose empty table is there, unpartitioned, with 8 MiB as its target file size."""
    return make_engine()
