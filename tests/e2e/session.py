#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""session.py serve READY: a stand-in for sshd on port 2222: a process for each TCP connection, by the
name of sshd, runs each line it gets as a shell command and sends back what that says.
session.py connect SOURCE DESTINATION: the other end, from standard input to standard output."""
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading

PORT = 2222
PR_SET_NAME = 15


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def listen():
    one = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    one.bind(("::", PORT))
    one.listen(8)
    return one


def run_session(connection):
    with connection.makefile("r") as lines:
        for line in lines:
            done = subprocess.run(["/usr/bin/env", "-i", "PATH=" + os.environ["PATH"], "HOME=/",
                                   "/bin/sh", "-c", line], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            connection.sendall(done.stdout + b"= %d\n" % done.returncode)


def serve(ready):
    ctypes.CDLL(None).prctl(PR_SET_NAME, b"sshd", 0, 0, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = listen()
    with open(ready, "w") as file:
        file.write("ready\n")
    while True:
        connection, _ = listener.accept()
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            run_session(connection)
            os._exit(0)
        connection.close()


def receive(connection):
    while True:
        data = connection.recv(4096)
        if not data:
            os._exit(0)
        sys.stdout.buffer.write(data)
        sys.stdout.flush()


def connect(source, destination):
    with socket.socket(family(source), socket.SOCK_STREAM) as one:
        one.settimeout(3)
        one.bind((source, 0))
        one.connect((destination, PORT))
        one.settimeout(None)
        threading.Thread(target=receive, args=(one,), daemon=True).start()
        for line in sys.stdin:
            one.sendall(line.encode())


if sys.argv[1] == "serve":
    serve(sys.argv[2])
else:
    connect(sys.argv[2], sys.argv[3])
