#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An estimate of a board's speed, made of counts: no measurement.

  pi_estimate.py BOARD MEGABYTES MILLION_INSTRUCTIONS [--per-cycle N] [--threads N]

A token takes the longer of two times: its bytes (the weights that it reads, and keys and values) over the board's
bandwidth, and its instructions (count_tokens) over instructions a cycle, cores and clock. --per-cycle is what
loop_cycles.py says of the loop that takes most of them: its instructions over its cycles."""
import argparse

# Core, clock in GHz, and GB/s that 1 to 4 threads read. Pi 5 and Pi 4: measured by others (of the Pi 5, 3 threads
# between 2 and 4); the others have 32 bits of LPDDR2 at 900 MT/s, 3.6 GB/s, of which 60 % are assumed.
BOARDS = {
    "zero2w": ("cortex-a53", 1.0, (2.2, 2.2, 2.2, 2.2)),
    "pi3": ("cortex-a53", 1.4, (2.2, 2.2, 2.2, 2.2)),
    "pi4": ("cortex-a72", 1.8, (5.7, 5.7, 5.7, 5.7)),
    "pi5": ("neoverse-n1", 2.4, (13.8, 12.7, 11.7, 10.7)),
}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("board", choices=BOARDS)
    options.add_argument("megabytes", type=float)
    options.add_argument("instructions", type=float)
    options.add_argument("--per-cycle", type=float, default=1.0)
    options.add_argument("--threads", type=int, default=1)
    args = options.parse_args()
    core, clock, bandwidths = BOARDS[args.board]
    threads = max(1, min(args.threads, len(bandwidths)))
    memory = args.megabytes / bandwidths[threads - 1]
    compute = args.instructions / args.per_cycle / clock / threads
    bound = "memory" if memory > compute else "instructions"
    print(f"{args.board} ({core}, {clock:g} GHz, {threads} threads), estimated: {max(memory, compute):.1f} ms a token, "
          f"{1000 / max(memory, compute):.1f} tokens a second, bound by {bound} "
          f"(memory {memory:.1f} ms, instructions {compute:.1f} ms)")


main()
