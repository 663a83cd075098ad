import socket

import pytest
from scenario_builder import load

from bench.errors import ScenarioError
from bench.runs import reachable
from bench.runs.reachable import check_reachable


@pytest.fixture(autouse=True)
def direct(monkeypatch):
    for name in reachable._PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server():
    """The port of a server that answers, and one at which nobody does."""
    with socket.create_server(("127.0.0.1", 0)) as answering, socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        yield answering.getsockname()[1], silent.getsockname()[1]


def keys(uri="{}", **more):
    return {"catalog": {"properties": {"type": "rest", "uri": uri} | more}}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        (lambda port: {"spark": {"master": f"spark://127.0.0.1:{port}"}}, "spark.master"),
        (lambda port: keys(f"http://127.0.0.1:{port}/catalog"), "catalog.properties.uri"),
        (lambda port: keys(f"thrift://127.0.0.1:{port}", type="Hive"), "catalog.properties.uri"),
        (
            lambda port: keys("jdbc:sqlite:/c.db", **{"s3.endpoint": f"http://127.0.0.1:{port}"}),
            'catalog.properties."s3.endpoint"',
        ),
        (
            lambda port: {
                "spark": {
                    "spark.sql.catalog.lake.type": "rest",
                    "spark.sql.catalog.lake.uri": f"http://127.0.0.1:{port}",
                }
            },
            'spark."spark.sql.catalog.lake.uri"',
        ),
    ],
)
def test_a_server_that_does_not_answer_is_named_before_a_run(tmp_path, server, changes, key):
    answering, silent = server
    check_reachable(load(tmp_path, **changes(answering)))
    with pytest.raises(ScenarioError) as caught:
        check_reachable(load(tmp_path, **changes(silent)))
    told = f"demo: {key}: cannot be reached (127.0.0.1:{silent}: Connection refused): correct the address"
    assert told in str(caught.value)


def test_one_of_several_masters_is_enough(tmp_path, server):
    answering, silent = server
    check_reachable(load(tmp_path, spark={"master": f"spark://127.0.0.1:{silent},127.0.0.1:{answering}"}))


def test_a_host_that_nobody_knows_is_named(tmp_path):
    with pytest.raises(ScenarioError, match=r"\(nowhere.invalid:7077: .*\)"):
        check_reachable(load(tmp_path, spark={"master": "spark://nowhere.invalid:7077"}))


@pytest.mark.parametrize(
    "uri", ["jdbc:postgresql://db:5432/lake", "http://[broken", "http://host:port/", "x"]
)
def test_what_is_no_address_of_a_server_is_left_to_its_client(tmp_path, uri):
    check_reachable(load(tmp_path, **keys(uri)))


def test_a_catalog_that_is_no_server_has_no_address(tmp_path, server):
    check_reachable(load(tmp_path, **keys(f"http://127.0.0.1:{server[1]}", type="hadoop")))


def test_behind_a_proxy_nothing_can_be_told(tmp_path, server, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    check_reachable(load(tmp_path, **keys(f"http://127.0.0.1:{server[1]}")))
