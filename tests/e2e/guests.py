#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guests.py serve READY: gives back each line that comes to port 7800.
guests.py stay COUNT: a connection from each of COUNT addresses of either family, which known.sh has. Each exchanges a line, says
`ready` when all have, and exchanges lines until standard input ends, and once more then. Then each connects anew. Says how many
of the first connections went on to the end, and how many of the others were made."""
import asyncio
import sys

PORT = 7800
PATIENCE = 60


def ends_of(number):
    """Even ones IPv4, odd ones a /64 of their own."""
    if number % 2:
        return "fd78:0:0:%x::9" % (number // 2), "fd77::1"
    return "10.78.%d.%d" % (number // 512, number // 2 % 256), "10.77.0.1"


async def give_back(reader, writer):
    while line := await reader.readline():
        writer.write(line)
    writer.close()


async def serve(ready):
    server = await asyncio.start_server(give_back, "0.0.0.0", PORT, backlog=4096)
    other = await asyncio.start_server(give_back, "::", PORT, backlog=4096)
    with open(ready, "w", encoding="ascii") as file:
        file.write("ready\n")
    await asyncio.gather(server.serve_forever(), other.serve_forever())


async def connect(number):
    source, server = ends_of(number)
    return await asyncio.open_connection(server, PORT, local_addr=(source, 0))


async def exchange(connection):
    reader, writer = connection
    writer.write(b"hello\n")
    if await asyncio.wait_for(reader.readline(), PATIENCE) != b"hello\n":
        raise ConnectionError


async def through(actions):
    """How many of them end well."""
    done = await asyncio.gather(*actions, return_exceptions=True)
    return sum(not isinstance(one, BaseException) for one in done)


async def first(number, connections):
    connections.append(await asyncio.wait_for(connect(number), PATIENCE))
    await exchange(connections[-1])


async def go_on(connection, ended):
    while not ended.is_set():
        await exchange(connection)
        await asyncio.sleep(0.2)
    await exchange(connection)


async def stay(count):
    connections, ended, anew = [], asyncio.Event(), []
    if await through(first(number, connections) for number in range(count)) != count:
        sys.exit("not all connect at first")
    asyncio.get_running_loop().add_reader(sys.stdin, ended.set)
    print("ready", flush=True)
    went_on = await through(go_on(connection, ended) for connection in connections)
    asyncio.get_running_loop().remove_reader(sys.stdin)
    print(went_on, await through(first(number, anew) for number in range(count)))


asyncio.run(serve(sys.argv[2]) if sys.argv[1] == "serve" else stay(int(sys.argv[2])))
