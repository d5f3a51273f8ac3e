# SPDX-License-Identifier: Apache-2.0
"""Replaces this process by the command `mote`: `python -m mote ARGUMENTS`, and the script `mote`."""
import os
import subprocess
import sys

from ._library import command


def main() -> None:
    """Runs the command with the arguments of this process. Does not return."""
    try:
        program = command()
    except ImportError as error:
        sys.exit(f"mote: {error}")
    if sys.platform == "win32":  # which cannot replace a process
        sys.exit(subprocess.call([program, *sys.argv[1:]]))
    sys.stdout.flush()
    os.execv(program, ["mote", *sys.argv[1:]])


if __name__ == "__main__":
    main()
