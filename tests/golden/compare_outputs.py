#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says where a model differs from its original: compare_outputs.py MODEL_FOLDER OUT.safetensors

MODEL_FOLDER is one of tests/golden/models, OUT what `mote forward --hidden` wrote of its golden.safetensors. Prints each
tensor's largest difference, in the order of the computation; the first above the tolerance is where to look. Exit code 1
if there is one. Needs numpy and safetensors.
"""
import json
import pathlib
import re
import sys

import numpy
from safetensors.numpy import load_file

if len(sys.argv) != 3:
    sys.exit(__doc__.strip())
folder = pathlib.Path(sys.argv[1])
tolerance = json.loads((folder / "golden.json").read_text())["tolerance"]
expected, found = load_file(folder / "golden.safetensors"), load_file(sys.argv[2])
names = [name for name in found if name in expected]
if not names:
    sys.exit("the two files have no tensor in common")
names.sort(key=lambda name: (not name.startswith("hidden."), [int(n) for n in re.findall(r"\d+", name)], name))
wrong = 0
for name in names:
    if expected[name].shape != found[name].shape:
        difference = numpy.inf
    else:
        difference = numpy.abs(expected[name].astype(numpy.float64) - found[name]).max(initial=0)
    over = not difference <= (tolerance if expected[name].dtype == numpy.float32 else 0)
    wrong += over
    print(f"{name:24} {difference:10.2e}{'   above ' + format(tolerance, '.1e') if over else ''}")
sys.exit(1 if wrong else 0)
