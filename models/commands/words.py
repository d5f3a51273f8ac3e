# SPDX-License-Identifier: Apache-2.0
"""Numbers, durations, clock times and typing errors: how people say them, and what they mean."""

_ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
         "sixteen seventeen eighteen nineteen").split()
_TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_REPEATS = {"everyday": ["every day", "daily", "each day"],
            "weekdays": ["on weekdays", "every weekday", "on workdays"],
            "weekends": ["on weekends", "every weekend", "at the weekend"]}
DAYS = ["tomorrow"] + _DAYS + list(_REPEATS)
CLOCK_NAMES = {"12:00": "noon", "00:00": "midnight", "sunset": "sunset", "sunrise": "sunrise"}


def number_words(number, rng):
    """0 to 999 and halves, spelt out: 21.5 is "twenty one point five" or "twenty one and a half"."""
    if number != int(number):
        tail = rng.choice([" point five", " and a half"])
        return number_words(int(number), rng) + tail
    number = int(number)
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens] + (rng.choice(" -") + _ONES[ones] if ones else "")
    hundreds, rest = divmod(number, 100)
    head = rng.choice(["a", "one"]) if hundreds == 1 else _ONES[hundreds]
    tail = rng.choice([" and ", " "]) + number_words(rest, rng) if rest else ""
    return f"{head} hundred{tail}"


def number(value, rng):
    """Digits twice as often as words."""
    return number_words(value, rng) if rng.random() < 0.35 else f"{value:g}"


def percent_value(rng):
    return rng.randrange(5, 101, 5) if rng.random() < 0.6 else rng.randrange(1, 101)


def percent(value, rng):
    special = {50: ["half"], 25: ["a quarter"], 75: ["three quarters"], 100: ["full", "the maximum"],
               1: ["the minimum"]}
    if value in special and rng.random() < 0.25:
        return rng.choice(special[value])
    unit = rng.choice([" percent"] * 4 + [" per cent", "", ""])
    text = number(value, rng)
    return text + ("%" if text[0].isdigit() and rng.random() < 0.3 else unit)


def degrees(value, rng):
    text = number(value, rng)
    unit = rng.choice([" degrees"] * 4 + [" degrees celsius", "", ""])
    return text + (rng.choice(["°", "°C", " C"]) if text[0].isdigit() and rng.random() < 0.15 else unit)


def duration_value(rng):
    """(hours, minutes, seconds), the way it is said: ninety seconds stay seconds."""
    kind = rng.random()
    if kind < 0.62:
        return 0, rng.choice([rng.randrange(1, 60), rng.randrange(5, 60, 5)]), 0
    if kind < 0.77:
        return rng.randrange(1, 13), 0, 0
    if kind < 0.89:
        return rng.randrange(1, 7), rng.choice([10, 15, 20, 30, 40, 45]), 0
    return 0, 0, rng.choice([10, 15, 20, 30, 40, 45, 50, 60, 90])


def duration_iso(value):
    return "PT" + "".join(f"{part}{unit}" for part, unit in zip(value, "HMS") if part)


def _counted(count, unit, rng, plural=True):
    short = {"minute": "min", "second": "sec", "hour": "h"}
    if count == 1 and rng.random() < 0.5:
        return ("an " if unit == "hour" else "a ") + unit
    text = number(count, rng)
    if text.isdigit() and rng.random() < 0.12:
        return f"{text} {short[unit]}"
    return f"{text} {unit}" + ("s" if plural and count != 1 else "")


def duration(value, rng):
    special = {(0, 30, 0): ["half an hour", "a half hour"], (0, 15, 0): ["a quarter of an hour"],
               (0, 45, 0): ["three quarters of an hour"], (1, 30, 0): ["an hour and a half", "one and a half hours"],
               (2, 30, 0): ["two and a half hours"]}
    if value in special and rng.random() < 0.5:
        return rng.choice(special[value])
    parts = [_counted(part, unit, rng) for part, unit in zip(value, ("hour", "minute", "second")) if part]
    return rng.choice([" and ", " "]).join(parts)


def duration_adjective(value, rng):
    """Before a noun: "10 minute", "ten-minute", "2 hour"."""
    parts = [number(part, rng) + rng.choice("  -") + unit
             for part, unit in zip(value, ("hour", "minute", "second")) if part]
    return " ".join(parts)


def clock_value(rng):
    """(hour, minute) or a name; full hours and quarters are common, any minute is possible."""
    if rng.random() < 0.1:
        return rng.choice(list(CLOCK_NAMES))
    hour = rng.randrange(24)
    minute = rng.choice([0, 0, 0, 30, 30, 15, 45, rng.randrange(5, 60, 5), rng.randrange(60)])
    return f"{hour:02d}:{minute:02d}"


def _part_of_day(hour, rng):
    """Words that settle which half of the day is meant."""
    parts = [" am", "am", " a.m.", " in the morning"] if hour < 12 else [" pm", "pm", " p.m."]
    if 12 <= hour < 18:
        parts.append(" in the afternoon")
    if 17 <= hour:
        parts += [" in the evening", " this evening", " tonight"]
    if hour >= 20:
        parts.append(" at night")
    return rng.choice(parts)


def _spoken_hour(hour, rng):
    hour12 = hour % 12 or 12
    return number_words(hour12, rng) if rng.random() < 0.6 else str(hour12)


def clock(value, day, rng):
    """A time without its preposition. Without a part of the day the hour means what a 24-hour clock shows."""
    if value in CLOCK_NAMES and (":" not in value or rng.random() < 0.6):
        return CLOCK_NAMES[value]
    hour, minute = map(int, value.split(":"))
    ambiguous_as_spoken = not 1 <= hour <= 12
    part = _part_of_day(hour, rng) if ambiguous_as_spoken or hour == 12 or rng.random() < 0.5 else ""
    if day:
        part = part.replace(" this evening", " in the evening").replace(" tonight", " in the evening")
    style = rng.random()
    if style < 0.2 or (part == "" and style < 0.35):  # 19:05, 7:05
        return f"{hour}:{minute:02d}" if rng.random() < 0.7 else f"{hour:02d}:{minute:02d}"
    if style < 0.45:
        digits = f"{hour % 12 or 12}:{minute:02d}" if minute else f"{hour % 12 or 12}"
        return digits + part
    if style > 0.75 and minute and (minute % 5 == 0 or minute > 9):  # seven thirty
        words = "oh five" if minute == 5 else number_words(minute, rng)
        return f"{number_words(hour % 12 or 12, rng)} {words}{_spaced(part)}"
    if minute == 0:
        return _spoken_hour(hour, rng) + rng.choice(["", " o'clock"] if part else [" o'clock"]) + _spaced(part)
    past, count, near = ("past", minute, hour) if minute <= 30 else ("to", 60 - minute, hour + 1)
    if count % 5:
        return f"{hour % 12 or 12}:{minute:02d}" + part
    spoken = {15: "quarter", 30: "half"}.get(count) or number_words(count, rng)
    spoken = "a quarter" if count == 15 and rng.random() < 0.3 else spoken
    return f"{spoken} {past} {_spoken_hour(near, rng)}" + _spaced(part)


def _spaced(part):
    return part if part == "" or part[0] == " " else " " + part


def day(value, rng):
    if value in _REPEATS:
        return rng.choice(_REPEATS[value])
    if value == "tomorrow":
        return value
    name = value.capitalize() if rng.random() < 0.5 else value
    return rng.choice(["on ", "on ", "next ", "this "]) + name


def clock_and_day(at, day_value, rng, preposition="at "):
    """"at seven tomorrow" or "tomorrow at seven"; an empty preposition where the template has its own."""
    text = clock(at, day_value, rng)
    if not day_value:
        return preposition + text
    when = day(day_value, rng)
    return f"{when} at {text}" if preposition and rng.random() < 0.5 else f"{preposition}{text} {when}"


_NUMBER_WORDS = set(_ONES + _TENS + ["hundred", "half", "quarter", "quarters", "past", "point"])


class Typist:
    """Makes typing errors that a reader can undo: the result is near one known word only."""

    def __init__(self, vocabulary):
        self._near = {}
        for word in vocabulary | _NUMBER_WORDS:
            for key in self._keys(word):
                self._near.setdefault(key, set()).add(word)

    @staticmethod
    def _keys(word):
        return {word} | {word[:i] + word[i + 1:] for i in range(len(word))}

    def _readable(self, typed, word):
        candidates = set().union(*(self._near.get(key, set()) for key in self._keys(typed)))
        return typed not in self._near.get(typed, ()) and all(c.rstrip("s") == word.rstrip("s") for c in candidates)

    def slip(self, text, rng):
        """One letter of one word dropped, doubled or swapped with the next; the text itself if none will do."""
        words = text.split(" ")
        for _ in range(8):
            index = rng.randrange(len(words))
            word = words[index]
            if len(word) < 4 or not word.isalpha():
                continue
            at = rng.randrange(1, len(word) - 1)
            typed = rng.choice([word[:at] + word[at + 1:], word[:at] + word[at] + word[at:],
                                word[:at] + word[at + 1] + word[at] + word[at + 2:]])
            if typed.lower() != word.lower() and self._readable(typed.lower(), word.lower()):
                return " ".join(words[:index] + [typed] + words[index + 1:])
        return text
