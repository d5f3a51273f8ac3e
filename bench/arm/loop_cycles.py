#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cycles of a kernel's inner loops by llvm-mca: LLVM's models of the cores, not silicon.

  loop_cycles.py FILE.s CPU [--functions REGEX] [--work MULTIPLY_ADDS]

FILE.s is the assembly of a kernel. For each function that REGEX matches, the longest loop without a loop inside is
timed from registers and L1: instructions, cycles a turn, and, with --work, multiply-adds a cycle. The function's
R in tile<R> multiplies the work."""
import argparse
import re
import subprocess

LABEL = re.compile(r"^(\.L\w+):")
BRANCH = re.compile(r"^\s+(?:b\.?\w*|cbn?z|tbn?z)\s+(?:.*,\s*)?(\.L\w+)\s*$")


def functions(path):
    """Name and lines of each function of an assembly file."""
    name, lines, off = None, [], False
    for line in open(path):
        start = re.match(r"^([A-Za-z_][\w.$]*):", line)
        if start:
            name, lines = start.group(1), []
        elif name and line.startswith("\t.size\t" + name):
            yield name, lines
            name = None
        elif name:
            if skipped := re.match(r"\s*\.if (\d+)", line):
                off = skipped.group(1) == "0"
            elif ".endif" in line:
                off = False
            elif not off:
                lines.append(line)


def innermost_loops(lines):
    """Lines of every loop that has none inside."""
    labels = {}
    for at, line in enumerate(lines):
        label = LABEL.match(line)
        if label:
            labels[label.group(1)] = at
    loops = []
    for at, line in enumerate(lines):
        branch = BRANCH.match(line)
        if branch and labels.get(branch.group(1), at) < at:
            loops.append((labels[branch.group(1)], at + 1))
    inner = [l for l in loops if not any(o != l and l[0] <= o[0] and o[1] <= l[1] for o in loops)]
    for begin, end in inner:
        yield [l for l in lines[begin:end] if re.match(r"^\s*[a-z][^:]*$", l)]


def cycles(body, cpu):
    """Instructions and cycles of a turn of the loop."""
    turns = 100
    text = "".join(body).replace("// ", "@ ")
    result = subprocess.run(["llvm-mca-19", "-mtriple=aarch64", "-mcpu=" + cpu, f"-iterations={turns}",
                             "-instruction-info=0", "-resource-pressure=0"],
                            input=text, capture_output=True, text=True, check=True).stdout
    read = lambda what: int(re.search(what + r":\s+(\d+)", result).group(1))
    return read("Instructions") / turns, read("Total Cycles") / turns


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file")
    options.add_argument("cpu")
    options.add_argument("--functions", default="tile")
    options.add_argument("--work", type=float, default=0)
    options.add_argument("--body", action="store_true", help="print the loops")
    args = options.parse_args()
    for name, lines in functions(args.file):
        readable = subprocess.run(["c++filt", name.split(".")[0]], capture_output=True, text=True).stdout.strip()
        if not re.search(args.functions, readable):
            continue
        body = max(innermost_loops(lines), key=len, default=None)
        if body is None:
            continue
        instructions, each = cycles(body, args.cpu)
        rows = re.findall(r"\b(\d+)u\b", readable.split("tile")[-1])  # a format may have numbers before
        work = args.work * (int(rows[-1]) if rows else 1)
        short = re.sub(r"\(anonymous namespace\)::|mote::|void ", "", readable).split("(mote")[0].split("(Linear")[0]
        print(f"{short}: {instructions:g} instructions, {each:g} cycles" +
              (f", {work / each:.2f} multiply-adds a cycle" if args.work else ""))
        if args.body:
            print("".join(body))


main()
