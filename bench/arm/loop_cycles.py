#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cycles of a kernel's inner loops by llvm-mca: LLVM's models of the cores, not silicon.

  loop_cycles.py FILE.o CPU [--functions REGEX] [--around]

FILE.o is a kernel, compiled for aarch64. For each function that REGEX matches, the longest loop without a loop inside
is timed from registers and L1: instructions, cycles a turn, and the integer multiply-adds a cycle. With --around it is
the longest loop whose inner loops have none inside, each of which turns once: groups of columns around the parts of a
group, or columns around prefetches."""
import argparse
import collections
import re
import subprocess

INSTRUCTION = re.compile(r"^\s+([0-9a-f]+):\s+(\S.*)$")
BRANCH = re.compile(r"^(?:b(?:\.\w+)?|cbn?z|tbn?z)\s+(?:.*,\s*)?([0-9a-f]+) <")

# Multiply-adds of one instruction, by its name and the lanes of its sums.
PRODUCTS = {("sdot", "4s"): 16, ("usdot", "4s"): 16, ("smmla", "4s"): 32, ("usmmla", "4s"): 32,
            **{(name, lanes): int(lanes[0]) for name in ("smull", "smull2", "smlal", "smlal2") for lanes in ("8h", "4s")}}


def run(command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def functions(path):
    """Name of each function of an object file, and its instructions as (address, text)."""
    name, lines = None, []
    for line in run(["aarch64-linux-gnu-objdump", "-d", "-C", "--no-show-raw-insn", path]).splitlines():
        if start := re.match(r"^[0-9a-f]+ <(.*)>:$", line):
            if name:
                yield name, lines
            name, lines = start.group(1), []
        elif instruction := INSTRUCTION.match(line):
            lines.append((int(instruction.group(1), 16), instruction.group(2)))
    if name:
        yield name, lines


def edges(lines):
    """Pairs of places: an instruction, and one that may run after it."""
    places = {address: at for at, (address, _) in enumerate(lines)}
    for at, (_, text) in enumerate(lines):
        branch = BRANCH.match(text)
        if branch and int(branch.group(1), 16) in places:
            yield at, places[int(branch.group(1), 16)]
        if at + 1 < len(lines) and not re.match(r"(b|br|ret)(\s|$)", text):
            yield at, at + 1


def walk(starts, after):
    """Lists of what each start leads to and no earlier one did, in the order in which the walk leaves it."""
    seen = set()
    for start in starts:
        left, path = [], [(start, iter(after[start]))] if start not in seen else []
        seen.add(start)
        while path:
            at, rest = path[-1]
            place = next((place for place in rest if place not in seen), None)
            if place is None:
                left.append(path.pop()[0])
            else:
                seen.add(place)
                path.append((place, iter(after[place])))
        if left:
            yield left


def loops(pairs):
    """Loops as (places, loops inside): the strongly connected parts of a graph, and of each without the edges to where
    it is entered (Kosaraju's algorithm)."""
    after, before = collections.defaultdict(list), collections.defaultdict(list)
    for a, b in pairs:
        after[a].append(b)
        before[b].append(a)
    order = [place for part in walk(sorted(set(after) | set(before)), after) for place in part]
    for part in map(set, walk(reversed(order), before)):
        within = [(a, b) for a in part for b in after[a] if b in part]
        if within:
            entries = {b for b in part if any(a not in part for a in before[b])} or {min(part)}
            yield part, list(loops([(a, b) for a, b in within if b not in entries]))


def longest_loop(lines, around):
    """The texts of the longest loop without a loop inside, or of the longest around such loops."""
    found, left = [], list(loops(edges(lines)))
    while left:
        part, inner = left.pop()
        left += inner
        if (bool(inner) and not any(i for _, i in inner)) if around else not inner:
            found.append(part)
    if not found:
        return None
    texts = [lines[at][1] for at in sorted(max(found, key=len))]
    return [text for text in texts[:-1] if not BRANCH.match(text)] + texts[-1:]


def products(body):
    names = (re.match(r"(\w+)\s+v\d+\.(\w+)", line) for line in body)
    return sum(PRODUCTS.get(name.groups(), 0) for name in names if name)


def cycles(body, cpu):
    """Instructions and cycles of a turn of the loop."""
    turns = 100
    text = "\n".join(re.sub(r"\b([0-9a-f]+) <.*>", r"0", line).split("//")[0] for line in body)
    result = run(["llvm-mca-19", "-mtriple=aarch64", "-mcpu=" + cpu, f"-iterations={turns}", "-instruction-info=0",
                  "-resource-pressure=0"], text)
    read = lambda what: int(re.search(what + r":\s+(\d+)", result).group(1))
    return read("Instructions") / turns, read("Total Cycles") / turns


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file")
    options.add_argument("cpu")
    options.add_argument("--functions", default="tile")
    options.add_argument("--around", action="store_true", help="a loop around loops, each of which turns once")
    options.add_argument("--body", action="store_true", help="print the loops")
    args = options.parse_args()
    for name, lines in functions(args.file):
        if not re.search(args.functions, name):
            continue
        body = longest_loop(lines, args.around)
        if body is None:
            continue
        instructions, each = cycles(body, args.cpu)
        short = re.sub(r"\(anonymous namespace\)::|mote::|void ", "", name).split("(LinearArgs")[0]
        print(f"{short}: {instructions:g} instructions, {each:g} cycles, {products(body) / each:.2f} multiply-adds a cycle")
        if args.body:
            print("\n".join(body))


main()
