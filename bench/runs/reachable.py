"""Whether the servers that a scenario names can be reached, before anything starts."""

import os
import re
import socket
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from bench.engines.registry import FORMATS
from bench.errors import ScenarioError
from bench.scenario.catalog import catalog_setting, configured_catalog
from bench.scenario.scenario import Scenario
from bench.scenario.values import path_text

CONNECT_S = 10.0
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_PORTS = {"http": 80, "https": 443}


def check_reachable(scenario: Scenario) -> None:
    """Connect to the Spark master, the catalog and the object store, where these are servers with an address.

    Without it the change log would be written first, and then one run after the other would fail, often
    minutes later and with an error of Java's that names no address. Raises ScenarioError.
    """
    for key, addresses in _servers(scenario):
        problems = [problem for host, port in addresses if (problem := _problem(host, port))]
        if problems and len(problems) == len(addresses):
            raise ScenarioError(
                f"{scenario.name}: {key}: cannot be reached ({'; '.join(problems)}): correct the address, or "
                "start the server"
            )


def _servers(scenario: Scenario) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """Each key of the scenario with the addresses that it names, of which one is enough."""
    master = scenario.spark.master
    if master.startswith("spark://"):
        hosts = master.removeprefix("spark://").split(",")
        yield "spark.master", _addresses(f"spark://{host}" for host in hosts)
    properties = configured_catalog(scenario).properties
    for name in FORMATS[scenario.table.format].catalog.servers(properties):
        if found := _addresses(text for text in properties[name].split(",") if _is_direct(text)):
            yield path_text(catalog_setting(scenario, name)[0]), found


def _is_direct(uri: str) -> bool:
    """Whether a URI is of a server that is reached without a proxy, as far as can be told from here."""
    if re.match(r"\s*https?://", uri):
        return not any(os.environ.get(name) or os.environ.get(name.upper()) for name in _PROXIES)
    return uri.strip().startswith("thrift://")


def _addresses(uris: Iterable[str]) -> list[tuple[str, int]]:
    """Those that name a host and a port; others are for their clients to refuse."""
    found = []
    for uri in uris:
        try:
            parts = urlsplit(uri.strip())
            port = parts.port or _PORTS.get(parts.scheme)
        except ValueError:
            continue
        if parts.hostname and port:
            found.append((parts.hostname, port))
    return found


def _problem(host: str, port: int) -> str | None:
    """Why no connection can be made; None if one can."""
    try:
        socket.create_connection((host, port), CONNECT_S).close()
    except OSError as error:
        return f"{host}:{port}: {error.strerror or error}"
    return None
