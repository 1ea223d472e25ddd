# SPDX-License-Identifier: GPL-2.0-or-later
"""faraway.py HOST PORT TO-PORT SECONDS: passes on what comes to PORT to TO-PORT of HOST, either way so many
seconds later, as a network does in which the two are far from each other."""
import asyncio
import collections
import socket
import sys

CHUNK = 1 << 18


async def carry(reader, writer, delay):
    """In the order in which it came; what is behind it does not wait for what is in front."""
    loop, wake, under_way = asyncio.get_running_loop(), asyncio.Event(), collections.deque()

    async def deliver():
        while True:
            while not under_way:
                wake.clear()
                await wake.wait()
            due, got = under_way.popleft()
            await asyncio.sleep(max(0, due - loop.time()))
            if not got:
                writer.close()
                return
            writer.write(got)

    task = loop.create_task(deliver())
    got = b"-"
    while got:
        try:
            got = await reader.read(CHUNK)
        except OSError:
            got = b""
        under_way.append((loop.time() + delay, got))
        wake.set()
    await task


async def main(host, port, to_port, delay):
    async def connected(reader, writer):
        there, back = await asyncio.open_connection(host, to_port)
        for each in (writer, back):
            each.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.gather(carry(reader, back, delay), carry(there, writer, delay), return_exceptions=True)

    server = await asyncio.start_server(connected, host, port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
