# SPDX-License-Identifier: Apache-2.0
"""One sentence of one intent: its words, and the answer they ask for."""
import re

import nouns
import words


def pick_value(kind, device, rng):
    """(value in the answer, value in words)"""
    if kind in ("brightness", "position"):
        value = words.percent_value(rng)
        return value, words.percent(value, rng)
    if kind == "volume":
        value = words.percent_value(rng)
        return value, words.number(value, rng) + rng.choice(["", "", " percent"])
    if kind == "channel":
        value = rng.randrange(1, 100)
        return value, words.number(value, rng)
    if kind == "temperature":
        value = rng.randrange(100, 251, rng.choice([5, 10])) if device == "oven" else rng.randrange(12, 31)
        value += 0.5 if device != "oven" and rng.random() < 0.15 else 0
        return value, words.degrees(value, rng)
    if kind == "by" and device in ("thermostat", "heating"):
        value = rng.choice([1, 1, 2, 2, 3, 4, 5, 0.5, 1.5])
        if value == 0.5:
            return value, rng.choice(["half a degree", "0.5 degrees"])
        text = "a degree" if value == 1 and rng.random() < 0.4 else words.number(value, rng) + " degree"
        return value, text + ("s" if value != 1 else "")
    if kind == "by":
        value = rng.choice([5, 10, 15, 20, 25, 30, 40, 50, rng.randrange(1, 60)])
        return value, words.number(value, rng) + rng.choice([" percent", " percent", "%" if rng.random() < 0.5 else " per cent"])
    if kind == "speed":
        value = rng.choice(nouns.SPEEDS + [1, 2, 3, 4, 5])
        return value, value if isinstance(value, str) else words.number(value, rng)
    if kind == "color":
        value = rng.choice(list(nouns.COLORS))
        return value, rng.choice(nouns.COLORS[value])
    if kind == "genre":
        value = rng.choice(nouns.GENRES)
        return value, value
    value = rng.choice(list(nouns.SCENES))
    return value, rng.choice(nouns.SCENES[value])


def pick_room(device, rng):
    """(key, name, where) of a room: where is "in the kitchen"."""
    key = rng.choice(list(nouns.ROOMS))
    name, preposition = rng.choice(nouns.ROOMS[key])
    return key, name, f"{preposition} {name}".strip()


class Command:
    """One sentence of one intent: its words, and what they mean."""

    def __init__(self, intent, mark, phrase, rng):
        self.rng, self.mark = rng, mark
        # "It's too dark" is about one device, the same each time: the intent's first.
        device = rng.choice(intent.devices) if "{np}" in phrase else intent.devices[0]
        implied = device[0] == "_"
        device = device.lstrip("_")
        self.answer = {"action": intent.action, "device": device}
        self.lead, self.tail = "", ""  # a room named apart from its device
        slots = {}
        self._say_value(intent, phrase, slots)
        self._say_room(device, implied, phrase, slots)
        text = re.sub(r"\{(\w+)\}", lambda slot: slots[slot.group(1)], phrase)
        self.core = " ".join(text.split())
        self.name = slots.get("np")
        if intent.timed and mark != "?":
            self._say_time(intent)

    def _say_value(self, intent, phrase, slots):
        rng, answer = self.rng, self.answer
        if answer["device"] == "timer" and intent.value:
            value = words.duration_value(rng)
            answer["for"] = words.duration_iso(value)
            slots.update(value=words.duration(value, rng), adj=words.duration_adjective(value, rng))
            if intent.value == "label":
                answer["label"] = slots["label"] = rng.choice(nouns.LABELS)
        elif "{at}" in phrase or "{clock}" in phrase:
            answer["at"] = words.clock_value(rng)
            if rng.random() < 0.5:
                answer["day"] = rng.choice(words.DAYS)
            said = (answer["at"], answer.get("day"), rng)
            slots.update(at=words.clock_and_day(*said), clock=words.clock_and_day(*said, preposition=""))
        elif intent.value and "{value}" in phrase:
            answer[intent.value], slots["value"] = pick_value(intent.value, answer["device"], rng)

    def _say_room(self, device, implied, phrase, slots):
        rng = self.rng
        name = rng.choice(nouns.DEVICES[device]) if nouns.DEVICES[device] else ""
        key = None
        if "{room}" in phrase or (device not in nouns.ROOMLESS and rng.random() < 0.68):
            key, room, where = pick_room(device, rng)
            slots["room"] = room if room in ("upstairs", "downstairs") else f"the {room}"
            slots["in"] = f" {where}"
        elif device in nouns.PLURAL and "{np}" in phrase and rng.random() < 0.2:
            plural = name if name.endswith("s") else name + "s"
            slots["np"] = rng.choice([f"all {plural}", f"all the {plural}", f"every {plural[:-1]}", f"the {plural} everywhere",
                                      f"the {plural} in the whole house", f"all {plural} in the house"])
            self.answer["room"] = "all"
            return
        else:
            slots["in"] = " in here" if implied and rng.random() < 0.25 else ""
        article = rng.choice(["the "] * 6 + ["my ", "our ", ""])
        slots["np"] = article + name
        if key and ("{np}" in phrase or "{in}" in phrase or "{room}" in phrase):
            self.answer["room"] = key
            if "{np}" in phrase:
                slots["np"] = self._name_with_room(article, name, room, where)

    def _name_with_room(self, article, name, room, where):
        style = self.rng.random()
        if style < 0.5:
            return f"{article}{room} {name}"
        if style < 0.78:
            return f"{article}{name} {where}"
        if style < 0.82 and room not in ("upstairs", "downstairs"):
            return f"the {room}'s {name}"
        if style < 0.92:
            self.lead = where
        else:
            self.tail = where
        return article + name

    def _say_time(self, intent):
        rng, answer = self.rng, self.answer
        chance = rng.random()
        if chance < 0.13:
            answer["at"] = words.clock_value(rng)
            if rng.random() < 0.4:
                answer["day"] = rng.choice(words.DAYS)
            text = words.clock_and_day(answer["at"], answer.get("day"), rng)
        elif chance < 0.21:
            value = words.duration_value(rng)
            answer["in"] = words.duration_iso(value)
            text = words.duration(value, rng)
            text = rng.choice([f"in {text}", f"in {text}", f"after {text}", f"{text} from now"])
        elif chance < 0.26 and intent.action in ("on", "play") and intent.value != "scene":
            value = words.duration_value(rng)
            answer["for"] = words.duration_iso(value)
            self.tail += f" for {words.duration(value, rng)}"
            return
        else:
            return
        if rng.random() < 0.25:
            self.lead = f"{self.lead} {text}" if rng.random() < 0.5 else f"{text} {self.lead}"
        else:
            self.tail = f"{self.tail} {text}" if rng.random() < 0.5 else f"{text} {self.tail}"

    def plain(self):
        """Core with what stands before and behind it."""
        lead = self.lead.strip()
        if lead and self.rng.random() < 0.4:
            lead += ","
        return " ".join(f"{lead} {self.core} {self.tail}".split())


