# SPDX-License-Identifier: GPL-2.0-or-later
"""The faults, one function each. What they break heals by itself after a while, or at the end of the round.

A window is a moment that dice seldom meet: something happens right before a certain request of a host reaches the
server, or between that and its answer, or right behind it."""
import signal
import time

from proxy import Window

POINTS = ("fleet-published", "fleet-begun", "commit-before", "commit-after", "apply-dirty", "apply-half", "apply-step",
          "apply-done", "publish-before", "publish-swapped", "rotate-built", "rotate-replayed", "rotate-recorded")
LOG = "xb:{test}:log"
PATIENCE = 8        # seconds until a window opens


def some_host(fleet):
    number = fleet.dice.randrange(len(fleet.hosts))
    return fleet.hosts[number], fleet.proxies[number]


def host_killed(fleet):
    host, _ = some_host(fleet)
    host.down_until = time.monotonic() + fleet.dice.random() * 3
    host.kill()


def host_at_point(fleet):
    """Counted when it dies there."""
    host, _ = some_host(fleet)
    if not host.lives() or host.point:
        return host_killed(fleet)
    host.kill()
    host.start("%s:%d" % (fleet.dice.choice(POINTS), fleet.dice.randint(1, 12)))
    return None


def host_paused(fleet):
    host, _ = some_host(fleet)
    host.signal(signal.SIGSTOP)
    fleet.after(0.3 + fleet.dice.random() * 3, lambda: host.signal(signal.SIGCONT))


def host_partitioned(fleet):
    _, proxy = some_host(fleet)
    proxy.partition()
    fleet.after(fleet.dice.random() * 3, proxy.heal)


def host_swallowed(fleet):
    """What is sent is not answered."""
    _, proxy = some_host(fleet)
    proxy.swallow()
    fleet.after(0.5 + fleet.dice.random() * 4, proxy.heal)


def host_slow(fleet):
    _, proxy = some_host(fleet)
    proxy.delay = 0.02 + fleet.dice.random() * 0.3
    fleet.after(1 + fleet.dice.random() * 3, proxy.heal)


def clock_stepped(fleet):
    host, _ = some_host(fleet)
    host.step_clock(fleet.dice.randint(-600, 600))


def disk_full(fleet):
    host, _ = some_host(fleet)
    host.fill_disk()
    fleet.after(0.5 + fleet.dice.random() * 2, host.free_disk)


def server_killed(fleet):
    fleet.server.die(fleet.dice.random() * 2, fleet.server.come_back_whole)


def server_paused(fleet):
    one = fleet.server.one
    one.signal(signal.SIGSTOP)
    fleet.after(0.3 + fleet.dice.random() * 2, lambda: one.signal(signal.SIGCONT))


def server_killed_without_aof(fleet):
    fleet.lost = True
    fleet.server.die(fleet.dice.random() * 2, fleet.server.come_back_empty)


def server_flushed(fleet):
    fleet.lost = True
    fleet.server.ask("FLUSHALL")


def old_backup(fleet):
    """One of this or of earlier rounds."""
    if not fleet.server.backups:    # a busy server has not answered
        return server_killed(fleet)
    fleet.lost = True
    backup = fleet.dice.choice(fleet.server.backups)
    fleet.server.die(fleet.dice.random() * 2, lambda: fleet.server.come_back_from(backup))
    return None


def tail_lost(fleet):
    """As by a restart without the last second."""
    fleet.server.backup()
    if not fleet.server.backups:
        return server_killed(fleet)
    fleet.lost = True
    backup = fleet.server.backups[-1]
    fleet.after(0.2 + fleet.dice.random() * 2,
                lambda: fleet.server.die(fleet.dice.random(), lambda: fleet.server.come_back_from(backup)))
    return None


def failed_over(fleet):
    """To a replica that has not got the last of it."""
    server = fleet.server
    if server.down_until is not None or server.ask("PING") != "+PONG":
        return server_killed(fleet)
    fleet.lost = True
    server.begin_replica()
    fleet.tick()
    server.other.signal(signal.SIGSTOP)
    fleet.after(fleet.dice.random() * 2, lambda: server.die(fleet.dice.random(), server.promote))
    return None


def log_trimmed(fleet):
    """Beyond those that are away; never empty."""
    fleet.server.ask("XTRIM", LOG, "MAXLEN", fleet.dice.randint(1, 4))


EDGES = (0, 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1)


def forged(fleet):
    """By somebody who can write to the server and has not the fleet's secret: an entry at an edge of what ids can be,
    or next to the last one. The server itself refuses ids that are not behind the last one."""
    found = fleet.server.ask("XREVRANGE", LOG, "+", "-", "COUNT", 1)
    last = int(found[0][0].split(b"-")[0]) if isinstance(found, list) and found else 0
    identity = "%d-%d" % (fleet.dice.choice(EDGES + (last, last, last + 1, last + 2)), fleet.dice.choice(EDGES))
    field, entry = fleet.dice.choice((b"e", b"f")), fleet.dice.randbytes(fleet.dice.randint(0, 200))
    if isinstance(found, list) and found and fleet.dice.randrange(2):
        entry = found[0][1][1]
    fleet.note("forged %s: %s" % (identity, fleet.server.ask("XADD", LOG, identity, field, entry)))


def two_publish(fleet):
    """Two hosts at once: what both had to publish meets at the same end of the log."""
    pair = fleet.dice.sample(range(len(fleet.hosts)), 2)
    for number in pair:
        fleet.proxies[number].swallow()

    def release():
        for number in pair:
            fleet.proxies[number].heal()
    fleet.after(0.5 + fleet.dice.random(), release)


# --- windows ---

def flush(fleet, _host, _proxy):
    fleet.lost = True
    fleet.server.ask("FLUSHALL")


def resync(_fleet, host, _proxy):
    host.ctl("fleet", "resync")


def lose_tail(fleet, _host, _proxy):
    tail_lost(fleet)


def nothing(_fleet, _host, _proxy):
    pass


# What the host is about to do: words of that request, and what makes a host do it.
REQUESTS = {"publishing": ((b"EXEC",), nothing), "looking at the end": ((b"WATCH",), nothing),
            "looking again": ((b"UNWATCH",), nothing),
            "beginning": ((b"XADD", b"snapshot"), flush), "taking the lease": ((b"lease", b"NX"), flush),
            "sending a chunk": ((b"SET", b":chunk:"), flush), "resyncing": ((b"GET", b":chunk:"), resync),
            "asking for the snapshot": ((b"GET", b":snapshot"), resync),
            "rewinding": ((b"XREVRANGE", b"COUNT\r\n$2\r\n20"), lose_tail)}
ENDS = ("host killed", "host killed", "host paused", "cut", "swallowed", "server killed", "flushed", "trimmed")


def end_of(fleet, what):
    """What happens in the window, to the host that opened it."""
    server, pause, gone = fleet.server, 0.5 + fleet.dice.random() * 2, fleet.dice.random() * 2
    wait = fleet.dice.choice((0, 0, 0.002, 0.01, 0.03))

    def happen(proxy):
        host = fleet.hosts[fleet.proxies.index(proxy)]
        time.sleep(wait)
        if what == "host killed":
            host.down_until = time.monotonic() + gone
            host.kill()
        elif what == "host paused":
            host.signal(signal.SIGSTOP)
            time.sleep(pause)
            host.signal(signal.SIGCONT)
        elif what == "cut":
            proxy.cut_off()
        elif what == "swallowed":
            proxy.swallow()
            fleet.after(pause, proxy.heal)
        elif what == "server killed":
            server.die(gone, server.come_back_whole)
        elif what == "flushed":
            flush(fleet, host, proxy)
        else:
            server.ask("XTRIM", LOG, "MAXLEN", 1)
    return happen


def window(fleet):
    """Waits until it opens."""
    name, (words, provoke) = fleet.dice.choice(sorted(REQUESTS.items()))
    moment, what = fleet.dice.choice(("before", "between", "behind")), fleet.dice.choice(ENDS)
    opening = Window("%s, %s" % (name, what), words, moment, end_of(fleet, what))
    host, proxy = some_host(fleet)
    fleet.note("%s: %s %s" % (host.name, moment, opening.name))
    for each in fleet.proxies if provoke in (flush, lose_tail) else [proxy]:
        each.window = opening
    provoke(fleet, host, proxy)
    until = time.monotonic() + PATIENCE
    while not opening.opened and time.monotonic() < until:
        fleet.tick()
        time.sleep(0.01)
    fleet.windows[opening.name if opening.opened else "that did not open"] += 1


FAULTS = ((host_killed, 5), (host_at_point, 5), (host_paused, 5), (host_partitioned, 5), (host_swallowed, 4),
          (host_slow, 3), (clock_stepped, 4), (disk_full, 3), (server_killed, 4), (server_paused, 3),
          (server_killed_without_aof, 2), (server_flushed, 2), (old_backup, 2), (tail_lost, 3), (failed_over, 3),
          (log_trimmed, 4), (forged, 5), (two_publish, 3), (window, 16))


def one(fleet):
    fault = fleet.dice.choices([each for each, _ in FAULTS], [weight for _, weight in FAULTS])[0]
    name = fault.__name__.replace("_", " ")
    fleet.note(name)
    fault(fleet)
    fleet.count[name] += 1
