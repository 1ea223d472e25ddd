#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""flood.py SOURCE DESTINATION PORT [LEAST]: sends datagrams until SIGTERM and at least so many, some thousands a second;
says `ready`, and how many it was."""
import signal
import socket
import sys
import time

STEP = 0.0001


def main():
    going = True

    def stop(_number, _frame):
        nonlocal going
        going = False

    signal.signal(signal.SIGTERM, stop)
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.bind((sys.argv[1], 0))
    sent, least = 0, int((sys.argv + [0])[4])
    while going or sent < least:
        link.sendto(b"flood", (sys.argv[2], int(sys.argv[3])))
        sent += 1
        if sent == 1:
            print("ready", flush=True)
        time.sleep(STEP)
    print(sent)


main()
