#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures answers with guessed tokens beside answers without, which must have the same ids.

    bench/speculate.py MODEL.mote [--mote build/mote] [--threads 2] [--rounds 5] [--tokens 160] [--temp T] [--draft SMALLER.mote]

The model is one that chats, such as SmolLM2 (scripts/get_model smollm2, then mote convert). Prompts of the first kind ask for
text that is given, again or with a small change; those of the second for text that repeats nothing; those of the third keep to
a schema full of names. Ways take turns. Tokens a second are those after the first token, the medians of the rounds; a ratio is
the median of the rounds' ratios, each of two turns that follow each other, so that other programs hold up both. The last line
has what the schema itself costs: answers with it beside answers without, none with guesses."""
import argparse
import json
import statistics
import subprocess
import sys

TEXT = """The lighthouse keeper climbed the stairs at seven in the morning. He cleaned the lamp, filled the tank with oil and \
wrote the weather into the book. The wind came from the west, the sea was calm, and two ships were in sight. At noon a boat \
brought bread, letters and a new rope. In the evening he lit the lamp and sat down to read."""
CODE = """def area(width, height):
    if width < 0 or height < 0:
        raise ValueError("negative size")
    return width * height


def volume(width, height, depth):
    if depth < 0:
        raise ValueError("negative size")
    return area(width, height) * depth
"""
LIST = "\n".join(f"{name}: {count} pieces" for name, count in
                 [("apples", 12), ("bread", 3), ("candles", 40), ("flour", 7), ("lamps", 2), ("matches", 300), ("oil", 5),
                  ("paper", 21), ("rope", 1), ("salt", 9), ("soap", 15), ("tea", 4)])
KINDS = {
    "repeats": [f"Repeat this text word for word:\n{TEXT}", f"Repeat this code exactly:\n{CODE}",
                f"Copy this list and change nothing:\n{LIST}", f"Correct the spelling of this text and print it:\n{TEXT}"],
    "new": ["Write a short story about a boy who finds a key in the garden.",
            "Explain how a steam engine works.", "Why is the sky blue?", "Describe a market in a small town."],
}
NAMES = ("identification_number", "registered_owner_name", "registration_country_code", "vehicle_manufacturer_name",
         "maximum_permitted_weight_in_kilograms", "has_valid_insurance", "first_registration_year", "primary_body_color")
SCHEMA = json.dumps({"type": "object", "required": list(NAMES), "properties": {
    name: {"type": "boolean"} if name.startswith("has") else
          {"type": "integer", "minimum": 0, "maximum": 99999} if name.endswith(("kilograms", "year", "number")) else
          {"type": "string", "maxLength": 16} for name in NAMES}})
KINDS["names"] = ["Describe a car in JSON.", "Invent a lorry and describe it in JSON."]
SHAPES = {"names": ["--json-schema", SCHEMA]}
WAYS = ("off", "auto", "lookup")


def answer(arguments, prompt, way, shape):
    command = [arguments.mote, "run", arguments.model, "--chat", "-p", prompt, "-n", str(arguments.tokens), "--json",
               "--threads", str(arguments.threads), "--speculate", way, "--repeat-penalty", "1", *shape]
    if arguments.draft and way in ("auto", "draft"):
        command += ["--draft", arguments.draft]
    if arguments.temp is not None:
        command += ["--temp", str(arguments.temp), "--seed", "1"]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(ran.stderr)
    return json.loads(ran.stdout)


def compare_shaped(arguments):
    """Prints the speed of answers of the schema over that of free ones of the same prompts, without guesses."""
    ratios = []
    for prompt in KINDS["names"]:
        for _ in range(2 * arguments.rounds):
            shaped, free = (answer(arguments, prompt, "off", shape) for shape in (SHAPES["names"], ["--ignore-stop"]))
            ratios.append(shaped["decode_tokens_per_s"] / free["decode_tokens_per_s"])
    print(f"with the schema beside without, off: {statistics.median(ratios):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--mote", default="build/mote")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=160)
    parser.add_argument("--temp", type=float)
    parser.add_argument("--draft", help="also guess by this model")
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    arguments = parser.parse_args()
    ways = WAYS + (("draft",) if arguments.draft else ())
    print(f"| answer | {' | '.join(ways)} | drafted, stood of auto |\n|{'---|' * (len(ways) + 2)}")
    for kind in arguments.kinds:
        ratios = {way: [] for way in ways}
        for at, prompt in enumerate(KINDS[kind]):
            speeds, ids, guesses = {way: [] for way in ways}, None, None
            for _ in range(arguments.rounds):
                for way in ways:
                    said = answer(arguments, prompt, way, SHAPES.get(kind, []))
                    speeds[way].append(said["decode_tokens_per_s"])
                    ids = ids or said["output_ids"]
                    if ids != said["output_ids"]:
                        sys.exit(f"--speculate {way} says something else: {prompt}")
                    if way == "auto":
                        guesses = said["speculation"]
            for way in ways:
                ratios[way].append(statistics.median(speed / off for speed, off in zip(speeds[way], speeds["off"])))
            middle = " | ".join(f"{statistics.median(speeds[way]):.0f}" for way in ways)
            print(f"| {kind} {at + 1}, {len(ids)} tokens | {middle} | {guesses['drafted']}, {guesses['stood']} |", flush=True)
        means = " | ".join(f"{statistics.mean(ratios[way]):.2f}" for way in ways)
        print(f"| {kind}, mean of ratios | {means} | |", flush=True)
    if "names" in arguments.kinds:
        compare_shaped(arguments)


main()
