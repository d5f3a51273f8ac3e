#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how time and memory grow with the length of a text: Longformer's window and BigBird's blocks beside
attention to all, one layer of the base models' shape each.

    bench/long_texts.py build/mote WORK                        measures, and writes WORK/long_texts.json
    bench/long_texts.py WORK/long_texts.json --plot OUT.svg    makes the plot of it

Needs numpy for the random weights, which lie in WORK."""
import argparse
import json
import math
import pathlib
import resource
import subprocess
import time

SIZES = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 1, "num_attention_heads": 12,
         "vocab_size": 512, "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 0}
LENGTHS = [512, 1024, 2048, 4096, 8192, 16384]
MODELS = {
    "all": ("attention to all", {"architectures": ["BertModel"], "model_type": "bert"}),
    "window": ("Longformer, a window of 512", {"architectures": ["LongformerForSequenceClassification"],
               "model_type": "longformer", "attention_window": 512, "sep_token_id": 2}),
    "blocks": ("BigBird, blocks of 64", {"architectures": ["BigBirdModel"], "model_type": "big_bird",
               "attention_type": "block_sparse", "block_size": 64, "num_random_blocks": 3}),
}


# ---- Measuring ----


def members(name, sizes):
    """The tensors of a checkpoint: those of BERT, and what Longformer has besides."""
    from make_random_model import bert_tensors
    width = sizes["hidden_size"]
    for tensor, dims in bert_tensors(sizes):
        of_pooler = tensor.startswith("pooler.dense")
        if name != "window" or not of_pooler:
            prefix = {"all": "", "window": "longformer.", "blocks": ""}[name]
            yield prefix + (tensor.replace("pooler.dense", "pooler") if name == "blocks" else tensor), dims
        if name == "window" and any(part in tensor for part in ("self.query", "self.key", "self.value")):
            parts = tensor.rsplit(".", 1)
            yield f"longformer.{parts[0]}_global.{parts[1]}", dims
    if name == "window":
        yield "classifier.dense.weight", (width, width)
        yield "classifier.dense.bias", (width,)
        yield "classifier.out_proj.weight", (2, width)
        yield "classifier.out_proj.bias", (2,)


def run_alone(command):
    """What a command prints, and the share of the time that it had its threads' cores: seconds times it are those of a
    machine that does nothing else."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    printed = subprocess.run(command, check=True, capture_output=True).stdout
    after, elapsed = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begin
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(printed), min(1.0, busy / elapsed)


def measure(mote, work, arguments):
    from make_random_model import write_directory
    found = {}
    for name, (_, config) in MODELS.items():
        sizes = SIZES | {"max_position_embeddings": LENGTHS[-1] + (1 if name == "window" else 0)}
        write_directory(work / name, sizes | config, members(name, sizes))
        file = work / f"{name}.mote"
        subprocess.run([mote, "convert", work / name, "-o", file, "--type", arguments.type], check=True,
                       capture_output=True)
        found[name] = []
        for length in LENGTHS:
            command = [mote, "bench", file, "--prompt", length, "--context", length, "--threads", 1,
                       "--repeat", arguments.repeat, "--json"]
            result, share = run_alone(list(map(str, command)))
            seconds = share * length / result["prompt_tokens_per_s_best"]
            found[name].append({"tokens": length, "seconds": seconds, "bytes": result["arena_bytes"]})
            print(f"{name:8} {length:6} tokens  {seconds:8.3f} s  {result['arena_bytes'] / 2**20:8.1f} MiB", flush=True)
    (work / "long_texts.json").write_text(json.dumps({"type": arguments.type, "models": found}, indent=1) + "\n")


# ---- The plot ----

INK, FAINT = "#1c1c1c", "#5c5c5c"
COLOURS = {"all": "#d55e00", "window": "#009e73", "blocks": "#0072b2"}  # after Okabe and Ito, for all eyes
DASHES = {"all": "none", "window": "8 4", "blocks": "2 3"}
LEFT, TOP, SIDE, GAP = 60, 92, 330, 90  # pixels


def text(x, y, words, anchor="start", **attributes):
    attributes = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"{attributes}>{words}</text>'


def panel(left, title, unit, lines):
    """Of lists of (tokens, value), both axes logarithmic with a grid of powers of 2 and of 10."""
    values = [value for line in lines.values() for _, value in line]
    least, most = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    tokens = [math.log2(n) for n, _ in next(iter(lines.values()))]

    def x(n):
        return left + SIDE * (math.log2(n) - tokens[0]) / (tokens[-1] - tokens[0])

    def y(value):
        return TOP + SIDE * (most - math.log10(value)) / (most - least)

    out = [text(left, TOP - 14, title, font_weight="bold", font_size=14)]
    for power in range(least, most + 1):
        name = f"{10 ** power:g} {unit}"
        out.append(f'<line x1="{left}" y1="{y(10 ** power):.0f}" x2="{left + SIDE}" y2="{y(10 ** power):.0f}" stroke="#dddddd"/>')
        out.append(text(left - 6, y(10 ** power) + 4, name, "end", fill=FAINT))
    for n, _ in next(iter(lines.values())):
        out.append(f'<line x1="{x(n):.0f}" y1="{TOP}" x2="{x(n):.0f}" y2="{TOP + SIDE}" stroke="#eeeeee"/>')
        out.append(text(x(n), TOP + SIDE + 16, str(n), "middle", fill=FAINT))
    for name, line in lines.items():
        points = " ".join(f"{x(n):.1f},{y(value):.1f}" for n, value in line)
        out.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[name]}" stroke-width="2.5" '
                   f'stroke-dasharray="{DASHES[name]}"/>')
        out += [f'<circle cx="{x(n):.1f}" cy="{y(value):.1f}" r="3.5" fill="{COLOURS[name]}"/>' for n, value in line]
    return out


def svg(measured):
    width, height = LEFT + 2 * SIDE + GAP + 40, TOP + SIDE + 90
    models = measured["models"]
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
           f'role="img" font-family="sans-serif" font-size="12" fill="{INK}">',
           "<title>Time and memory by the length of a text</title>",
           '<rect width="100%" height="100%" rx="8" fill="white"/>',
           text(20, 30, "Long texts", font_size=18, font_weight="bold"),
           text(20, 50, f"one layer of width 768, {measured['type']}, by tokens of the text; both axes logarithmic", fill=FAINT)]
    lines = {name: [(point["tokens"], point["seconds"]) for point in points] for name, points in models.items()}
    out += panel(LEFT, "time", "s", lines)
    lines = {name: [(point["tokens"], point["bytes"] / 2**20) for point in points] for name, points in models.items()}
    out += panel(LEFT + SIDE + GAP, "memory besides the weights", "MiB", lines)
    for i, name in enumerate(models):
        at = LEFT + i * 230
        out.append(f'<line x1="{at}" y1="{height - 36}" x2="{at + 28}" y2="{height - 36}" stroke="{COLOURS[name]}" '
                   f'stroke-width="2.5" stroke-dasharray="{DASHES[name]}"/>')
        out.append(text(at + 36, height - 32, MODELS[name][0]))
    return "\n".join([*out, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path, help="the command mote, or what was measured")
    parser.add_argument("work", type=pathlib.Path, nargs="?")
    parser.add_argument("--plot", type=pathlib.Path)
    parser.add_argument("--type", default="f32")
    parser.add_argument("--repeat", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.plot:
        arguments.plot.write_text(svg(json.loads(arguments.source.read_text())))
    elif arguments.work:
        arguments.work.mkdir(parents=True, exist_ok=True)
        measure(arguments.source, arguments.work, arguments)
    else:
        parser.error("a folder to work in, or --plot")


if __name__ == "__main__":
    main()
