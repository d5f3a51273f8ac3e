# SPDX-License-Identifier: Apache-2.0
"""Reads the templates in phrases/*.txt: what can be said for each intent.

A file has blocks. A block opens with "# action value: devices; weight N", where `value` is the answer's key that
{value} fills, "lights*3" counts three times, "_kettle" is meant without being named, what names no device means the first, and "untimed" allows no
"at seven". Each line that follows is a template with choices (a|b), options [a] and slots in braces:
  {np}      the device, and its room where one is named: "the kitchen lights"
  {room}    the room, always named: "the kitchen"      {in}  " in the kitchen", or nothing
  {value}   the intent's value                         {adj} a duration before a noun: "10 minute"
  {at}      "at seven tomorrow"                        {clock} the same without its preposition
In front of a template may stand V: or T:, which keeps it out of training (validation or test only), then ! for
what is no imperative, so that "could you" and "don't" cannot stand before it, or ? where no time fits either.
"""
import pathlib
import re
from collections import namedtuple

import nouns

FOLDER = pathlib.Path(__file__).resolve().parent / "phrases"
INTENT_FILES = "lights climate doors media household clocks".split()
HELD_OUT = {"V": "valid", "T": "test"}

Intent = namedtuple("Intent", "action value devices weight timed templates")


def expand(template):
    """Every phrase of a template, slots left in."""
    while "[" in template:
        template = re.sub(r"\[([^][]*)\]", r"(\1|)", template)
    found = re.search(r"\(([^()]*)\)", template)
    if not found:
        return [" ".join(template.split())]
    return [phrase for choice in found.group(1).split("|")
            for phrase in expand(template[:found.start()] + choice + template[found.end():])]


class Templates:
    """One block: for each split its templates as (mark "", "!" or "?", phrases)."""

    def __init__(self, lines):
        self.of = {"train": [], "valid": [], "test": []}
        for line in lines:
            held_out, mark, template = re.fullmatch(r"(?:([VT]):)?([!?]?)(.*)", line).groups()
            self.of[HELD_OUT.get(held_out, "train")].append((mark, expand(template)))

    def pick(self, split, rng):
        mark, phrases = rng.choice(self.of[split])
        return mark, rng.choice(phrases)

    def phrases(self, split):
        return {phrase for _, phrases in self.of[split] for phrase in phrases}

    def words(self, split):
        return {word.strip(",") for phrase in self.phrases(split)
                for word in re.sub(r"\{\w+\}", " ", phrase).lower().split()}


def _blocks(name):
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    for block in text.strip().split("\n\n"):
        head, *lines = block.splitlines()
        yield head, Templates(lines)


def _devices(text):
    groups = {"SWITCHED": nouns.SWITCHED, "DOORS": nouns.DOORS, "APPLIANCES": nouns.APPLIANCES}
    for part in text.split():
        name, _, count = part.partition("*")
        yield from groups.get(name, [name] * int(count or 1))


def _intent(head, templates):
    action, value, devices, weight, untimed = re.fullmatch(
        r"# (\w+)(?: (\w+))?: ([^;]*); weight (\d+)(; untimed)?", head).groups()
    return Intent(action, value, list(_devices(devices)), int(weight), not untimed, templates)


class Phrases:
    """All intents, and the blocks of sentences.txt by name."""

    def __init__(self):
        self.intents = [_intent(*block) for name in INTENT_FILES for block in _blocks(name)]
        self.sentences = {re.match(r"# (\w+)", head).group(1): block for head, block in _blocks("sentences")}
        self._check()

    def _check(self):
        """What is held out stands in no block of training, and is said in words that training knows."""
        blocks = [intent.templates for intent in self.intents] + list(self.sentences.values())
        seen = set().union(*(block.phrases("train") for block in blocks))
        self.vocabulary = set().union(*(block.words("train") for block in blocks), nouns.words())
        for split in HELD_OUT.values():
            for block in blocks:
                assert not seen & block.phrases(split), f"also in training: {seen & block.phrases(split)}"
                strange = block.words(split) - self.vocabulary
                assert not strange, f"words of {split} that training lacks: {strange}"
