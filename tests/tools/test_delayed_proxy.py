import asyncio
import http.client
import itertools
import math
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median, stdev

import pytest

from tools import delayed_proxy

DELAY_S = 0.05


class Echo(BaseHTTPRequestHandler):
    """Answers with the method, the path and the body."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.chunks() if self.headers.get("Transfer-Encoding") else self.plain()
        text = f"{self.command} {self.path} ".encode() + body
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PUT = do_DELETE = answer  # noqa: N815

    def plain(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def chunks(self):
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline() != b"\r\n":
            pass
        return body

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 64  # by default 5: further connections would wait for a second attempt


@pytest.fixture
def proxied():
    """Starts a proxy with these delays in front of a server that echoes; the proxy's address."""
    upstream = Server(("127.0.0.1", 0), Echo)
    loop = asyncio.new_event_loop()
    threads = [threading.Thread(target=run) for run in (upstream.serve_forever, loop.run_forever)]
    for thread in threads:
        thread.start()
    servers = []

    def start(delays):
        target = f"http://127.0.0.1:{upstream.server_port}"
        server = asyncio.run_coroutine_threadsafe(delayed_proxy.start(target, 0, delays), loop).result()
        servers.append(server)
        return server.sockets[0].getsockname()[:2]

    yield start

    async def stop():
        for server in servers:
            server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run_coroutine_threadsafe(stop(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    upstream.shutdown()
    for thread in threads:
        thread.join()
    upstream.server_close()
    loop.close()


def test_requests_of_one_connection_arrive_as_they_were_sent_each_after_its_delay(proxied):
    delays = itertools.cycle([DELAY_S])
    connection = http.client.HTTPConnection(*proxied(delays))
    large = bytes(range(256)) * 4_000
    requests = [
        ("GET", "/bucket/a?list-type=2", None),
        ("PUT", "/bucket/b", large),
        ("PUT", "/bucket/c", iter([b"first ", b"second"])),  # without a length: in chunks
        ("DELETE", "/bucket/b", None),
    ]
    began_s = time.monotonic()
    answers = []
    for method, path, body in requests:
        connection.request(method, path, body)
        answers.append(connection.getresponse().read())
    took_s = time.monotonic() - began_s
    connection.close()
    bodies = (b"", large, b"first second", b"")
    expected = [f"{m} {p} ".encode() + body for (m, p, _), body in zip(requests, bodies, strict=True)]
    assert answers == expected
    assert took_s >= len(requests) * DELAY_S


def test_a_client_that_waits_for_leave_to_send_gets_it(proxied):
    connection = http.client.HTTPConnection(*proxied(itertools.repeat(0.0)))
    connection.putrequest("PUT", "/bucket/a")
    connection.putheader("Content-Length", "3")
    connection.putheader("Expect", "100-continue")
    connection.endheaders()
    assert connection.sock.recv(100).startswith(b"HTTP/1.1 100")
    connection.send(b"abc")
    assert connection.getresponse().read() == b"PUT /bucket/a abc"
    connection.close()


def test_requests_of_several_connections_wait_at_the_same_time(proxied):
    address, count = proxied(itertools.repeat(4 * DELAY_S)), 50
    statuses = []

    def get():
        connection = http.client.HTTPConnection(*address)
        connection.request("GET", "/bucket/a")
        statuses.append(connection.getresponse().status)
        connection.close()

    threads = [threading.Thread(target=get) for _ in range(count)]
    began_s = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * count
    assert 4 * DELAY_S <= time.monotonic() - began_s < count * 4 * DELAY_S / 2


def test_delays_follow_from_the_seed_and_are_log_normal():
    first, again, other = (
        list(itertools.islice(delayed_proxy.delays_s(30.0, 0.4, seed), 4_000)) for seed in (1, 1, 2)
    )
    assert first == again != other
    assert median(first) == pytest.approx(0.030, rel=0.03)
    assert stdev(map(math.log, first)) == pytest.approx(0.4, rel=0.05)


def test_a_target_that_is_no_address_is_refused():
    with pytest.raises(ValueError, match="not an address"):
        asyncio.run(delayed_proxy.start("127.0.0.1:9000", 0, itertools.repeat(0.0)))
