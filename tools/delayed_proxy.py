"""A proxy that delays each HTTP request, so that a local S3 server answers as slowly as an object store.

    .venv/bin/python -P -m tools.delayed_proxy http://127.0.0.1:9000 --port 9100 --median-ms 30 --sigma 0.4

Point `s3.endpoint` at the proxy. Delays are log-normal, drawn from the seed in the order in which requests
arrive. With the defaults half of them are longer than 30 ms, 5 % longer than 58 ms. Requests of different
connections wait at the same time and use no CPU meanwhile. The server's own time and the copying come on top.
Not modelled are throughput, throttling, TLS and the time to open a connection.

Requests are forwarded as they are, so signatures stay valid for servers that take the Host header as it is.
"""

import argparse
import asyncio
import math
import random
import sys
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

_CHUNK_BYTES = 2**16
_HEAD_BYTES_MAX = 2**20


def delays_s(median_ms: float, sigma: float, seed: int) -> Iterator[float]:
    """Endless; `sigma` is the standard deviation of the delay's logarithm."""
    draw = random.Random(seed)
    while True:
        yield draw.lognormvariate(math.log(median_ms / 1000), sigma)


async def start(target: str, port: int, delays: Iterator[float]) -> asyncio.Server:
    """A proxy on loopback that forwards to the address `target`; with port 0 on a free port."""
    parts = urlsplit(target)
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError(f"{target}: not an address such as http://127.0.0.1:9000")

    async def connected(client: StreamReader, to_client: StreamWriter) -> None:
        server, to_server = await asyncio.open_connection(parts.hostname, parts.port or 80)
        directions = [_forward_requests(client, to_server, delays), _copy(server, to_client)]
        tasks = [asyncio.create_task(direction) for direction in directions]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            to_client.close()
            to_server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    return await asyncio.start_server(connected, "127.0.0.1", port, limit=_HEAD_BYTES_MAX)


async def _forward_requests(client: StreamReader, server: StreamWriter, delays: Iterator[float]) -> None:
    """Until the client closes the connection. Answers need no parsing: they come back as they are."""
    with suppress(asyncio.IncompleteReadError):
        while True:
            head = await client.readuntil(b"\r\n\r\n")
            await asyncio.sleep(next(delays))
            server.write(head)
            await _forward_body(head, client, server)


async def _forward_body(head: bytes, client: StreamReader, server: StreamWriter) -> None:
    lines = [line.lower().partition(b":") for line in head.split(b"\r\n")[1:-2]]
    fields = {name: value.strip() for name, _, value in lines}
    if not fields.get(b"transfer-encoding", b"").endswith(b"chunked"):
        await _forward_bytes(int(fields.get(b"content-length", 0)), client, server)
        return
    size = -1
    while size:
        line = await client.readuntil(b"\r\n")
        server.write(line)
        size = int(line.partition(b";")[0], 16)
        await _forward_bytes(size + 2 if size else 0, client, server)
    while line != b"\r\n":  # trailing fields, then an empty line
        line = await client.readuntil(b"\r\n")
        server.write(line)
    await server.drain()


async def _forward_bytes(count: int, client: StreamReader, server: StreamWriter) -> None:
    while count:
        piece = await client.read(min(count, _CHUNK_BYTES))
        if not piece:
            raise asyncio.IncompleteReadError(b"", count)
        server.write(piece)
        await server.drain()
        count -= len(piece)


async def _copy(source: StreamReader, target: StreamWriter) -> None:
    while piece := await source.read(_CHUNK_BYTES):
        target.write(piece)
        await target.drain()


async def _serve(options: argparse.Namespace) -> None:
    delays = delays_s(options.median_ms, options.sigma, options.seed)
    server = await start(options.target, options.port, delays)
    host, port = server.sockets[0].getsockname()[:2]
    print(f"http://{host}:{port} delays requests to {options.target}", flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(prog="delayed_proxy", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("target", help="the S3 server's address, such as http://127.0.0.1:9000")
    parser.add_argument("--port", type=int, default=9100)
    parser.add_argument("--median-ms", type=float, default=30.0)
    parser.add_argument("--sigma", type=float, default=0.4)
    parser.add_argument("--seed", type=int, default=20260101)
    try:
        asyncio.run(_serve(parser.parse_args()))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
