#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times vectors of texts from Python by mote and by other packages, in the same rounds: peers.py DIRECTORY [OPTION]...

DIRECTORY is the Hugging Face directory of an encoder of sentence-transformers, such as `scripts/get_model minilm` fetches.
Each side is a process of its own with as many threads as --threads says; in every round each side embeds the same texts once,
in batches of 32: short ones of 8 to 32 tokens, long ones of 256. Printed are the median texts per second over all rounds, by
wall clock and by the processor's time, and the largest difference of a vector's number from torch's in f32. Other programs'
load changes the first alone. --memory TEXTS follows the resident memory of each side over as many texts of mixed lengths
instead, --imports what importing takes. Sides whose packages are not installed are left out, and named:

    pip install -r bench/python/requirements.txt
"""
import argparse
import importlib.util
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from sides import SIDES, prepare  # noqa: E402

WORDS = "time person year way day thing man world life hand part child eye woman place work week case point company".split()
BATCH = 32


def text_of(generator, tokens):
    """Returns a text of so many tokens: each word is one, and two are special."""
    return " ".join(generator.choices(WORDS, k=tokens - 2))


def text_sets(short, long):
    generator = random.Random(3)
    return {"short": [text_of(generator, generator.randint(8, 32)) for _ in range(short)],
            "long": [text_of(generator, 256) for _ in range(long)]}


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def work(name, folder, threads):
    """Answers requests of lines of JSON on standard input: the process of a side."""
    begin = time.perf_counter()
    embed = SIDES[name].load(folder, threads)
    print(json.dumps({"load_s": time.perf_counter() - begin}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        wall, cpu = time.perf_counter(), time.process_time()
        vectors = embed(request["texts"], BATCH)
        answer = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu, "resident": resident()}
        if request.get("vectors"):
            answer["vectors"] = [[float(number) for number in row] for row in vectors]
        print(json.dumps(answer), flush=True)


class Side:
    """A running process of a side."""

    def __init__(self, name, folder, threads):
        self.name = name
        limits = {key: str(threads) for key in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
        quiet = {"TOKENIZERS_PARALLELISM": "false" if threads == 1 else "true", "RAYON_NUM_THREADS": str(threads),
                 "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
        self.log = open(folder / f"{name}.log", "w")
        self.process = subprocess.Popen([sys.executable, __file__, "--work", name, str(folder), str(threads)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        env={**os.environ, **limits, **quiet})
        self.loaded = self._answer()

    def _answer(self):
        for line in self.process.stdout:  # a package may print beside
            if line.startswith("{"):
                return json.loads(line)
        self.log.flush()
        raise SystemExit(f"{self.name} ended: {pathlib.Path(self.log.name).read_text()[-800:]}")

    def ask(self, texts, **more):
        self.process.stdin.write(json.dumps({"texts": texts, **more}) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.log.close()


def available(only):
    found = []
    for name, side in SIDES.items():
        missing = [module for module in side.modules if importlib.util.find_spec(module) is None]
        if only and name not in only:
            continue
        if missing:
            print(f"left out: {name}, without {', '.join(missing)}")
        else:
            found.append(name)
    return found


def compare(names, folder, threads, arguments):
    sets = text_sets(arguments.short, arguments.long)
    sides = [Side(name, folder, threads) for name in names]
    print(f"\n{threads} thread{'s' if threads > 1 else ''}; texts a second by wall clock, by the processor's time; difference")
    reference = {}
    for kind, texts in sets.items():
        first = {side.name: side.ask(texts[:BATCH], vectors=True)["vectors"] for side in sides}  # warms it, too
        reference[kind] = first.get("sentence-transformers, torch", first[names[0]])
        times = {name: [] for name in names}
        for _ in range(arguments.rounds):
            for side in sides:
                answer = side.ask(texts)
                times[side.name].append((answer["wall_s"], answer["cpu_s"]))
        for name in names:
            wall, cpu = (len(texts) / statistics.median(pair[i] for pair in times[name]) for i in (0, 1))
            most = max(abs(a - b) for x, y in zip(first[name], reference[kind]) for a, b in zip(x, y))
            print(f"  {kind:5}  {name:38} {wall:9.1f} {cpu:9.1f}   {most:.1e}", flush=True)
    for side in sides:
        side.end()


def follow_memory(names, folder, threads, count):
    generator = random.Random(2)
    texts = [text_of(generator, generator.randint(4, 200)) for _ in range(1000)]
    print(f"\nresident memory in MB: loaded and after 32 texts, after 1,000, after {count:,} of 2 to 198 words")
    for name in names:
        side = Side(name, folder, threads)
        begin = side.ask(texts[:BATCH])["resident"]
        first = last = side.ask(texts)["resident"]
        for done in range(1000, count, 1000):
            generator.shuffle(texts)
            last = side.ask(texts[:min(1000, count - done)])["resident"]
        side.end()
        print(f"  {name:38} {begin / 1e6:8.1f} {first / 1e6:8.1f} {last / 1e6:8.1f}  {100 * (last / first - 1):+.2f} %", flush=True)


def time_imports(names, rounds):
    """Prints what importing adds to that of numpy: medians of turns, and the memory that is resident then."""
    program = ("import numpy, os, time; b, p = time.perf_counter(), time.process_time()\n{}\n"
               "t, c = time.perf_counter() - b, time.process_time() - p\n"
               "print(t * 1e3, c * 1e3, int(open('/proc/self/statm').read().split()[1]) * 4096 / 1e6)")
    modules = {}
    for name in names:
        modules.setdefault(SIDES[name].imports, name)
    results = {statement: [] for statement in modules}
    for _ in range(rounds):
        for statement in modules:
            said = subprocess.run([sys.executable, "-c", program.format(statement)], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, check=True).stdout
            results[statement].append([float(word) for word in said.split("\n")[-2].split()])
    print("\nimport beside numpy: ms by wall clock, ms of the processor, resident MB")
    for statement, rows in results.items():
        print(f"  {statement:60} " + " ".join(f"{statistics.median(row[i] for row in rows):8.1f}" for i in range(3)), flush=True)


def main():
    if sys.argv[1:2] == ["--work"]:
        return work(sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--short", type=int, default=512, help="short texts of a round")
    parser.add_argument("--long", type=int, default=64, help="long texts of a round")
    parser.add_argument("--only", nargs="+", metavar="SIDE", help=f"of: {', '.join(SIDES)}")
    parser.add_argument("--memory", type=int, metavar="TEXTS")
    parser.add_argument("--imports", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the converted models, which are made once")
    arguments = parser.parse_args()
    names = available(arguments.only)
    if arguments.imports:
        return time_imports(names, arguments.rounds)
    with tempfile.TemporaryDirectory() as made:
        folder = arguments.keep or pathlib.Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        prepare(arguments.directory, folder, names)
        if arguments.memory:
            return follow_memory(names, folder, arguments.threads[0], arguments.memory)
        for threads in arguments.threads:
            compare(names, folder, threads, arguments)


if __name__ == "__main__":
    main()
