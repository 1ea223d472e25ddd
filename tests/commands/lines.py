# SPDX-License-Identifier: GPL-2.0-or-later
"""Random command lines of a grammar, and the faults that are put into them. What a faulty line is refused for shows
in the line alone, whatever the machine is like."""
import values

# They end when somebody ends them: commands, and options of others.
ENDLESS, GOING_ON = {("watch",), ("top",)}, {"watch"}
TRIAL_SECONDS = "2"
TRIED = 0.2         # of the lines that can be tried


class Line:
    """Units of words: the command, options with their values, operands; in front of the command options of all."""

    def __init__(self, command):
        self.command, self.front, self.units = command, [], []
        self.options, self.operands = {}, []      # as they are meant; of an option a list of values
        self.strange = []       # options and operands of which nothing is known here
        self.text = None        # of standard input
        self.fault = ""         # what is wrong with it
        self.codes = (2,)       # one of these, if something is

    def words(self):
        return [word for unit in self.front for word in unit] + list(self.command.words) + \
            [word for unit in self.units for word in unit]

    def put(self, dice, *words):
        """Anywhere behind the command."""
        self.units.insert(dice.randrange(len(self.units) + 1), list(words))

    def give(self, dice, option, value):
        """Anywhere; as one word or as two."""
        self.options.setdefault(option.name, []).append(value)
        if value is None:
            self.put(dice, "--" + option.name)
        elif dice.random() < 0.2:
            self.put(dice, "--%s=%s" % (option.name, value))
        else:
            self.put(dice, "--" + option.name, value)


class Writer:
    def __init__(self, grammar, dice):
        self.grammar, self.dice = grammar, dice
        self.of_option = (self.shortened, self.unknown, self.valued, self.bare, self.twice, self.wrong_value)
        self.of_line = (self.of_another, self.both, self.wrong_operand, self.no_operand, self.one_more, self.no_command,
                        self.letter, self.needed, self.elsewhere)
        # Each command comes once before one comes again.
        self.ahead = [command for command in grammar.commands if command.words not in ENDLESS]
        dice.shuffle(self.ahead)

    # --- lines that are right as lines ------------------------------------------------------------------

    def value_of(self, option):
        if option.name == "rollback":
            return TRIAL_SECONDS
        return values.right(option.value, option.offers, self.dice)

    def add_options(self, line, command, often, tried=None):
        """tried: whether it is a trial; None: as the dice say."""
        tried, given = self.dice.random() < TRIED if tried is None else tried, set()
        for option in command.options.values():
            if option.choice in given or option.name in GOING_ON or \
                    not option.needed and option.name != "rollback" and self.dice.random() > often or \
                    option.name == "rollback" and not tried or \
                    option.instead and (line.operands or option.name in line.options):
                continue
            value = self.value_of(option) if option.value else None
            if option.value and value is None:
                line.strange.append(option.name)
                continue
            given.add(option.choice)
            line.give(self.dice, option, value)

    def add_operands(self, line, command):
        if any(option.instead for option in command.options.values()) and self.dice.random() < 0.3:
            option = next(option for option in command.options.values() if option.instead)
            return line.give(self.dice, option, self.value_of(option) if option.value else None)
        operands = []
        for operand in command.operands:
            if operand.optional and self.dice.random() < 0.15:
                break
            amount = self.dice.choice((1, 1, 2, 3)) if operand.many else 1
            operands += [values.right(operand.name, operand.offers, self.dice) for _ in range(amount)]
        if None in operands:
            line.strange.append("operand")
            operands = ["x" if word is None else word for word in operands]
        line.operands = operands
        places = sorted(self.dice.randrange(len(line.units) + 1) for _ in operands)
        for shift, (place, word) in enumerate(zip(places, operands)):
            line.units.insert(place + shift, [word])
        return None

    def add_settings(self, line):
        """Options of every command, in front or behind."""
        for option in self.grammar.settings():
            if option.value and option.name != "wait" or self.dice.random() > 0.08:
                continue
            words = ["--" + option.name] + (["30"] if option.value else [])
            if option.letter and not option.value and self.dice.random() < 0.5:
                words = ["-" + option.letter]
            if self.dice.random() < 0.5:
                line.front.append(words)
            else:
                line.put(self.dice, *words)

    def right(self, command=None, tried=None):
        commands = [one for one in self.grammar.commands if one.words not in ENDLESS]
        if not command and self.ahead and self.dice.random() < 0.5:
            command = self.ahead.pop()
        command = command or self.dice.choices(commands, [WEIGHTS.get(one.words, 1) for one in commands])[0]
        line = Line(command)
        self.add_operands(line, command)
        # Of two dozen options most would go together with nothing.
        self.add_options(line, command, min(0.35, 3 / (len(command.options) + 1)), tried)
        self.add_settings(line)
        return line

    # --- and such as must be refused ----------------------------------------------------------------------

    def options_for(self, command):
        return [*command.options.values(), *self.grammar.anywhere.options.values()]

    def with_fault(self, command, fault, *option):
        """None: this fault is none of this command or option."""
        for _ in range(4):
            line = self.right(command)
            line.fault = fault(line, *option) or ""
            if line.fault:
                return line
        return None

    def faulty(self):
        while True:
            command = self.dice.choice(self.grammar.commands)
            if self.dice.random() < 0.6:
                line = self.with_fault(command, self.dice.choice(self.of_option), self.dice.choice(self.options_for(command)))
            else:
                line = self.with_fault(command, self.dice.choice(self.of_line))
            if line:
                return line

    def each_fault(self, command):
        """A line for each fault of the command, and of each option that it takes."""
        chosen = [(fault,) for fault in self.of_line]
        chosen += [(fault, option) for option in self.options_for(command) for fault in self.of_option]
        return [line for line in (self.with_fault(command, *one) for one in chosen) if line]

    def any_value(self, option):
        return self.value_of(option) or "x"

    def put_anywhere(self, line, option, words):
        """Options of every command also in front."""
        if option.name in self.grammar.anywhere.options and self.dice.random() < 0.4:
            line.front.append(words)
        else:
            line.put(self.dice, *words)

    def shortened(self, line, option):
        known = self.grammar.names_of(line.command)
        some = [option.name[:size] for size in range(1, len(option.name)) if option.name[:size] not in known]
        if not some:
            return None
        word = "--" + self.dice.choice(some)
        words = [word]
        if option.value:
            words = self.dice.choice(([word, self.any_value(option)], [word + "=" + self.any_value(option)], [word]))
        self.put_anywhere(line, option, words)
        return "shortened --%s" % option.name

    def unknown(self, line, option):
        word = self.dice.choice(("--" + option.name + "s", "--no-" + option.name, "--" + option.name.upper(), "--for",
                                 "--expires", "--quite", "--x", "--" + option.name[1:]))
        if word[2:] in self.grammar.names_of(line.command):
            return None
        self.put_anywhere(line, option, self.dice.choice(([word], [word + "=1"], [word, "1d"])))
        return "unknown " + word

    def of_another(self, line):
        other = self.dice.choice(self.grammar.commands)
        some = sorted(set(other.options) - self.grammar.names_of(line.command))
        if not some:
            return None
        name = self.dice.choice(some)
        option = other.options[name]
        line.put(self.dice, "--" + name, *([self.any_value(option)] if option.value else []))
        return "--%s of %s" % (name, " ".join(other.words))

    def valued(self, line, option):
        if option.value:
            return None
        self.put_anywhere(line, option, ["--%s=%s" % (option.name, self.dice.choice(("yes", "", "1")))])
        return "a value for --" + option.name

    def bare(self, line, option):
        """Nothing may follow that could be its value."""
        if not option.value or option.name in line.options:
            return None
        line.units.append(["--" + option.name])
        return "no value for --" + option.name

    @staticmethod
    def waits(line):
        return any("--wait" in unit for unit in line.front + line.units)

    def twice(self, line, option):
        if not option.value or option.adds_up or option.name in line.options or self.waits(line):
            return None
        first, second = self.any_value(option), self.any_value(option)
        if option.name in ("wait", "rollback"):
            first, second = "30", "31"
        if option.value == "DIR":
            first, second = "/proc/nonexistent/a", "/proc/nonexistent/b"
        if first == second:
            return None
        self.put_anywhere(line, option, ["--" + option.name, first])
        self.put_anywhere(line, option, ["--" + option.name, second])
        return "--%s twice" % option.name

    def elsewhere(self, line):
        """The directories are given in front already."""
        option = self.dice.choice([option for option in self.grammar.settings() if option.value == "DIR"])
        self.put_anywhere(line, option, ["--" + option.name, "/proc/nonexistent"])
        return "another --" + option.name

    def both(self, line):
        """Two of which one is given instead of the other, or one instead of operands beside operands."""
        pairs = [(one, other) for one in line.command.options.values() for other in line.command.options.values()
                 if one is not other and one.choice == other.choice]
        instead = [option for option in line.command.options.values() if option.instead]
        if pairs:
            for option in self.dice.choice(pairs):
                if option.name not in line.options:
                    line.put(self.dice, "--" + option.name, *([self.any_value(option)] if option.value else []))
            return "two of a choice"
        if instead and line.operands:
            line.put(self.dice, "--" + instead[0].name, *([self.any_value(instead[0])] if instead[0].value else []))
            return "--%s beside operands" % instead[0].name
        return None

    def wrong_value(self, line, option):
        found = option.value and option.name not in line.options and values.wrong(option.value, option.offers, self.dice)
        if not found or self.waits(line):
            return None
        value, shows = found
        self.put_anywhere(line, option, self.dice.choice((["--" + option.name, value], ["--%s=%s" % (option.name, value)])))
        if not shows:
            line.codes = (1, 2, 3)
        return "--%s '%s'" % (option.name, value)

    def wrong_operand(self, line):
        if not line.operands:
            return None
        place = self.dice.randrange(len(line.operands))
        operand = line.command.operands[min(place, len(line.command.operands) - 1)]
        found = values.wrong(operand.name, operand.offers, self.dice)
        units = [number for number, unit in enumerate(line.units) if unit[0] in line.operands and len(unit) == 1]
        if not found or found[0].startswith("-") or len(units) != len(line.operands):
            return None
        line.units[units[place]] = [found[0]]
        if not found[1]:
            line.codes = (1, 2, 3)
        return "operand '%s'" % found[0]

    def no_operand(self, line):
        if not line.command.needs_operand or not line.operands:
            return None
        line.units = [unit for unit in line.units if len(unit) > 1 or unit[0].startswith("-") and unit[0] != "-"]
        return "no operand"

    def one_more(self, line):
        command = line.command
        if command.takes_many:
            return None
        if len(line.operands) < len(command.operands):
            return None
        line.put(self.dice, "one-more")
        return "an operand too many"

    def no_command(self, line):
        """Its name shortened, in another case, or with a letter more."""
        last = line.command.words[-1]
        name = self.dice.choice((last[:-1], last[:2], last.upper(), last + "s"))
        above = line.command.words[:-1]
        below = next((one.below for one in self.grammar.above if one.words == above), self.grammar.names)
        if name in below:
            return None
        line.command = type(line.command)(above + (name,))
        return "no command %s" % " ".join(line.command.words)

    def letter(self, line):
        letters = {option.letter for option in self.grammar.anywhere.options.values()} | \
            {option.letter for option in line.command.options.values()}
        letter = self.dice.choice([letter for letter in "abcdfgiklmnortuwxyzAZ" if letter not in letters])
        line.put(self.dice, self.dice.choice(("-" + letter, "-j" + letter, "-" + letter + "1")))
        return "unknown letter " + letter

    def needed(self, line):
        some = [option for option in line.command.options.values() if option.needed]
        if not some:
            return None
        name = self.dice.choice(some).name
        line.units = [unit for unit in line.units if not unit[0].startswith("--" + name)]
        return "without --" + name


# What changes much comes often.
WEIGHTS = {("add",): 9, ("del",): 5, ("allow", "add"): 6, ("allow", "del"): 4, ("attach",): 8, ("detach",): 4,
           ("policy",): 5, ("verdict",): 5, ("scope",): 9, ("ports",): 3, ("import",): 7, ("batch",): 4, ("restore",): 4,
           ("rotate",): 3, ("flush",): 2, ("allow", "refuse"): 2, ("allow", "accept"): 2, ("known", "on"): 2}
