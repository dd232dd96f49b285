"""A TCP proxy of the service whose connections a test ends."""

import asyncio
import contextlib
import os
from urllib.parse import urlsplit


class Proxy:
    """Passes connections to the service, once `accepts` is set, or refuses them. `cut` ends those that are open."""

    def __init__(self):
        self.connections = 0
        self.refuses = False
        self.accepts = asyncio.Event()
        self.accepts.set()
        self._writers = []

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_):
        self._server.close()
        self.cut()

    def cut(self):
        for writer in self._writers:
            writer.transport.abort()

    async def _accept(self, reader, writer):
        self.connections += 1
        self._writers.append(writer)
        if self.refuses:
            return self.cut()
        await self.accepts.wait()
        service = urlsplit(os.environ["UNDERTONE_URL"])
        other_reader, other_writer = await asyncio.open_connection(service.hostname, service.port)
        self._writers.append(other_writer)
        await asyncio.gather(self._copy(reader, other_writer), self._copy(other_reader, writer))

    async def _copy(self, reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


async def until(holds):
    for _ in range(30000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("Expected it within 5 minutes")
