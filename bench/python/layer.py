#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what mote for Python adds to the library, and how memory grows: layer.py MODEL [TEXTS [WORDS]]

MODEL is a .mote file that gives vectors. One thread computes. A call is timed in the processor's time of the process, so that
other programs' load does not count; calls through Python and calls of the C function with inputs made before take turns.
Then as many texts as TEXTS says (100,000), each of 1 to WORDS words (200), go through an iterator, and the resident memory
after the first 1,000 is compared with that after all. Longer texts than the model takes are cut.
"""
import random
import statistics
import sys
import time

import mote
from mote._inputs import text_inputs
from mote._library import host

WORDS = "time person year way day thing man world life hand part child eye woman place work week case point company".split()


def text_of(generator, least, most):
    return " ".join(generator.choices(WORDS, k=generator.randint(least, most)))


def resident():
    """Returns the process's resident memory in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def timed(call):
    begin = time.process_time_ns()
    call()
    return (time.process_time_ns() - begin) / 1e3


def compare_calls(model, batch, rounds):
    """Prints the microseconds of a call in C and in Python, and what the second adds."""
    generator = random.Random(1)
    texts = [text_of(generator, 8, 24) for _ in range(batch)]
    inputs, library, address = text_inputs(texts), host(), model._handle.address

    def in_c():
        result = library.mote_host_embed(address, inputs.array, inputs.count, None, None)
        library.mote_host_free(result)

    def in_python():
        model.embed(texts)

    for call in (in_c, in_python):
        call()
    pairs = [(timed(in_c), timed(in_python)) for _ in range(rounds)]
    c = statistics.median(pair[0] for pair in pairs)
    added = statistics.median(pair[1] - pair[0] for pair in pairs)
    print(f"batch {batch}: {c:.0f} us in C, {added:.1f} us more in Python ({100 * added / c:.2f} %)")


def follow_memory(model, count, words):
    generator = random.Random(2)
    texts = (text_of(generator, 1, words) for _ in range(count))
    first = None
    for done, _ in enumerate(model.embed(texts, truncate=True, batch_size=32), 1):
        if done == min(1000, count):
            first = resident()
    last = resident()
    assert first is not None
    print(f"resident after 1,000 texts {first / 1e6:.1f} MB, after {count:,} {last / 1e6:.1f} MB ({100 * (last / first - 1):+.2f} %)")


def main():
    count, words = (int(given) for given in (sys.argv[2:4] + ["100000", "200"][len(sys.argv[2:4]) :]))
    with mote.open(sys.argv[1], threads=1) as model:
        compare_calls(model, 1, 1000)
        compare_calls(model, 32, 60)
        follow_memory(model, count, words)


if __name__ == "__main__":
    main()
