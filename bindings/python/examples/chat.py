# SPDX-License-Identifier: Apache-2.0
"""A conversation, a line a turn: chat.py MODEL. Ctrl-C ends an answer."""
import sys

import mote


def main() -> None:
    with mote.open(sys.argv[1]) as model, model.chat() as chat:
        for line in sys.stdin:
            try:
                for part in chat.say(line.rstrip("\n")):
                    print(part, end="", flush=True)
            except KeyboardInterrupt:
                pass
            print()


if __name__ == "__main__":
    main()
