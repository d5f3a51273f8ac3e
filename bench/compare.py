#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs mote and the installed peers side by side and prints how they compare.

    bench/compare.py [--only PATTERN] [--rounds 5] [--threads 2] [--markdown FILE] [--svg FILE]

Each round measures mote and every peer once, one after the other, so that what disturbs the machine meets all of them;
medians count. mote's share is that of the machine's limit, measured in the same run: reading memory for decoding,
multiplying for prompts and encoders (docs/performance.md). Peers that are not installed are left out:
llama-cpp-python; onnxruntime and openvino, whose models take torch, transformers and onnx to make.

Models are made once, in --work: random weights in the shapes of a 1 B llama and of BERT-base, and conversions of the real
SmolLM2 and MiniLM that `./scripts/demo smollm2 q` and `./scripts/demo minilm` fetch."""
import argparse
import gc
import importlib.util
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOWNLOADS = ROOT / "models" / "downloads"
SMOLLM2 = DOWNLOADS / "SmolLM2-135M-Instruct.Q4_1.gguf"
MINILM = DOWNLOADS / "all-MiniLM-L6-v2"


def installed(name):
    return importlib.util.find_spec(name) is not None


# ---- Models ----


class Models:
    """Files in the work folder, made when first asked for."""

    def __init__(self, work, mote):
        self.work, self.mote = work, mote
        work.mkdir(parents=True, exist_ok=True)

    def make(self, name, command):
        path = self.work / name
        if not path.exists():
            print(f"making {path}", file=sys.stderr)
            partial = path.with_name("partial-" + name)
            subprocess.run([str(part) for part in command(partial)], check=True, stdout=subprocess.DEVNULL)
            partial.rename(path)
        return path

    def random(self, shape, kind=None):
        name = shape if kind is None else f"{shape}-{kind}.gguf"
        script = ROOT / "bench" / "make_random_model.py"
        return self.make(name, lambda out: [sys.executable, script, shape, out, *(["--gguf", kind] if kind else [])])

    def converted(self, source, kind=None):
        """A GGUF keeps its types; an encoder gets `kind` and, as its peers, no pooling."""
        name = f"{source.stem}{'' if kind is None else '-' + kind}.mote"
        options = ["--type", kind, "--pooling", "none"] if kind else []
        return self.make(name, lambda out: [self.mote, "convert", source, "-o", out, *options])

    def onnx(self, directory, int8):
        plain = self.work / f"{directory.name}.onnx"
        if not plain.exists():
            export_onnx(directory, plain)
        if not int8:
            return plain
        path = self.work / f"{directory.name}-int8.onnx"
        if not path.exists():
            from onnxruntime.quantization import QuantType, quantize_dynamic
            quantize_dynamic(str(plain), str(path), weight_type=QuantType.QInt8)
        return path


def export_onnx(directory, path):
    import torch
    from transformers import AutoModel

    class Hidden(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = AutoModel.from_pretrained(directory, attn_implementation="eager", dtype=torch.float32)

        def forward(self, input_ids, attention_mask):
            return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    ids = torch.ones(1, 32, dtype=torch.long)
    axes = {0: "batch", 1: "sequence"}
    torch.onnx.export(Hidden().eval(), (ids, ids), str(path), input_names=["input_ids", "attention_mask"],
                      output_names=["hidden"], dynamic_axes={"input_ids": axes, "attention_mask": axes, "hidden": axes},
                      opset_version=17, dynamo=False)


# ---- Contenders: measure() gives milliseconds, the median of REPEAT runs ----

REPEAT = 3


def median_ms(run):
    times = []
    for _ in range(REPEAT):
        start = time.perf_counter()
        run()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def pseudo_ids(count, vocab):
    return [(i * 7919 + 100) % vocab for i in range(count)]


class Mote:
    name = "mote"

    def __init__(self, binary, file, work, threads):
        arguments = {"prompt": 0, "decode": 0} | work
        self.command = [str(binary), "bench", str(file), "--threads", str(threads), "--repeat", str(REPEAT), "--json"]
        for key, value in arguments.items():
            if key != "decode" or value:
                self.command += [f"--{key}", str(value)]
        if not arguments["decode"] and "batch" not in work:
            self.command += ["--decode", "0"]
        self.tokens = work.get("decode") or work["prompt"] * work.get("batch", 1)
        self.decodes = bool(work.get("decode"))
        self.shares = []

    def measure(self):
        result = json.loads(subprocess.run(self.command, check=True, capture_output=True).stdout)
        self.isa = result["isa"]
        self.shares.append(result["share_of_bandwidth" if self.decodes else "share_of_multiply_adds"])
        speed = result["decode_tokens_per_s" if self.decodes else "prompt_tokens_per_s"]
        return 1000 * self.tokens / speed


class LlamaCpp:
    package = "llama_cpp"

    def __init__(self, file, work, threads, name):
        import llama_cpp
        self.name, self.work = f"llama.cpp {name}", work
        context = work.get("depth", 0) + work.get("prompt", 0) + work.get("decode", 0) + 8
        self.model = llama_cpp.Llama(str(file), n_ctx=context, n_threads=threads, n_threads_batch=threads, n_batch=512,
                                     verbose=False)
        self.ids = pseudo_ids(context, self.model.n_vocab())

    def measure(self):
        depth, decode = self.work.get("depth", 0), self.work.get("decode", 0)

        def run():
            if not decode:
                self.model.reset()
                self.model.eval(self.ids[:self.work["prompt"]])
            for i in range(decode):
                self.model.n_tokens = depth + i
                self.model.eval([self.ids[depth + i]])

        if decode:
            self.model.reset()
            self.model.eval(self.ids[:max(depth, 1)])
        return median_ms(run)


def encoder_inputs(work):
    import numpy
    shape = (work.get("batch", 1), work["prompt"])
    ids = numpy.array(pseudo_ids(shape[0] * shape[1], 30000), numpy.int64).reshape(shape)
    return {"input_ids": ids, "attention_mask": numpy.ones(shape, numpy.int64)}


class OnnxRuntime:
    package = "onnxruntime"

    def __init__(self, file, work, threads, name):
        import onnxruntime
        self.name = f"ONNX Runtime {name}"
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self.session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        self.inputs = encoder_inputs(work)
        self.session.run(None, self.inputs)

    def measure(self):
        return median_ms(lambda: self.session.run(None, self.inputs))


class OpenVino:
    package = "openvino"

    def __init__(self, file, work, threads, name):
        import openvino
        self.name = f"OpenVINO {name}"
        core = openvino.Core()
        model = core.read_model(str(file))
        self.inputs = encoder_inputs(work)
        model.reshape({key: list(value.shape) for key, value in self.inputs.items()})
        settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
        self.request = core.compile_model(model, "CPU", settings).create_infer_request()
        self.request.infer(self.inputs)

    def measure(self):
        return median_ms(lambda: self.request.infer(self.inputs))


# ---- Rows of the table ----


class Row:
    def __init__(self, title, file, work, peers):
        self.title, self.file, self.work, self.peers = title, file, work, peers


def decoder_rows(title, file, peer):
    yield Row(f"{title}, decode", file, {"decode": 32}, [peer])
    yield Row(f"{title}, prompt of 512", file, {"prompt": 512}, [peer])


def encoder_rows(title, directory, kind, models):
    int8 = kind != "f32"
    peers = [(OnnxRuntime, lambda: models.onnx(directory(), int8), "dynamic int8" if int8 else "f32")]
    if not int8:
        peers.append((OpenVino, lambda: models.onnx(directory(), False), "f32"))
    for length, batch in ((32, 1), (128, 1), (384, 1), (128, 8)):
        name = f"{title} {kind}, {length} tokens" + (f" x {batch}" if batch > 1 else "")
        yield Row(name, lambda: models.converted(directory(), kind), {"prompt": length, "batch": batch}, peers)


def all_rows(models):
    for kind, weight in (("Q4_0", "q4g32"), ("Q8_0", "q8g32")):
        gguf = lambda kind=kind: models.random("llama-1b", kind)
        yield from decoder_rows(f"1 B shape, {weight}", lambda gguf=gguf: models.converted(gguf()),
                                (LlamaCpp, gguf, kind))
    gguf = lambda: models.random("smollm2-135m", "Q4_0")
    yield from decoder_rows("SmolLM2 shape, q4g32", lambda: models.converted(gguf()), (LlamaCpp, gguf, "Q4_0"))
    if SMOLLM2.exists():
        peer = (LlamaCpp, lambda: SMOLLM2, "Q4_1")
        file = lambda: models.converted(SMOLLM2)
        yield from decoder_rows("SmolLM2, real Q4_1 file", file, peer)
        yield Row("SmolLM2, real Q4_1 file, decode at depth 1024", file, {"decode": 32, "depth": 1024}, [peer])
    for kind in ("q8c", "f32"):
        if MINILM.exists():
            yield from encoder_rows("MiniLM", lambda: MINILM, kind, models)
        yield from encoder_rows("BERT-base", lambda: models.random("bert-base"), kind, models)


def spread(times):
    return f"{min(times):.3g} to {max(times):.3g}"


def measure_row(row, arguments):
    """Results by contender: a list of milliseconds."""
    mote = Mote(arguments.mote, row.file(), row.work, arguments.threads)
    contenders = [mote]
    for kind, file, name in row.peers:
        if not installed(kind.package):
            continue
        try:
            contenders.append(kind(file(), row.work, arguments.threads, name))
        except ImportError as error:
            print(f"{kind.package}: {error}", file=sys.stderr)
    times = {contender.name: [] for contender in contenders}
    for _ in range(arguments.rounds):
        for contender in contenders:
            times[contender.name].append(contender.measure())
    return mote, times


def report(row, mote, times):
    own = statistics.median(times["mote"])
    cells = [row.title, f"{1000 * mote.tokens / own:.4g}", f"{own:.4g} ({spread(times['mote'])})",
             f"{100 * statistics.median(mote.shares):.0f} %"]
    peers, ratios = [], []
    for name, values in times.items():
        if name != "mote":
            median = statistics.median(values)
            peers.append(f"{name} {median:.4g} ({spread(values)})")
            ratios.append((name, median / own))
    cells += ["; ".join(peers) or "-", ", ".join(f"{ratio:.2f}x" for _, ratio in ratios) or "-"]
    return cells, [(f"{row.title}: {name}", ratio) for name, ratio in ratios]


# ---- Output ----

HEADER = ["work", "tokens/s", "mote, ms (spread)", "of the limit", "peer, ms (spread)", "mote is faster by"]


def markdown(lines, arguments, isa):
    versions = []
    for package in ("llama_cpp", "onnxruntime", "openvino"):
        if installed(package):
            versions.append(f"{package} {__import__(package).__version__}")
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    about = f"{cpu.group(1) if cpu else platform.processor()}, {arguments.threads} threads, kernels {isa}; " \
            f"medians of {arguments.rounds} interleaved rounds; {', '.join(versions) or 'no peers installed'}"
    rows = [HEADER, ["---"] * len(HEADER), *lines]
    return about + "\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def svg(bars):
    """A bar for each ratio; the line is where both are equally fast."""
    height, left, unit = 22, 430, 60
    most = max(ratio for _, ratio in bars)
    width = left + int(unit * min(most, 8)) + 70
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height * len(bars) + 30}" '
           'font-family="sans-serif" font-size="12">',
           '<title>How many times as fast as each peer mote is</title>',
           '<rect width="100%" height="100%" fill="white"/>']
    for i, (name, ratio) in enumerate(bars):
        y = height * i + 10
        colour = "#2a7f62" if ratio >= 1 else "#b3543d"
        out += [f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{name}</text>',
                f'<rect x="{left}" y="{y}" width="{unit * min(ratio, 8):.0f}" height="{height - 6}" fill="{colour}"/>',
                f'<text x="{left + unit * min(ratio, 8) + 5:.0f}" y="{y + 13}">{ratio:.2f}x</text>']
    out += [f'<line x1="{left + unit}" y1="4" x2="{left + unit}" y2="{height * len(bars) + 10}" stroke="black" '
            'stroke-dasharray="3"/>', '</svg>']
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose title holds this")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--mote", type=pathlib.Path, default=ROOT / "build" / "mote")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "compare")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--svg", type=pathlib.Path)
    arguments = parser.parse_args()
    if not arguments.mote.exists():
        parser.error(f"{arguments.mote} is missing: cmake --preset release && cmake --build --preset release")
    rows = [row for row in all_rows(Models(arguments.work, arguments.mote)) if arguments.only in row.title]
    if not rows:
        parser.error(f"no row's title holds '{arguments.only}'")
    lines, bars, isa = [], [], ""
    for row in rows:
        mote, times = measure_row(row, arguments)
        cells, ratios = report(row, mote, times)
        isa = mote.isa
        lines.append(cells)
        bars += ratios
        print(" | ".join(cells), flush=True)
        gc.collect()
    if arguments.markdown:
        arguments.markdown.write_text(markdown(lines, arguments, isa))
    if arguments.svg and bars:
        arguments.svg.write_text(svg(bars))


if __name__ == "__main__":
    main()
