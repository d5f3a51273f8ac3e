#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the pages of a mixture of experts that decoding reads, by mincore(2) on a file that was not in memory.

    bench/mixture_pages.py build/mote WORK

Makes the shape mixture-1g of make_random_model.py in WORK (4 GB there for a while, 1 GB in the end), runs some tokens
from a cold page cache and prints, beside what is in memory afterwards, the bytes of the weights that the tokens need.
The system reads ahead: /sys/block/DEVICE/queue/read_ahead_kb says how far (128 on most systems)."""
import argparse
import ctypes
import json
import mmap
import os
import pathlib
import shutil
import subprocess
import sys

from make_random_model import EXPERTS, SHAPES

SHAPE = "mixture-1g"
TOKENS = (1, 2, 4, 16)
Q4_BITS = 4.5  # with the scales


def bytes_in_memory(path):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    with open(path, "rb") as file:
        size = path.stat().st_size
        address = libc.mmap(None, ctypes.c_size_t(size), mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), ctypes.c_long(0))
        pages = (ctypes.c_ubyte * (-(-size // mmap.PAGESIZE)))()
        if libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), pages) != 0:
            raise OSError(ctypes.get_errno(), "mincore")
        libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(size))
    return sum(page & 1 for page in pages) * mmap.PAGESIZE


def forget(path):
    """Drops the file from the page cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def expert_bytes(path, mote):
    """Of one expert of one layer, and of everything else."""
    width, ffn, layers = SHAPES[SHAPE][:3]
    inspected = json.loads(subprocess.run([mote, "inspect", path, "--json"], check=True, capture_output=True).stdout)
    each = 3 * width * ffn * Q4_BITS / 8
    return each, inspected["weight_bytes"] - each * layers * EXPERTS[SHAPE][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mote", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    path = arguments.work / f"{SHAPE}.mote"
    if not path.exists():
        directory = arguments.work / SHAPE
        maker = pathlib.Path(__file__).with_name("make_random_model.py")
        subprocess.run([sys.executable, maker, SHAPE, directory], check=True)
        subprocess.run([arguments.mote, "convert", directory, "-o", path, "--type", "q4"], check=True,
                       stdout=subprocess.DEVNULL)
        shutil.rmtree(directory)
    (experts, chosen), layers = EXPERTS[SHAPE], SHAPES[SHAPE][2]
    each, others = expert_bytes(path, arguments.mote)
    print(f"{path.stat().st_size / 1e6:.0f} MB, {experts} experts of {each / 1e6:.2f} MB in each of {layers} layers, "
          f"{chosen} chosen; everything else {others / 1e6:.0f} MB")
    print("tokens  MB in memory  MB if every token chose others")
    for count in TOKENS:
        forget(path)
        subprocess.run([arguments.mote, "run", path, "--ids", "7", "-n", str(count), "--greedy"], check=True,
                       stdout=subprocess.DEVNULL)
        most = others + layers * each * min(experts, chosen * count)
        print(f"{count:6}  {bytes_in_memory(path) / 1e6:12.0f}  {most / 1e6:.0f}")


if __name__ == "__main__":
    main()
