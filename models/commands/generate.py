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

import nouns
import words
from command import Command
from phrases import Phrases

KEYS = ["action", "device", "room", "brightness", "color", "position", "temperature", "volume", "speed", "channel", "by",
        "genre", "scene", "label", "for", "in", "at", "day"]
NONE, UNKNOWN = {"action": "none"}, {"action": "unknown"}
QUESTIONS = set("is are am was what what's how did do does who when where will has have can could would".split())
PHRASES = Phrases()
TYPIST = words.Typist(PHRASES.vocabulary)
CLOCK = "^([01][0-9]|2[0-3]):[0-5][0-9]$|^sunrise$|^sunset$"
DURATION = "^PT([0-9]{1,2}H)?([0-9]{1,2}M)?([0-9]{1,2}S)?$"


def canonical(answer):
    return json.dumps({key: answer[key] for key in KEYS if key in answer}, separators=(",", ":"))


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


def dress(text, rng):
    """Upper case, full stops, dropped articles and typing errors, as people and speech recognizers write."""
    if rng.random() < 0.1:
        text = re.sub(r"\b(the|a) ", "", text) or text
    if rng.random() < 0.12:
        text = TYPIST.slip(text, rng)
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
    weights = [intent.weight for intent in PHRASES.intents]
    while True:
        intent = rng.choices(PHRASES.intents, weights)[0]
        if not intent.templates.of[split]:
            continue
        mark, phrase = intent.templates.pick(split, rng)
        if not imperative or not mark:
            return Command(intent, mark, phrase, rng)


def affix(command, rng, split):
    """The command with what people put around it, half of it in the split's own words."""
    def affixed(name):
        return PHRASES.sentences[name].pick(rng.choice(["train", split]), rng)[1]

    text = command.plain()
    if rng.random() < 0.3 and not command.mark and not command.lead:
        text = affixed("prefixes") + " " + text
    elif rng.random() < 0.06:
        text = f"{rng.choice(['hey', 'ok', 'okay', 'hi', 'please'])} {text}"
    if rng.random() < 0.15:
        text += rng.choice([" ", ", "]) + affixed("suffixes")
    return text


def sample(rng, phrasing, combination):
    """(command, answer), or None where the draw belongs to another split. `phrasing` and `combination` name the
    splits that templates and combinations come from (combination None: any)."""
    kind = rng.random()
    wrapped = {"negations": 0.06, "corrections": 0.05, "retractions": 0.02, "unknown": 0.04}
    for name, share in wrapped.items():
        if kind < share:
            break
        kind -= share
    else:
        command = new_command(rng, phrasing)
        if combination and combination_split(command.answer) != combination:
            return None
        return dress(affix(command, rng, phrasing), rng), command.answer
    wrapper = PHRASES.sentences[name].pick(phrasing, rng)[1]
    if name == "unknown":  # has no combination: new by its phrasing, or training's
        return (dress(wrapper, rng), UNKNOWN) if combination in (None, "train") else None
    said = [new_command(rng, "train", imperative=name == "negations" or "{y}" in wrapper) for _ in wrapper.split("{y}")]
    if combination and any(combination_split(command.answer) != combination for command in said):
        return None
    first, second = said[0], said[-1]
    answer = second.answer if "{y}" in wrapper else NONE
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
    duration = {"type": "string", "pattern": DURATION}
    actions = sorted({intent.action for intent in PHRASES.intents} | {"none", "unknown"})
    properties = {
        "action": {"enum": actions}, "device": {"enum": list(nouns.DEVICES)},
        "room": {"enum": list(nouns.ROOMS) + ["all"]},
        "brightness": percent, "color": {"enum": list(nouns.COLORS)}, "position": percent,
        "temperature": {"type": "number"}, "volume": percent, "speed": {"enum": nouns.SPEEDS + [1, 2, 3, 4, 5]},
        "channel": {"type": "integer", "minimum": 1}, "by": {"type": "number", "exclusiveMinimum": 0},
        "genre": {"enum": nouns.GENRES}, "scene": {"enum": list(nouns.SCENES)}, "label": {"enum": nouns.LABELS},
        "for": duration, "in": duration, "at": {"type": "string", "pattern": CLOCK}, "day": {"enum": words.DAYS}}
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
    parser.add_argument("--train", type=int, default=280_000, help="lines of train.tsv")
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
