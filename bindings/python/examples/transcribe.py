# SPDX-License-Identifier: Apache-2.0
"""Speech as subtitles in WebVTT, a segment as soon as it is known: transcribe.py MODEL SOUND"""
import sys

import mote


def clock(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{int(minutes // 60):02}:{int(minutes % 60):02}:{rest:06.3f}"


def show(text: str, begin: float, end: float) -> None:
    print(f"{clock(begin)} --> {clock(end)}\n{text.strip()}\n", flush=True)


def main() -> None:
    print("WEBVTT\n")
    with mote.open(sys.argv[1]) as model:
        model.transcribe(sys.argv[2], on_segment=show)


if __name__ == "__main__":
    main()
