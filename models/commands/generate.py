#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes home commands and their answers: train.tsv, valid.tsv and test.tsv (command TAB JSON), schema.json.

The same seed writes the same bytes. Validation and test hold what training never sees: phrasings (templates
marked V: and T:), combinations of device, room and value (a hash picks a tenth for each), and both at once,
a third of the lines each, in this order.
"""
import argparse
import json
import pathlib
import random
import re
import zlib

import grammar as g
import grammar_more as more
import words

KEYS = ["action", "device", "room", "brightness", "color", "position", "temperature", "volume", "speed", "channel", "by",
        "genre", "scene", "label", "for", "in", "at", "day"]
NONE, UNKNOWN = {"action": "none"}, {"action": "unknown"}
HELD_OUT = {"valid": "V", "test": "T"}
QUESTIONS = set("is are am was what what's how did do does who when where will has have can could would".split())
DURATION = "^PT([0-9]{1,2}H)?([0-9]{1,2}M)?([0-9]{1,2}S)?$"


def canonical(answer):
    return json.dumps({key: answer[key] for key in KEYS if key in answer}, separators=(",", ":"))


def expand(template):
    """Every phrase of a template, slots left in."""
    template = re.sub(r"\[([^][]*)\]", r"(\1|)", template)
    while "[" in template:
        template = re.sub(r"\[([^][]*)\]", r"(\1|)", template)
    found = re.search(r"\(([^()]*)\)", template)
    if not found:
        return [" ".join(template.split())]
    return [phrase for choice in found.group(1).split("|")
            for phrase in expand(template[:found.start()] + choice + template[found.end():])]


class Templates:
    """The phrases of one block by split: (kind, phrases of one template), where kind is "", "!" or "?"."""

    def __init__(self, block):
        self.of = {"train": [], "valid": [], "test": []}
        marks = {"V": "valid", "T": "test"}
        for line in block.strip().splitlines():
            mark, kind, phrase = re.fullmatch(r"(?:([VT]):)?([!?]?)(.*)", line).groups()
            self.of[marks.get(mark, "train")].append((kind, expand(phrase)))

    def pick(self, split, rng):
        kind, phrases = rng.choice(self.of[split])
        return kind, rng.choice(phrases)


class Grammar:
    def __init__(self):
        self.intents = [(intent, Templates(intent.templates)) for intent in more.ALL_INTENTS]
        self.weights = [intent.weight for intent, _ in self.intents]
        names = ("unknown", "negations", "corrections", "retractions", "prefixes", "suffixes")
        for name in names:
            setattr(self, name, Templates(getattr(more, name.upper())))
        blocks = [templates for _, templates in self.intents] + [getattr(self, name) for name in names]
        self._check_phrases(blocks)
        vocabulary = {split: self._words(blocks, split) for split in ("train", "valid", "test")}
        nouns = " ".join(name for names in g.DEVICES.values() for name in names) + " "
        nouns += " ".join(name for names in g.ROOMS.values() for name, _ in names)
        for split in HELD_OUT:
            strange = vocabulary[split] - vocabulary["train"] - set(nouns.lower().split())
            assert not strange, f"words of {split} that training lacks: {strange}"
        self.typist = words.Typist(vocabulary["train"] | set(nouns.lower().split()) | set(g.GENRES + g.LABELS))

    @staticmethod
    def _check_phrases(blocks):
        """No phrase that is held out stands in the training part of any intent."""
        phrases = {split: {phrase for block in blocks for _, phrases in block.of[split] for phrase in phrases}
                   for split in ("train", "valid", "test")}
        for split in HELD_OUT:
            assert not phrases["train"] & phrases[split], f"also in training: {phrases['train'] & phrases[split]}"

    @staticmethod
    def _words(blocks, split):
        return {word.strip(",") for block in blocks for _, phrases in block.of[split]
                for phrase in phrases for word in re.sub(r"\{\w+\}", " ", phrase).lower().split()}


GRAMMAR = Grammar()


def combination_split(answer):
    """Which split a combination of device, room and value belongs to; what has too few combinations is training's."""
    device, room = answer["device"], answer.get("room")
    if device == "alarm":
        parts = (device, answer.get("day"), answer.get("at"))
    elif device == "timer":
        parts = (device, answer.get("label"), answer.get("for"))
    elif room:
        value = [answer[key] for key in KEYS[3:12] if key in answer]
        parts = (device, room, answer["action"], *value)
    else:
        return "train"
    return {0: "test", 1: "valid"}.get(zlib.crc32(repr(parts).encode()) % 10, "train")


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
        value = rng.choice(g.SPEEDS + [1, 2, 3, 4, 5])
        return value, value if isinstance(value, str) else words.number(value, rng)
    if kind == "color":
        value = rng.choice(list(g.COLORS))
        return value, rng.choice(g.COLORS[value])
    if kind == "genre":
        value = rng.choice(g.GENRES)
        return value, value
    value = rng.choice(list(g.SCENES))
    return value, rng.choice(g.SCENES[value])


def pick_room(device, rng):
    """(key, name, where) of a room: where is "in the kitchen"."""
    key = rng.choice(list(g.ROOMS))
    name, preposition = rng.choice(g.ROOMS[key])
    return key, name, f"{preposition} {name}".strip()


class Command:
    """One sentence of one intent: its words, and what they mean."""

    def __init__(self, intent, kind, phrase, rng):
        self.rng, self.kind = rng, kind
        device = rng.choice(intent.devices)
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
        if intent.times and kind != "?":
            self._say_time(intent)

    def _say_value(self, intent, phrase, slots):
        rng, answer = self.rng, self.answer
        if answer["device"] == "timer" and intent.value:
            value = words.duration_value(rng)
            answer["for"] = words.duration_iso(value)
            slots.update(value=words.duration(value, rng), adj=words.duration_adjective(value, rng))
            if intent.value == "label":
                answer["label"] = slots["label"] = rng.choice(g.LABELS)
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
        name = rng.choice(g.DEVICES[device]) if g.DEVICES[device] else ""
        key = None
        if "{room}" in phrase or (device not in g.ROOMLESS and rng.random() < 0.68):
            key, room, where = pick_room(device, rng)
            slots["room"] = room if room in ("upstairs", "downstairs") else f"the {room}"
            slots["in"] = f" {where}"
        elif device in g.PLURAL and "{np}" in phrase and rng.random() < 0.2:
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


def dress(text, rng):
    """Upper case, full stops, dropped articles and typing errors, as people and speech recognizers write."""
    if rng.random() < 0.1:
        text = re.sub(r"\b(the|a) ", "", text) or text
    if rng.random() < 0.12:
        text = GRAMMAR.typist.slip(text, rng)
    text = " ".join(text.replace(" ,", ",").split())
    style = rng.random()
    if style < 0.45:
        return text
    if style < 0.52:
        return text.lower().replace(",", "")
    text = re.sub(r"\bi\b", "I", text)
    question = text.split()[0].lower() in QUESTIONS and rng.random() < 0.7
    return text[0].upper() + text[1:] + ("?" if question else rng.choice(["", ".", ".", "!"]))


def new_command(rng, split, imperative=False):
    while True:
        intent, templates = rng.choices(GRAMMAR.intents, GRAMMAR.weights)[0]
        if not templates.of[split]:
            continue
        kind, phrase = templates.pick(split, rng)
        if not imperative or not kind:
            return Command(intent, kind, phrase, rng)


def affix(command, rng, split):
    text = command.plain()
    if rng.random() < 0.3 and not command.kind and not command.lead:
        text = f"{GRAMMAR.prefixes.pick(rng.choice(['train', split]), rng)[1]} {text}"
    elif rng.random() < 0.06:
        text = f"{rng.choice(['hey', 'ok', 'okay', 'hi', 'please'])} {text}"
    if rng.random() < 0.15:
        text = f"{text}{rng.choice([' ', ', '])}{GRAMMAR.suffixes.pick(rng.choice(['train', split]), rng)[1]}"
    return text


def sample(rng, phrasing, combination):
    """(command, answer), or None where the draw belongs to another split. `phrasing` and `combination` name the
    splits that templates and combinations come from (combination None: any)."""
    kind = rng.random()
    wrapped = {"negations": 0.06, "corrections": 0.03, "retractions": 0.02, "unknown": 0.04}
    for name, share in wrapped.items():
        if kind < share:
            break
        kind -= share
    else:
        command = new_command(rng, phrasing)
        if combination and combination_split(command.answer) != combination:
            return None
        return dress(affix(command, rng, phrasing), rng), command.answer
    wrapper = getattr(GRAMMAR, name).pick(phrasing, rng)[1]
    if name == "unknown":
        return (dress(wrapper, rng), UNKNOWN) if combination != phrasing or phrasing == "train" else None
    first, second = (new_command(rng, "train", imperative=name == "negations" or "{y}" in wrapper) for _ in range(2))
    answer = second.answer if "{y}" in wrapper else NONE
    decisive = second if "{y}" in wrapper else first
    if combination and combination_split(decisive.answer) != combination:
        return None
    first_text = first.plain() if name != "corrections" or rng.random() < 0.3 else first.core
    text = wrapper.replace("{x}", first_text).replace("{y}", second.plain()).replace("{n}", first.name or "that")
    return dress(text, rng), answer


def write(path, count, seed, mixes, taken):
    """`mixes`: (phrasing, combination) of equal parts of the file. `taken`: commands that may not come again."""
    rng = random.Random(seed)
    own, lines = set(), []
    for index, mix in enumerate(mixes):
        goal = count * (index + 1) // len(mixes)
        while len(lines) < goal:
            drawn = sample(rng, *mix)
            if not drawn or drawn[0].lower() in taken or drawn[0] in own:
                continue
            own.add(drawn[0])
            lines.append(f"{drawn[0]}\t{canonical(drawn[1])}\n")
    path.write_text("".join(lines), encoding="utf-8")
    return {command.lower() for command in own}


def schema():
    """The answers' JSON Schema, from the same tables as the answers."""
    percent = {"type": "integer", "minimum": 0, "maximum": 100}
    actions = sorted({intent.action for intent in more.ALL_INTENTS} | {"none", "unknown"})
    properties = {
        "action": {"enum": actions}, "device": {"enum": list(g.DEVICES)}, "room": {"enum": list(g.ROOMS) + ["all"]},
        "brightness": percent, "color": {"enum": list(g.COLORS)}, "position": percent, "temperature": {"type": "number"},
        "volume": percent, "speed": {"enum": g.SPEEDS + [1, 2, 3, 4, 5]}, "channel": {"type": "integer", "minimum": 1},
        "by": {"type": "number", "exclusiveMinimum": 0}, "genre": {"enum": g.GENRES}, "scene": {"enum": list(g.SCENES)},
        "label": {"enum": g.LABELS}, "for": {"type": "string", "pattern": DURATION}, "in": {"type": "string", "pattern": DURATION},
        "at": {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$|^sunrise$|^sunset$"}, "day": {"enum": words.DAYS}}
    assert list(properties) == KEYS
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Answer of models/commands", "type": "object",
            "description": "Compact JSON; keys in the order given here. none: nothing may change. unknown: no home command.",
            "properties": properties, "required": ["action"], "additionalProperties": False,
            "if": {"not": {"properties": {"action": {"enum": ["none", "unknown"]}}}}, "then": {"required": ["action", "device"]},
            "else": {"maxProperties": 1}}


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=here, help="folder of the .tsv files (default: beside this file)")
    parser.add_argument("--train", type=int, default=300_000, help="lines of train.tsv")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    taken = set()
    for split, seed in (("test", 1), ("valid", 2)):
        mixes = [(split, None), ("train", split), (split, split)]
        taken |= write(args.out / f"{split}.tsv", 1500, f"{split}{args.seed}", mixes, taken)
    write(args.out / "train.tsv", args.train, f"train{args.seed}", [("train", "train")], taken)
    (args.out / "schema.json").write_text(json.dumps(schema(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
