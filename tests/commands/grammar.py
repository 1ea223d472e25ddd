# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of bloomctl, their operands and their options, as its own tables have them: from `help --completion` the
commands, the names and letters of options and what completion offers, from the usage line of each command what else
the table says of an option. An option that comes is swept without a word here."""
import re
import subprocess

# What stands in front of an option in a usage line: "[" or nothing, or "|" if it is given instead of another.
OPTION = re.compile(r"(?P<lead> \[| |\|)--(?P<name>[a-z][a-z0-9-]*)(?: (?P<value>(?:\[\.\.[A-Z]+\]|(?!\|--)[^][ ])+))?\]?")


class Option:
    def __init__(self, name, value=None, letter="", offers=()):
        self.name, self.value, self.letter, self.offers = name, value, letter, offers
        self.needed = False
        self.choice = name      # the same for those of which one is given instead of another
        self.instead = False    # of operands

    @property
    def adds_up(self):
        """Given several times, each adds something: then its value is a list of words."""
        return bool(self.value) and self.value.endswith(",...") and bool(self.offers)


class Operand:
    def __init__(self, name, optional, offers):
        self.name, self.optional, self.offers = name, optional, offers
        self.many = "..." in name and ",..." not in name


class Command:
    def __init__(self, words):
        self.words = words      # () is the program itself, whose options stand anywhere
        self.operands, self.options, self.below = [], {}, []

    @property
    def needs_operand(self):
        return bool(self.operands) and not self.operands[0].optional

    @property
    def takes_many(self):
        return any(operand.many for operand in self.operands)


def said_by(program, *words):
    return subprocess.run([program, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def take_offers(text):
    return tuple(text.split()) if not text.startswith("<") else (text,)


def read_completion(text):
    """The commands with what they offer. Returns them, and by command what is offered for its operands."""
    commands, offered, letter = {(): Command(())}, {}, ""
    for line in text.splitlines():
        name, word, offers = line.split(";")
        words = tuple(name.split())
        command = commands.setdefault(words, Command(words))
        if re.fullmatch("-[^-]=?", word):
            letter = word[1]
        elif word.startswith("--"):
            option = word[2:].rstrip("=")
            command.options[option] = Option(option, "?" if word.endswith("=") else None, letter, take_offers(offers))
            letter = ""
        elif word:
            offered.setdefault(words, {})[word] = take_offers(offers)
    for words, command in commands.items():
        command.below = [other[-1] for other in commands if other[:-1] == words and other]
    return commands, offered


def read_operands(text, offered):
    """text: "ENTRY...", "[LIST [drop|count]]"."""
    operands, optional = [], False
    for place, word in enumerate(text.split(), 1):
        optional |= word.startswith("[")
        operand = Operand(word.strip("[]"), optional, ())
        operand.offers = offered.get("*" if operand.many else str(place), ())
        operands.append(operand)
    return operands


def read_usage(command, line, offered):
    line, last = line[len("usage: bloomctl"):], None
    for word in command.words:
        line = line.removeprefix(" " + word)
    found = list(OPTION.finditer(line))
    if command.words:
        command.operands = read_operands(line[:found[0].start()] if found else line, offered)
    for each in found:
        option = command.options[each["name"]]
        if bool(option.value) != bool(each["value"]):
            raise ValueError("usage line and completion differ: --%s of %s" % (option.name, command.words))
        option.value = each["value"]
        option.needed = each["lead"] == " " and bool(command.words)
        option.instead = each["lead"] == "|" and last is None
        if each["lead"] == "|" and last:
            option.choice = last.choice
        last = option


class Grammar:
    def __init__(self, program):
        commands, offered = read_completion(said_by(program, "help", "--completion"))
        for words, command in commands.items():
            line = said_by(program, "help", *words).splitlines()[0]
            if not command.below or not words:
                read_usage(command, line, offered.get(words, {}))
        self.anywhere = commands.pop(())
        self.names = {words[0] for words in commands}
        self.commands = [command for command in commands.values() if not command.below]
        self.above = [command for command in commands.values() if command.below]

    def settings(self):
        """Options of every command that set something; the others print something instead."""
        return [option for option in self.anywhere.options.values() if option.name not in ("help", "version")]

    def names_of(self, command):
        return set(command.options) | set(self.anywhere.options)
