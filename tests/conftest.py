"""Fixtures every test may use; builders live in tests/support.

One Spark session serves each test process from its first use on, set up as a run's worker sets its own
up, with what each format's tables need of it.
"""

import itertools
import os
from functools import partial

import pytest
from engine_factories import shared_session
from engine_sheet import Workshop
from hypothesis import settings
from iceberg_sheets import make_real

from bench.engines import runtime
from bench.engines.contract import SparkSettings
from bench.engines.spark.session import start_session, stop_session

os.environ.pop("COLUMNS", None)  # tables are as wide as in any pipe, whatever terminal the tests run in

# No deadline: a slow moment of a shared machine is no failure. Each run draws examples of its own, so many
# ordinary runs look further than a thorough one, which is for a release. `make executors` uses the exhaustive
# one, in which the slowest tests draw as many cases as are ever claimed of them (`by_profile`).
settings.register_profile("exhaustive", deadline=None, max_examples=100)
settings.register_profile("thorough", deadline=None, max_examples=100)
settings.register_profile("ordinary", deadline=None, max_examples=25)
settings.load_profile("ordinary")

# Tests query a few rows: compiling a query takes longer than interpreting it, and the JVM's optimising
# compiler costs more than it saves. Tests that start the program itself use its settings.
SPARK = SparkSettings(
    master="local[2]",
    driver_memory_bytes=2 * 2**30,
    conf={
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC -XX:Tier4InvocationThreshold=25000 "
        "-XX:Tier4MinInvocationThreshold=3000 -XX:Tier4CompileThreshold=75000 "
        "-XX:Tier4BackEdgeThreshold=200000",
    },
)


@pytest.fixture(scope="session")
def tables_folder(tmp_path_factory):
    """Where the tables of the test session lie, with the catalog of those that have one."""
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="session")
def spark(tables_folder):
    runtime.use_java()
    session = start_session(SPARK, *shared_session(tables_folder), tables_folder)
    yield session
    stop_session(session)


@pytest.fixture(scope="session")
def namespaces():
    """Names of namespaces, none twice."""
    return (f"test_{number}" for number in itertools.count(1))


@pytest.fixture
def workshop(request, tables_folder, namespaces):
    """What an engine of one test is made with; Spark starts when the first engine asks for it."""
    return Workshop(
        spark=lambda: request.getfixturevalue("spark"),
        settings=SPARK,
        folder=tables_folder,
        namespace=next(namespaces),
    )


@pytest.fixture
def iceberg(workshop):
    """Makes the test's Iceberg engine, its table not yet created: `iceberg(format_version=3)`."""
    return partial(make_real, workshop)


def pytest_collection_modifyitems(items):
    """Files with long tests come first, so that with two processes neither waits for the other at the end."""
    long = {item.path for item in items if any(map(item.get_closest_marker, ("spark", "processes", "noise")))}
    items.sort(key=lambda item: item.path not in long)
