#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""terminal.py TYPE COLUMNSxROWS STEP... -- COMMAND...: runs the command on a pseudo terminal of that
type, and draws what it writes as a vt100 and its heirs do. Steps, one after another:
    see:REGEX     a line of the screen has it within ten seconds
    lacks:REGEX   no line of the screen has it within ten seconds
    key:TEXT      typed
    size:CxR      the terminal gets this size
    signal:NAME   to the command
    hangup        the terminal goes away; then only `ends` may follow
    run:COMMAND   by the shell
    ends:CODE     the command ends with this code, -N: by signal N; the terminal has its former modes
Prints the screen and what went wrong, and ends with 1 then."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PATIENCE = 30 * int(os.environ.get("XB_TEST_PATIENCE", "1"))
# A whole sequence, or one character.
TOKEN = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z@])|\x1b[()][A-Z0-9]|\x1b[=>78M]|([^\x1b])", re.S)


class Wrong(Exception):
    """What is wrong."""


class Screen:
    """The grid, and where its cursor is."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.row = self.column = self.top = 0
        self.bottom = rows - 1
        self.last = " "
        self.lines = [" " * columns for _ in range(rows)]
        self.rest = ""

    def resize(self, columns, rows):
        self.lines = [line[:columns].ljust(columns) for line in self.lines[:rows]]
        self.lines += [" " * columns] * (rows - len(self.lines))
        self.columns, self.rows = columns, rows
        self.top, self.bottom = 0, rows - 1
        self.move(self.row, self.column)

    def put(self, text):
        """Over the characters from the cursor on."""
        line = self.lines[self.row]
        self.lines[self.row] = (line[:self.column] + text + line[self.column + len(text):])[:self.columns]

    def erase_line(self, mode):
        line, column = self.lines[self.row], self.column
        if mode in ("1", "2"):
            line = (" " * (column + 1) + line[column + 1:])[:self.columns]
        self.lines[self.row] = line if mode == "1" else line[:column].ljust(self.columns)

    def erase_screen(self, mode):
        self.erase_line(mode)
        for i in range(self.rows):
            if (i < self.row and mode in ("1", "2")) or (i > self.row and mode != "1"):
                self.lines[i] = " " * self.columns

    def scroll(self, first, count):
        """The lines from this one to the end of the region go up by so many, or down if negative."""
        part, blank = self.lines[first:self.bottom + 1], [" " * self.columns]
        size = min(abs(count), len(part))
        self.lines[first:self.bottom + 1] = part[size:] + blank * size if count > 0 else blank * size + part[:-size]

    def move(self, row, column):
        self.row, self.column = min(max(row, 0), self.rows - 1), min(max(column, 0), self.columns - 1)

    def sequence(self, parameters, letter):
        numbers = [int(number or 0) for number in parameters.lstrip("?").split(";")] + [0]
        count, row, column = max(numbers[0], 1), self.row, self.column
        line = self.lines[row]
        actions = {
            "H": lambda: self.move(count - 1, max(numbers[1], 1) - 1),
            "A": lambda: self.move(row - count, column),
            "B": lambda: self.move(row + count, column),
            "C": lambda: self.move(row, column + count),
            "D": lambda: self.move(row, column - count),
            "G": lambda: self.move(row, count - 1),
            "d": lambda: self.move(count - 1, column),
            "J": lambda: self.erase_screen(parameters),
            "K": lambda: self.erase_line(parameters),
            "X": lambda: self.put(" " * count),
            "b": lambda: [self.character(self.last) for _ in range(count)],
            "r": lambda: self.limit(numbers[0], numbers[1]),
            "L": lambda: self.scroll(row, -count),
            "M": lambda: self.scroll(row, count),
            "S": lambda: self.scroll(self.top, count),
            "T": lambda: self.scroll(self.top, -count),
            "P": lambda: self.change(line[:column] + line[column + count:]),
            "@": lambda: self.change(line[:column] + " " * count + line[column:]),
        }
        if letter in actions:
            actions[letter]()
        elif letter not in "cmhlt":
            raise Wrong("an unknown sequence: %s%s" % (parameters, letter))

    def change(self, line):
        self.lines[self.row] = line[:self.columns].ljust(self.columns)

    def limit(self, top, bottom):
        self.top, self.bottom = max(top, 1) - 1, min(bottom or self.rows, self.rows) - 1
        self.move(0, 0)

    def line_feed(self):
        if self.row == self.bottom:
            self.scroll(self.top, 1)
        else:
            self.move(self.row + 1, self.column)

    def reverse_line_feed(self):
        if self.row == self.top:
            self.scroll(self.top, -1)
        else:
            self.move(self.row - 1, self.column)

    def character(self, character):
        if character == "\n":
            self.line_feed()
        elif character == "\r":
            self.column = 0
        elif character == "\b":
            self.move(self.row, min(self.column, self.columns - 1) - 1)
        elif character == "\t":
            self.move(self.row, self.column // 8 * 8 + 8)
        elif character >= " ":
            if self.column >= self.columns:     # it waited there
                self.column = 0
                self.line_feed()
            self.put(character)
            self.column += 1
            self.last = character
        elif character not in "\0\x0e\x0f\x07":
            raise Wrong("a control character: %r" % character)

    def draw(self, text):
        text = self.rest + text
        at = 0
        while at < len(text):
            token = TOKEN.match(text, at)
            if not token:
                break
            if token[3]:
                self.character(token[3])
            elif token[2]:
                self.sequence(token[1], token[2])
            elif token[0] == "\x1bM":
                self.reverse_line_feed()
            at = token.end()
        self.rest = text[at:]
        if len(self.rest) > 20:
            raise Wrong("an unknown sequence: %r" % self.rest)


def heed_signals():
    """A shell starts what is in its background with these ignored, and so did all that followed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


class Session:
    """The command, its terminal and the screen."""

    def __init__(self, kind, columns, rows, command):
        self.screen = Screen(columns, rows)
        self.master, slave = pty.openpty()
        self.resize(columns, rows, False)
        self.modes = termios.tcgetattr(slave)
        self.slave = slave
        environment = {name: value for name, value in os.environ.items() if name != "TERM"}
        if kind:
            environment["TERM"] = kind
        self.child = subprocess.Popen(["setsid", "--ctty"] + command, stdin=slave, stdout=slave, stderr=slave,
                                      env=environment)

    def resize(self, columns, rows, draw=True):
        if draw:
            self.screen.resize(columns, rows)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def receive(self, seconds):
        if self.master < 0:
            time.sleep(seconds)
            return False
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            self.screen.draw(os.read(self.master, 65536).decode("utf-8", "replace"))
        return bool(ready)

    def has(self, pattern):
        return any(re.search(pattern, line.rstrip()) for line in self.screen.lines)

    def until(self, reached, what):
        end = time.monotonic() + PATIENCE
        while not reached():
            if time.monotonic() > end:
                raise Wrong(what)
            self.receive(0.05)

    def end(self, code):
        self.until(lambda: self.child.poll() is not None, "does not end")
        while self.receive(0.1):
            pass
        if self.child.returncode != int(code):
            raise Wrong("ends with %d, not %s" % (self.child.returncode, code))
        if self.master >= 0 and termios.tcgetattr(self.slave) != self.modes:
            raise Wrong("the modes of the terminal are not restored")

    def hang_up(self):
        os.close(self.slave)
        os.close(self.master)
        self.master = -1

    def step(self, name, value):
        if name == "see":
            self.until(lambda: self.has(value), "no line has '%s'" % value)
        elif name == "lacks":
            self.until(lambda: not self.has(value), "a line has '%s'" % value)
        elif name == "key":
            os.write(self.master, value.encode())
        elif name == "size":
            self.resize(*map(int, value.split("x")))
        elif name == "signal":
            self.child.send_signal(getattr(signal, "SIG" + value))
        elif name == "hangup":
            self.hang_up()
        elif name == "run":
            subprocess.run(["/bin/bash", "-c", value], check=True)
        elif name == "ends":
            self.end(value)
        else:
            raise Wrong("unknown step: " + name)


def main():
    heed_signals()
    split = sys.argv.index("--")
    columns, rows = map(int, sys.argv[2].split("x"))
    session = Session(sys.argv[1], columns, rows, sys.argv[split + 1:])
    try:
        for step in sys.argv[3:split]:
            name, _, value = step.partition(":")
            session.step(name, value)
    except Wrong as wrong:
        print("\n".join(line.rstrip() for line in session.screen.lines))
        print("%s: %s" % (step, wrong))
        sys.exit(1)
    finally:
        if session.child.poll() is None:
            session.child.kill()
    print("\n".join(line.rstrip() for line in session.screen.lines))


main()
