#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Transcribes a long recording, with speech told from silence and with times of words, by mote and its peers.

    bench/speech_hour.py CTRANSLATE2_DIRECTORY [--minutes 60] [--threads 1] [--rounds 1]

espeak-ng speaks sentences in several voices, with pauses between them, until the recording is as long as that. The same
weights (`scripts/get_model whisper-tiny` or `whisper-base`) are converted to mote's 8 bits, to CTranslate2's int8 by
faster-whisper as it loads them, and to whisper.cpp's q8_0. All decode greedily, with what each does by default when a text
fails. WHISPER_CPP names the folder of whisper-cli and whisper-quantize, SILERO whisper.cpp's model of speech; a peer that
is not there is left out. Prints the processor's seconds, wall time, the most memory and the words that are wrong, and of
mote without --words what the times cost."""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import wave

from speech import ROOT, SENTENCES, VOICES, errors, to_16_khz, words

RATE = 16000


def speak_for(seconds, folder):
    """Writes the recording and returns its path with the words that are said."""
    draw = random.Random(1)
    said, frames, clips = [], bytearray(), {}
    while len(frames) < 2 * RATE * seconds:
        i, voice = draw.randrange(len(SENTENCES)), draw.choice(VOICES)
        if (i, voice) not in clips:
            path = folder / "clip.wav"
            name, speed, pitch = voice
            subprocess.run(["espeak-ng", "-v", name, "-s", str(speed), "-p", str(pitch), "-w", path, SENTENCES[i]], check=True)
            to_16_khz(path)
            with wave.open(str(path)) as clip:
                clips[i, voice] = clip.readframes(clip.getnframes())
        frames += clips[i, voice] + bytes(2 * int(RATE * draw.choice((0.2, 0.5, 1, 1, 2, 8))))
        said += words(SENTENCES[i])
    path = folder / "recording.wav"
    with wave.open(str(path), "wb") as sound:
        sound.setparams((1, 2, RATE, 0, "NONE", ""))
        sound.writeframes(frames)
    return path, said


def run(command):
    """Runs a program; returns its standard output, the processor's seconds, wall time and most resident bytes."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{command[0]} ended with {process.returncode}")
        out.seek(0)
        return out.read().decode(), used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss * 1024


def mote_text(out):
    return json.loads(out)["text"]


def faster_whisper(directory, sound, threads):
    """Prints the text; in a process of its own, so that its memory is its own."""
    import faster_whisper
    model = faster_whisper.WhisperModel(directory, device="cpu", compute_type="int8", cpu_threads=threads)
    options = {"beam_size": 1, "language": "en", "vad_filter": True, "word_timestamps": True}
    print(" ".join(segment.text for segment in model.transcribe(sound, **options)[0]))


def sides_of(directory, sound, folder, arguments):
    """Yields the name, the command and what finds the text in its output, for each side that is installed."""
    threads = arguments.threads
    model = folder / "model.mote"
    subprocess.run([arguments.mote, "convert", directory, "-o", model, "--type", "q8"], check=True, stdout=subprocess.DEVNULL)
    mote = [arguments.mote, "transcribe", model, sound, "--vad", "--json", "--language", "en", "--threads", threads]
    yield "mote q8", [*mote, "--words"], mote_text
    yield "mote q8, no words", mote, mote_text
    try:
        __import__("faster_whisper")
        yield "faster-whisper int8", [sys.executable, __file__, directory, "--child", sound, "--threads", threads], str
    except ImportError:
        print("faster_whisper is not installed", file=sys.stderr)
    if "WHISPER_CPP" in os.environ:
        programs = pathlib.Path(os.environ["WHISPER_CPP"])
        subprocess.run([sys.executable, ROOT / "bench" / "whisper_ggml.py", directory, folder / "f16.bin", "f16"], check=True)
        subprocess.run([programs / "whisper-quantize", folder / "f16.bin", folder / "q8_0.bin", "q8_0"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        yield "whisper.cpp q8_0", [
            programs / "whisper-cli", "--no-gpu", "--model", folder / "q8_0.bin", "--file", sound, "--threads", threads,
            "--language", "en", "--beam-size", 1, "--best-of", 1, "--vad", "--vad-model", os.environ["SILERO"], "--max-len", 1,
            "--split-on-word", "--output-txt", "--output-file", folder / "cpp"], lambda _: (folder / "cpp.txt").read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", help="sides whose names begin so")
    parser.add_argument("--mote", type=pathlib.Path, default=ROOT / "build" / "mote")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return faster_whisper(str(arguments.directory), arguments.child, arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        sound, said = speak_for(60 * arguments.minutes, folder)
        measured = {}
        sides = [side for side in sides_of(arguments.directory, sound, folder, arguments)
                 if side[0].startswith(arguments.only or "")]
        for _ in range(arguments.rounds):
            for name, command, text in sides:
                out, *costs = run(command)
                measured.setdefault(name, []).append((*costs, errors(said, words(text(out)))))
                print(name, *measured[name][-1], file=sys.stderr)
        print(f"{arguments.minutes:g} minutes, {len(said)} words, {arguments.directory.name}, "
              f"threads: {arguments.threads}, the least of {arguments.rounds}")
        print("| | processor, s | wall, s | memory, MB | words wrong, % |\n|---|---|---|---|---|")
        for name, rows in measured.items():
            processor, wall, memory, wrong = (min(column) for column in zip(*rows))
            print(f"| {name} | {processor:.1f} | {wall:.1f} | {memory / 1e6:.0f} | {100 * wrong / len(said):.2f} |")


if __name__ == "__main__":
    main()
