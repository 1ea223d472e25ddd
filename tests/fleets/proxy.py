# SPDX-License-Identifier: GPL-2.0-or-later
"""The way of one host to the server: a socket that hands on what comes, until it is cut, swallows everything, is
slow, or something happens at a certain request."""
import os
import socket
import threading
import time


class Window:
    """What is to happen once, when a request has all of these words."""

    def __init__(self, name, words, moment, action):
        self.name, self.words, self.action = name, words, action
        self.opened = False
        self.moment = moment        # "before" it goes to the server; "between" it and its answer; "behind" that

    def fits(self, request):
        return all(word in request for word in self.words)


class Proxy:
    def __init__(self, path, server):
        """server(): the path of the one that is behind it."""
        self.path, self.server = path, server
        self.lock, self.acting = threading.Condition(), threading.Lock()
        self.cut = self.swallows = False
        self.delay = 0.0
        self.window = None
        self.pairs = set()
        self.ends = self.quiet = False
        self.listener = socket.socket(socket.AF_UNIX)
        if os.path.exists(path):
            os.unlink(path)
        self.listener.bind(path)
        self.listener.listen(16)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while not self.ends:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                if self.cut:
                    raise ConnectionError
                server.connect(self.server())
            except OSError:
                client.close()
                server.close()
                continue
            pair = (client, server)
            with self.lock:
                self.pairs.add(pair)
            waiting = []            # a window whose answer is to come
            for source, target, requests in ((client, server, True), (server, client, False)):
                threading.Thread(target=self.hand_on, args=(pair, source, target, requests, waiting),
                                 daemon=True).start()

    def close(self, pair):
        with self.lock:
            self.pairs.discard(pair)
            self.lock.notify_all()
        for each in pair:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            each.close()

    def happen(self, window):
        with self.acting:
            if not self.quiet and not window.opened:
                window.opened = True
                window.action(self)

    def calm(self):
        """Nothing happens in windows from here on."""
        self.quiet = True
        with self.acting:
            self.window = None

    def take_window(self, data):
        with self.lock:
            window = self.window
            if window and window.fits(data):
                self.window = None
                return window
        return None

    def hand_on(self, pair, source, target, requests, waiting):
        try:
            while True:
                data = source.recv(1 << 18)
                if not data:
                    break
                window = self.take_window(data) if requests else waiting.pop() if waiting else None
                if window and (window.moment == "before" or not requests and window.moment == "between"):
                    self.happen(window)
                elif window and requests:
                    waiting.append(window)
                self.let_through(pair)
                target.sendall(data)
                if window and not requests and window.moment == "behind":
                    self.happen(window)
        except OSError:
            pass
        self.close(pair)

    def let_through(self, pair):
        if self.delay:
            time.sleep(self.delay)
        with self.lock:
            while self.swallows and pair in self.pairs:
                self.lock.wait(1)

    def cut_off(self):
        """All connections, for now."""
        for pair in list(self.pairs):
            self.close(pair)

    def partition(self):
        self.cut = True
        self.cut_off()

    def swallow(self):
        self.swallows = True

    def heal(self):
        with self.lock:
            self.cut = self.swallows = False
            self.delay = 0.0
            self.lock.notify_all()

    def end(self):
        self.ends = True
        self.listener.close()
        self.heal()
        self.cut_off()
