#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""api.py SOCKET PID TEST: clients of bloomd's socket that behave in one way or another; PID is that of
bloomd. Ends with 0, or prints what is wrong."""
import os
import resource
import select
import signal
import socket
import sys
import threading
import time

import redis

PATH, PID, TEST = sys.argv[1:]
MIB = 1 << 20


def must(holds, what):
    if not holds:
        sys.exit("%s: %s" % (TEST, what))


def connect(path=PATH):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(30)
    client.connect(path)
    return client


def request(*words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def everything(client):
    """Until the other side closes."""
    said = b""
    while True:
        try:
            more = client.recv(65536)
        except ConnectionResetError:
            return said
        if not more:
            return said
        said += more


def answer(client, *words):
    client.sendall(request(*words))
    return client.recv(65536)


def python():
    """What people do with redis-py."""
    api = redis.Redis(unix_socket_path=PATH, decode_responses=True, client_name="tester")
    must(api.ping() and api.client_getname() == "tester", "PING, CLIENT GETNAME")
    must(api.sadd("p", "192.0.2.1", "192.0.2.2", "evil.example") == 3, "SADD")
    later = int(time.time()) + 1000
    must(api.zadd("p", {"192.0.2.7": later}) == 1 and api.zscore("p", "192.0.2.7") == later, "ZADD")
    must(api.zadd("p", {"192.0.2.7": later + 5}, ch=True, gt=True) == 1, "ZADD GT")
    must(api.zadd("p", {"192.0.2.7": later}, ch=True, gt=True) == 0, "ZADD GT of an earlier time")
    must(api.zadd("p", {"192.0.2.7": later}, ch=True, lt=True) == 1, "ZADD LT")
    must(api.zadd("p", {"192.0.2.7": later + 9}, ch=True, nx=True) == 0, "ZADD NX")
    must(api.zadd("p", {"192.0.2.8": later}, xx=True) == 0 and api.zscore("p", "192.0.2.8") is None, "ZADD XX")
    must(api.zadd("p", {"192.0.2.7": float("inf")}, ch=True, gt=True) == 1, "ZADD of no end")
    must(api.zscore("p", "192.0.2.7") == float("inf"), "ZSCORE of no end")
    names = {"10.9.%d.%d" % (i >> 8, i & 255) for i in range(20000)}
    with api.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.sadd("many", name)
        pipeline.scard("many")
        answers = pipeline.execute()
    must(answers == [1] * 20000 + [20000], "a pipeline")
    must(set(api.sscan_iter("many", count=700)) == names, "SSCAN")
    found = set(api.sscan_iter("many", match="10.9.1.2?"))
    must(found == {"10.9.1.%d" % i for i in range(20, 30)}, "SSCAN MATCH: %s" % found)
    with api.pipeline(transaction=False) as pipeline:
        pipeline.sadd("p", "1.2.3.4").sadd("p", "0.0.0.0/1").sadd("p", "1.2.3.5").smembers("p")
        answers = pipeline.execute(raise_on_error=False)
    must(answers[0] == 1 and answers[2] == 1, "beside a refused one: %s" % answers)
    must(isinstance(answers[1], redis.ResponseError), "it is refused in a pipeline")
    must("shorter than /8" in str(answers[1]) and "use SSCAN" in str(answers[3]), "what is said of both: %s" % answers)
    info = api.info()
    must(info["connected_clients"] >= 1 and info["ipv4_hosts"] >= 20000, "INFO: %s" % info)
    must(len(api.client_list()) >= 1, "CLIENT LIST")


def culprit():
    """One request fails within the transaction; those that came with it do not."""
    api = redis.Redis(unix_socket_path=PATH)
    with api.pipeline(transaction=False) as pipeline:
        for i in range(14):
            pipeline.sadd("list%d" % i, "192.0.2.1")
        must(pipeline.execute() == [1] * 14, "as many lists as an entry can be in")
        for i in range(100):
            pipeline.sadd("good", "192.0.2.%d" % (i + 2))
            if i == 37:
                pipeline.sadd("one-more", "192.0.2.1", "192.0.2.200")
        pipeline.scard("good")
        answers = pipeline.execute(raise_on_error=False)
    must("at most 4096 lists" in str(answers.pop(38)), "the culprit")
    must(answers == [1] * 100 + [100], "the others: %s" % answers)
    must(not api.exists("one-more"), "of the culprit something is done")


def wrong():
    """What is no request is answered and ends the connection; what stood before it is done."""
    for text, why in ((b"*2\r\n$4\r\nECHO\r\n$1048576\r\n", b"too large"), (b"x" * 5000, b"too big")):
        client = connect()
        client.sendall(request("PING") + text)
        said = everything(client)
        must(said.startswith(b"+PONG\r\n-ERR Protocol error: ") and why in said, "%s: %s" % (text[:20], said))
    must(answer(connect(), "PING\r\n+OK", "a\r\nb").count(b"\n") == 1, "a word that is shown ends the line")
    must(answer(connect(), "SADD", "a\0b", "192.0.2.1")[:1] == b"-", "a key with a NUL")
    must(answer(connect(), "SADD", "a", b"192.0.2.1\0")[:1] == b"-", "an entry with a NUL")


def pieces():
    """Requests that come byte by byte, in words, half, and before the end."""
    client = connect()
    for byte in request("SADD", "s", "192.0.2.1") + b"SCARD s\r\n":
        client.sendall(bytes([byte]))
        time.sleep(0.001)
    said = b""
    while said.count(b"\n") < 2:
        said += client.recv(100)
    must(said == b":1\r\n:1\r\n", "byte by byte: %s" % said)
    client = connect()
    client.sendall(request("SADD", "s", "192.0.2.2") + request("SADD", "s", "192.0.2.3")[:-4])
    client.close()
    client = connect()
    client.sendall(request("SADD", "s", "192.0.2.4"))
    client.shutdown(socket.SHUT_WR)
    must(everything(client) == b":1\r\n", "one that has sent all gets its answer")
    must(answer(connect(), "SMISMEMBER", "s", "192.0.2.2", "192.0.2.3") == b"*2\r\n:1\r\n:0\r\n",
         "half a request is done")
    large = ["10.%d.%d.%d" % (1 + i % 3, i >> 8 & 255, i & 255) for i in range(40000)]
    must(answer(connect(), "SADD", "large", *large) == b":40000\r\n", "a large request")


def memory():
    """Resident, in MiB."""
    with open("/proc/%s/statm" % PID) as file:
        return int(file.read().split()[1]) * 4096 / MIB


def worked():
    """Seconds of processors that bloomd took so far. A busy machine makes others wait, but does not add to these."""
    total = 0
    for task in os.listdir("/proc/%s/task" % PID):
        with open("/proc/%s/task/%s/schedstat" % (PID, task)) as file:
            total += int(file.read().split()[0])
    return total / 1e9


def send_more(client, text, sent, once=False):
    """As much of the text, again and again, as the other side takes now; returns how many bytes it took so far."""
    client.setblocking(False)
    try:
        if not once or sent < len(text):
            sent += client.send(text[sent % len(text):])
    except BlockingIOError:
        pass
    except ConnectionError:
        if not once:
            raise
        sent = len(text)
    client.setblocking(True)
    return sent


def silent():
    """Clients that never read: each holds little, and others are served."""
    other, before = connect(), memory()
    clients, text = [connect() for _ in range(20)], request("ECHO", b"x" * 1000) * 1000
    sent, works, until = [0] * len(clients), [], time.time() + 2
    while time.time() < until or len(works) < 100:
        sent = [send_more(client, text, size) for client, size in zip(clients, sent)]
        begun = worked()
        must(answer(other, "PING") == b"+PONG\r\n", "another is served")
        works.append(worked() - begun)
    # Before another is answered, bloomd does a small part of what there is to do. Some may fall into other work.
    must(sorted(works)[-3] < sum(works) / 4, "of %.4f s of work another waits for %s" % (sum(works), sorted(works)[-3:]))
    must(memory() - before < 60, "it holds %.0f MiB, of %.0f" % (memory() - before, sum(sent) / MIB))
    # What it had sent is there once it reads.
    client, got = clients[0], 0
    client.settimeout(30)
    try:
        while got <= 300000:
            got += len(client.recv(65536))
    except socket.timeout:
        pass
    must(got > 300000, "only %d bytes are there to read" % got)
    for client in clients:
        client.close()
    # Each may have half a request, but not all of them.
    text, halves = b"*2\r\n$4\r\nECHO\r\n$1048000\r\n" + b"x" * 1000000, {}
    for _ in range(150):
        halves[connect()] = 0
    until = time.time() + 3
    while time.time() < until and min(halves.values()) < len(text):
        for client, at in halves.items():
            halves[client] = send_more(client, text, at, once=True)
        must(answer(other, "PING") == b"+PONG\r\n", "another is served beside halves")
    must(memory() - before < 120, "halves hold %.0f MiB" % (memory() - before))


def crowd():
    """A thousand clients; one more takes the place of the one that was idle for longest."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    clients = [connect() for _ in range(1000)]
    for number, client in enumerate(clients):
        client.sendall(request("SADD", "crowd", "10.8.%d.%d" % (number >> 8, number & 255)))
    for client in clients:
        must(client.recv(100) == b":1\r\n", "one of a thousand")
    for client in clients[:500]:
        must(answer(client, "SCARD", "crowd") == b":1000\r\n", "SCARD")
    more = [connect() for _ in range(10)]
    for client in more:
        must(answer(client, "PING") == b"+PONG\r\n", "one more")
    for client in clients[:500]:
        must(answer(client, "PING") == b"+PONG\r\n", "one that was not idle for longest")
    ready = select.poll()
    for client in clients[500:]:
        ready.register(client, select.POLLIN)
    gone = len(ready.poll(0))
    must(gone == 10, "%d of those idle for longest made room for 10" % gone)


def until_full(client, text):
    """Sends, and reads nothing, until the other side takes no more for a while; returns how many bytes it took."""
    sent = 0
    while select.select([], [client], [], 0.3)[1]:
        sent = send_more(client, text, sent)
    return sent


def unread():
    """Twenty clients of query.sock, as many as it takes, never read: they cost api.sock nothing, make room for others,
    and are dropped. One that reads on stays."""
    text, query = request("ECHO", b"x" * 1000) * 1000, PATH.replace("api.sock", "query.sock")
    clients = {client: 0 for client in [connect(query) for _ in range(20)]}
    for client in clients:
        clients[client] = until_full(client, text)
    must(answer(connect(), "SADD", "u", "192.0.2.1") == b":1\r\n", "one that writes is locked out")
    until = time.time() + 30
    while answer(connect(query), "PING") != b"+PONG\r\n":
        must(time.time() < until, "one that asks is locked out")
        time.sleep(0.1)
    reader = connect(query)
    sent = until_full(reader, text)
    ready, gone = select.poll(), set()
    for client in clients:
        ready.register(client, 0)
    until = time.time() + 60
    while len(gone) < len(clients):
        must(time.time() < until, "of %d who never read %d are dropped" % (len(clients), len(gone)))
        must(reader.recv(1 << 17), "one that reads is dropped")
        sent = send_more(reader, text, sent)
        # bloomd may take more later, if it had no time before.
        for client in clients:
            if client.fileno() not in gone:
                try:
                    clients[client] = send_more(client, text, clients[client])
                except ConnectionError:
                    pass
        gone.update(number for number, event in ready.poll(100) if event & select.POLLHUP)


def whole(client, lines):
    """An answer of so many lines."""
    said = b""
    while said.count(b"\n") < lines and said[:1] != b"-":
        said += client.recv(1 << 20)
    return said


def slices():
    """Long answers: others are served meanwhile, and each is whole."""
    query = PATH.replace("api.sock", "query.sock")
    must(answer(connect(), "SADD", "s", "2001:db8::/32", "192.0.2.0/24") == b":2\r\n", "SADD")
    asked = ["1::1", "2001:db8::1", "1::2", "192.0.2.1"] * 250
    wanted = b"*1000\r\n" + b":0\r\n:1\r\n:0\r\n:1\r\n" * 250
    # A minute of work, of which nobody waits for the end.
    endless = [connect(query) for _ in range(24)]
    clients = [connect(query) for _ in range(2)]
    others = [connect(), connect(query)]
    for client in endless:
        client.sendall(request("BF.MEXISTS", "s", *asked * 65))
    for client in clients:
        client.sendall(request("BF.MEXISTS", "s", *asked))
    for turn in range(20):
        for other in others:
            must(answer(other, "SISMEMBER", "s", "192.0.2.0/24") == b":1\r\n", "another is served")
        must(answer(others[0], "SADD", "t", "192.0.2.%d" % turn) == b":1\r\n", "one that writes is served")
    must(not select.select(endless, [], [], 0)[0], "others wait until a long answer is made")
    for client in clients:
        must(whole(client, 1001) == wanted, "a long answer")
    for client in endless:
        client.close()
    client = connect(query)
    # As rspamd asks: what covers the one in front of it is not there again, also where a turn ends between the two.
    client.sendall(request("HMGET", "s", *["192.0.2.9", "192.0.2.8/31", "192.0.2.8/30"] * 10000))
    must(whole(client, 40001) == b"*30000\r\n" + b"$1\r\n1\r\n$-1\r\n$-1\r\n" * 10000, "HMGET")
    client.sendall(request("ZMSCORE", "s", *["192.0.2.0/24", "192.0.2.9"] * 15000))
    must(whole(client, 45001) == b"*30000\r\n" + b"$3\r\ninf\r\n$-1\r\n" * 15000, "ZMSCORE")
    client.sendall(request("BF.MEXISTS", "s", *asked, "no entry") + request("PING"))
    said = whole(client, 2)
    must(said.startswith(b"-ERR 'no entry' ") and said.count(b"\n") <= 2, "one that fails at its end: %s" % said[:80])
    # A pattern that costs much for each member.
    must(answer(connect(), "SADD", "p", *["10.%d.%d.%d" % (i >> 16, i >> 8 & 255, i & 255) for i in range(20000)]) ==
         b":20000\r\n", "SADD")
    client = connect(query)
    client.sendall(request("SSCAN", "p", "0", "MATCH", b"*" * 1000000 + b"x") * 3)
    begun = worked()
    must(answer(others[1], "PING") == b"+PONG\r\n", "one beside a scan")
    must(worked() - begun < 2, "it waits for %.1f s of a scan" % (worked() - begun))


def together():
    """Clients at the same time; their changes of the same entries are done one after the other."""
    wrong = []

    def work(number):
        client, mine = connect(), "10.7.%d.1" % number
        for turn in range(100):
            text = request("SADD", "t", mine, "10.7.200.1") + request("SISMEMBER", "t", mine)
            text += request("SREM", "t", mine) + request("SISMEMBER", "t", mine)
            client.sendall(text)
            said = b""
            while said.count(b"\n") < 4:
                said += client.recv(1000)
            if said not in (b":1\r\n:1\r\n:1\r\n:0\r\n", b":2\r\n:1\r\n:1\r\n:0\r\n"):
                wrong.append((number, turn, said))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    must(not wrong, "%s" % wrong[:3])
    must(answer(connect(), "SCARD", "t") == b":1\r\n", "what is left")


def busy():
    """Somebody else writes: who reads is answered, who writes waits, and is told after a while."""
    writer, reader = connect(), connect()
    begun = time.time()
    writer.sendall(request("SADD", "b", "192.0.2.1"))
    time.sleep(0.3)
    must(answer(reader, "SISMEMBER", "b", "192.0.2.1") == b":0\r\n", "one that reads")
    must(not select.select([writer], [], [], 0)[0], "one that reads waits as long as one that writes")
    said = writer.recv(1000)
    must(said.startswith(b"-TRYAGAIN ") and b"writer.lock" in said, "one that writes: %s" % said)
    must(time.time() - begun > 4, "it waits for %.1f s" % (time.time() - begun))
    writer.sendall(request("SADD", "b", "192.0.2.1"))
    print("waits", flush=True)
    must(writer.recv(1000) == b":1\r\n", "when the other has ended")


def overdue():
    """Of 300,003 entries the time is over, and bloomd stands still."""
    client, reader = connect(), connect()
    client.sendall(request("SREM", "bad", "10.77.0.4") + request("BF.EXISTS", "bad", "10.77.0.5") +
                   request("SADD", "bad", "10.77.0.3") + request("SISMEMBER", "bad", "10.77.0.3") +
                   request("SCARD", "bad"))
    os.kill(int(PID), signal.SIGCONT)
    said = b""
    while said.count(b"\n") < 5:
        said += client.recv(1000)
    must(said.startswith(b":0\r\n:0\r\n:1\r\n:1\r\n:"), "what ended and is listed again: %s" % said)
    left = int(said.split(b":")[-1])
    must(left > 30000, "an answer came when all but %d were taken out" % left)
    must(answer(reader, "SISMEMBER", "bad", "9.9.9.9") == b":0\r\n", "one that has ended")
    until = time.time() + 90
    while answer(reader, "SCARD", "bad") != b":1\r\n":
        must(time.time() < until, "what has ended stays")
        time.sleep(0.01)


def waits():
    """No answer before the change is in force: bloomd stands still in the middle."""
    client = connect()
    client.sendall(request("SADD", "w", "10.77.0.5"))
    client.settimeout(0.5)
    try:
        must(False, "it is answered: %s" % client.recv(100))
    except socket.timeout:
        pass
    print("waits", flush=True)
    client.settimeout(30)
    must(client.recv(100) == b":1\r\n", "the answer")


TESTS = {test.__name__: test for test in (python, culprit, wrong, pieces, silent, unread, slices, crowd, together,
                                        busy, overdue, waits)}
TESTS[TEST]()
os._exit(0)
