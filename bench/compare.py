#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs mote and the installed peers side by side and prints how they compare.

    bench/compare.py [--only PATTERN] [--rounds 5] [--threads 2] [--markdown FILE] [--svg FILE]

Each round measures mote and every peer once, one after the other, so that what disturbs the machine meets all of them;
medians count. mote's share is that of the machine's limit, measured in the same run: reading memory for decoding,
multiplying for prompts and encoders (docs/performance.md); of its peak of memory it is what the file and the arena take.
Far into a text each round measures mote at depth 0, too.
Process start and memory are those of whole processes: mote's command, and llama_generate.c, which is llama.cpp
without Python. A peak is measured once, after a prompt that fills the context.

Peers that are not installed are left out: llama-cpp-python; openvino_genai; of encoder-decoders ctranslate2 alone; and, whose models take torch and transformers
to make, onnxruntime and openvino (both with onnx; in 8 bits openvino needs nncf) and ctranslate2.
llama-cpp-python 0.3.36 crashes in prompts on CPUs with AMX where GCC 12 compiled it: there install it with CC=clang CXX=clang++,
which leaves AMX out.

Models are made once, in --work: random weights in the shapes of a 1 B llama, of BERT-base and, by torch and transformers, of
ModernBERT, ViT and others, and conversions of the real SmolLM2 and MiniLM that `./scripts/demo smollm2 q` and `./scripts/demo minilm` fetch, and Whisper's that `scripts/get_model`
does, with sentences that espeak-ng speaks (peers: faster-whisper and, where WHISPER_CPP names the folder of its whisper-cli
and whisper-quantize, whisper.cpp)."""
import argparse
import gc
import os
import pathlib
import sys

import contenders
import report
from models import ROOT, Models, installed

SMOLLM2 = ROOT / "models" / "downloads" / "SmolLM2-135M-Instruct.Q4_1.gguf"
GEMMA = ROOT / "models" / "downloads" / "gemma-3-270m-q4_k_m.gguf"
MINILM = ROOT / "models" / "downloads" / "all-MiniLM-L6-v2"
CONTEXT = 2048
START = {"context": CONTEXT, "tokens": 1, "text": "The capital of France is"}
PEAK = {"context": CONTEXT, "tokens": 8, "ids": CONTEXT - 8}


def text_works(*works):
    return [(f", {length} tokens" + (f" x {batch}" if batch > 1 else ""), {"prompt": length, "batch": batch})
            for length, batch in works]


BERT_WORKS = text_works((32, 1), (128, 1), (384, 1), (128, 8))
MINILM_WORKS = text_works((32, 1), (128, 1), (256, 1), (128, 8))  # its texts have 256 tokens at most


class Row:
    """`file` makes mote's model; `peers` are (class, what makes its file, its name for that)."""

    def __init__(self, title, group, file, work, peers, mote=contenders.Mote, unit="ms"):
        self.title, self.group, self.file, self.work, self.peers = title, group, file, work, peers
        self.mote, self.unit = mote, unit


def decoder_rows(title, file, peer, *of_prompts):
    yield Row(f"{title}, decode", "Decoding", file, {"decode": 32}, [peer])
    yield Row(f"{title}, prompt of 512", "Prompts", file, {"prompt": 512}, [peer, *of_prompts])


def process_row(title, work, file, gguf, kind, models, unit):
    peer = (contenders.LlamaCppProcess, lambda: (models.llama_generate(), gguf()), kind)
    return Row(title, "Processes", file, work, [peer], contenders.MoteProcess, unit)


def encoder_rows(title, directory, kind, models, works=BERT_WORKS, group="Encoders", options=("--pooling", "none")):
    """`works` are pairs of (what the title says of it, work)."""
    if kind == "f32":
        onnx = lambda: models.onnx(directory())
        peers = [(contenders.OnnxRuntime, onnx, "f32"), (contenders.OpenVino, onnx, "f32")]
    else:
        peers = [(contenders.OnnxRuntime, lambda: models.onnx_int8(directory()), "dynamic int8"),
                 (contenders.OpenVinoInt8, lambda: models.openvino_int8(directory()) / "model.xml", "int8")]
        if works is BERT_WORKS:
            peers.append((contenders.CTranslate2, lambda: models.ctranslate2_int8(directory()), "int8"))
    file = lambda: models.converted(directory(), kind, options)
    for of, work in works:
        yield Row(f"{title} {kind}{of}", group + (", f32" if kind == "f32" else ", 8 bits"), file, work, peers)


def transformers_rows(models, kind):
    """Models of random weights that transformers makes."""
    if not installed("torch", "transformers"):
        return
    for title, shape, works in (
            ("ModernBERT-base", "modernbert-base", text_works((128, 1), (512, 1), (4096, 1))),
            ("bge-small", "bge-small", text_works((128, 1), (512, 1))),
            ("EmbeddingGemma shape", "embedding-gemma", text_works((128, 1), (512, 1))),
            ("MiniLM cross-encoder", "minilm-reranker", [(", 32 pairs of 128 tokens", {"prompt": 128, "batch": 32})])):
        options = () if shape == "minilm-reranker" else ("--pooling", "none")
        yield from encoder_rows(title, lambda s=shape: models.random(s), kind, models, works, options=options)
    one = {"prompt": None, "batch": 1}
    for title, shape, of, group in (("ViT-B/16", "vit-base", ", a picture", "Pictures"),
                                    ("CLIP-B/32", "clip-vit-b32", ", a picture", "Pictures"),
                                    ("wav2vec2-base", "wav2vec2-base", ", 10 s", "Speech")):
        options = ("--tower", "vision") if shape == "clip-vit-b32" else ()
        yield from encoder_rows(title, lambda s=shape: models.random(s), kind, models, [(of, one)], group, options)


def translator_rows(title, shape, models):
    folder = lambda: models.translator(shape)
    for beams in (1, 4):
        for batch in (1, 8):
            name = f"{title} int8, {'greedy' if beams == 1 else f'{beams} beams'}, batch {batch}"
            work = {"prompt": 32, "decode": 32, "batch": batch, "beams": beams}
            yield Row(name, "Encoder-decoders", lambda: models.converted(folder()), work,
                      [(contenders.CTranslate2Translator, folder, "int8")], contenders.MoteTranslator)


def all_rows(models):
    peaks = []
    for kind, weight in (("Q4_0", "q4g32"), ("Q8_0", "q8g32")):
        gguf = lambda kind=kind: models.random("llama-1b", kind)
        file = lambda gguf=gguf: models.converted(gguf())
        yield from decoder_rows(f"1 B shape, {weight}", file, (contenders.LlamaCpp, gguf, kind))
        peaks.append(process_row(f"1 B shape, {weight}, peak memory", PEAK, file, gguf, kind, models, "MiB"))
    k_quants = lambda: models.q4_k_m("llama-1b")
    yield from decoder_rows("1 B shape, Q4_K_M", lambda: models.converted(k_quants()),
                            (contenders.LlamaCpp, k_quants, "Q4_K_M"))
    for shape, title in (("smollm2-135m", "SmolLM2 shape"), ("qwen3-0.6b", "Qwen3 0.6 B shape"), ("lfm2-350m", "LFM2 350 M shape"),
                         ("granite4-350m", "Granite 4 350 M hybrid shape"),
                         ("mixture-8b", "Mixture of 8.3 B, 1.1 B a token")):
        gguf = lambda shape=shape: models.random(shape, "Q4_0")
        yield from decoder_rows(f"{title}, q4g32", lambda gguf=gguf: models.converted(gguf()),
                                (contenders.LlamaCpp, gguf, "Q4_0"))
    if GEMMA.exists():
        yield from decoder_rows("Gemma 3 270M, real Q4_K_M file", lambda: models.converted(GEMMA),
                                (contenders.LlamaCpp, lambda: GEMMA, "Q4_K_M"))
    if SMOLLM2.exists():
        title, real = "SmolLM2, real Q4_1 file", lambda: SMOLLM2
        peer = (contenders.LlamaCpp, real, "Q4_1")
        file = lambda: models.converted(SMOLLM2)
        yield from decoder_rows(title, file, peer, (contenders.OpenVinoGenAi, real, "int4"),
                                (contenders.OpenVinoGenAiF32, real, "int4 in f32"))
        yield Row(f"{title}, decode at depth 1024", "Decoding", file, {"decode": 32, "depth": 1024}, [peer],
                  contenders.MoteAtDepth)
        yield process_row(f"{title}, process start to first token", START, file, real, "Q4_1", models, "ms")
        yield process_row(f"{title}, peak memory", PEAK, file, real, "Q4_1", models, "MiB")
    yield from peaks
    for name in ("whisper-tiny.en", "whisper-base"):
        directory = ROOT / "models" / "downloads" / name
        for kind, peer, ggml in (("q8c", "int8", "q8_0"), ("f32", "float32", "f32")) if directory.exists() else ():
            file = lambda d=directory, k=kind: models.converted(d, k, ())
            others = []
            if "WHISPER_CPP" in os.environ:
                others.append((contenders.WhisperCpp, lambda d=directory, g=ggml: models.whisper_cpp(d, g), ggml))
            yield Row(f"{name} {kind}, encoder, 30 s", "Speech", file, {"prompt": 3000},
                      [(contenders.CTranslate2Whisper, lambda d=directory: d, peer), *others])
            yield Row(f"{name} {kind}, 30 s of speech", "Speech", file, {"sound": models.speech},
                      [(contenders.FasterWhisper, lambda d=directory: d, peer), *others], contenders.MoteTranscribe)
    for kind in ("q8c", "f32"):
        if MINILM.exists():
            yield from encoder_rows("MiniLM", lambda: MINILM, kind, models, MINILM_WORKS)
        yield from encoder_rows("BERT-base", lambda: models.random("bert-base"), kind, models)
        yield from transformers_rows(models, kind)
    yield from translator_rows("Marian-base", "marian-base", models)
    yield from translator_rows("FLAN-T5-small", "flan-t5-small", models)


def measure(row, arguments):
    mote = row.mote(arguments.mote, row.file(), row.work, arguments.threads)
    peers = []
    for kind, file, name in row.peers:
        if not installed(*kind.packages):
            print(f"{row.title}: without {kind.__name__}, which needs {', '.join(kind.packages)}", file=sys.stderr)
            continue
        try:
            peers.append(kind(file(), row.work, arguments.threads, name))
        except Exception as error:  # whatever a peer's library thinks of the file or the machine
            print(f"{row.title}: without {kind.__name__}: {error}", file=sys.stderr)
    own, theirs = [], {peer.name: [] for peer in peers}
    for _ in range(1 if row.unit == "MiB" else arguments.rounds):
        own.append(mote.measure())
        for peer in peers:
            theirs[peer.name].append(peer.measure())
    return report.Result(row, mote, own, theirs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="rows whose title holds this; may be given several times")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--processor", action="store_true",
                        help="count the processor's time, of one thread: for a busy machine")
    parser.add_argument("--mote", type=pathlib.Path, default=ROOT / "build" / "mote")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "compare")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--svg", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.processor:
        contenders.PROCESSOR, arguments.threads = True, 1
    if not arguments.mote.exists():
        parser.error(f"{arguments.mote} is missing: cmake --preset release && cmake --build --preset release")
    wanted = lambda row: not arguments.only or any(part in row.title for part in arguments.only)
    rows = list(filter(wanted, all_rows(Models(arguments.work, arguments.mote))))
    if not rows:
        parser.error(f"no row's title holds {arguments.only}")
    results = []
    for row in rows:
        results.append(measure(row, arguments))
        print(" | ".join(results[-1].cells()), flush=True)
        gc.collect()
    if arguments.markdown:
        arguments.markdown.write_text(report.markdown(results, arguments))
    if arguments.svg and any(result.peers for result in results):
        arguments.svg.write_text(report.svg(results))


if __name__ == "__main__":
    main()
