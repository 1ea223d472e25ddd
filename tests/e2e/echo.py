# SPDX-License-Identifier: GPL-2.0-or-later
"""For servers of tests: gives connections back what they send."""
import threading


def begin(connection):
    """In a thread of its own: a client that stands still keeps no other one waiting. It closes the connection."""
    threading.Thread(target=give_back, args=(connection,), daemon=True).start()


def give_back(connection):
    with connection:
        connection.settimeout(30)
        try:
            connection.sendall(connection.recv(2048))
        except OSError:
            pass
