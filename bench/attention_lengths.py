#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how time and memory grow with the length of a text, for each kind of attention (docs/attention.md):

    bench/attention_lengths.py [--mote build/mote] [--lengths 128,512,2048,4096] [--markdown FILE] [--svg FILE]

The models have random weights, 2 layers of 256 columns and 4 heads, in 8 bits; a text is read at once by one thread. Time
is that of a token of it in the fastest of some runs, memory the whole session's. Needs numpy."""
import argparse
import json
import math
import pathlib
import subprocess
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH, HEADS, LAYERS, FFN, VOCAB, WINDOW, BLOCK = 256, 4, 2, 512, 256, 256, 64
MOST = 1 << 12
COLORS = ("#d55e00", "#b8860b", "#b0529a", "#0072b2", "#009e73")  # after Okabe and Ito, for all eyes
DASHES = ("none", "8 4", "2 3", "10 3 2 3", "4 2")


def linear(name, rows, columns, bias):
    yield name + ".weight", (rows, columns)
    if bias:
        yield name + ".bias", (rows,)


def llama_tensors():
    yield "model.embed_tokens.weight", (VOCAB, WIDTH)
    for i in range(LAYERS):
        layer = f"model.layers.{i}."
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            yield from linear(f"{layer}self_attn.{name}", WIDTH, WIDTH, False)
        yield from linear(layer + "mlp.gate_proj", FFN, WIDTH, False)
        yield from linear(layer + "mlp.up_proj", FFN, WIDTH, False)
        yield from linear(layer + "mlp.down_proj", WIDTH, FFN, False)
        yield layer + "input_layernorm.weight", (WIDTH,)
        yield layer + "post_attention_layernorm.weight", (WIDTH,)
    yield "model.norm.weight", (WIDTH,)


def layers_with_biases(layers, attention, up, down, layer_norms, other_norm):
    """Of layers whose names start with `layers` and their number; the other norm is outside of them."""
    norms = [other_norm]
    for i in range(LAYERS):
        layer = f"{layers}{i}."
        for name in attention:
            yield from linear(f"{layer}attention.{name}", WIDTH, WIDTH, True)
        yield from linear(layer + up, FFN, WIDTH, True)
        yield from linear(layer + down, WIDTH, FFN, True)
        norms += [layer + norm for norm in layer_norms]
    for name in norms:
        yield name + ".weight", (WIDTH,)
        yield name + ".bias", (WIDTH,)


def big_bird_tensors():
    for name, rows in (("word", VOCAB), ("position", MOST), ("token_type", 2)):
        yield f"embeddings.{name}_embeddings.weight", (rows, WIDTH)
    yield from layers_with_biases("encoder.layer.", ("self.query", "self.key", "self.value", "output.dense"),
                                  "intermediate.dense", "output.dense",
                                  ("attention.output.LayerNorm", "output.LayerNorm"), "embeddings.LayerNorm")


def linear_attention_tensors():
    yield "embedding.weight", (VOCAB, WIDTH)
    yield from layers_with_biases("layers.", ("query", "key", "value", "output"), "linear1", "linear2",
                                  ("norm1", "norm2"), "norm")
    yield from linear("head", VOCAB, WIDTH, True)


def lstm_tensors():
    yield "embedding.weight", (VOCAB, WIDTH)
    for i in range(LAYERS):
        for name in ("ih", "hh"):
            yield f"rnn.weight_{name}_l{i}", (4 * WIDTH, WIDTH)
            yield f"rnn.bias_{name}_l{i}", (4 * WIDTH,)
    yield from linear("head", VOCAB, WIDTH, True)


LLAMA = {"model_type": "llama", "hidden_size": WIDTH, "intermediate_size": FFN, "num_hidden_layers": LAYERS,
         "num_attention_heads": HEADS, "num_key_value_heads": HEADS, "vocab_size": VOCAB, "tie_word_embeddings": True,
         "max_position_embeddings": MOST}
BIG_BIRD = {"model_type": "big_bird", "architectures": ["BigBirdModel"], "attention_type": "block_sparse",
            "block_size": BLOCK, "num_random_blocks": 3, "hidden_size": WIDTH, "intermediate_size": FFN,
            "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "vocab_size": VOCAB,
            "max_position_embeddings": MOST, "type_vocab_size": 2}
LINEAR = {"model_type": "linear_attention", "vocab_size": VOCAB, "hidden_size": WIDTH, "num_heads": HEADS,
          "num_layers": LAYERS, "intermediate_size": FFN, "causal": True, "sinusoidal_positions": True}
LSTM = {"model_type": "lstm", "vocab_size": VOCAB, "embedding_size": WIDTH, "hidden_size": WIDTH, "num_layers": LAYERS}

# The layers between two words n apart.
KINDS = (
    ("full", LLAMA, llama_tensors, lambda n: 1),
    ("sliding window", LLAMA | {"model_type": "mistral", "sliding_window": WINDOW}, llama_tensors,
     lambda n: math.ceil(n / (WINDOW - 1))),
    ("block-sparse", BIG_BIRD, big_bird_tensors, lambda n: 1 if n < 2 * BLOCK else 2),
    ("linear", LINEAR, linear_attention_tensors, lambda n: 1),
    ("recurrent (LSTM)", LSTM, lstm_tensors, lambda n: n),
)


def write_directory(path, config, shapes):
    random, header, data, offset = numpy.random.default_rng(3), {}, [], 0
    for name, shape in shapes:
        values = random.normal(0, 0.05, shape)
        if "norm" in name.lower() and name.endswith("weight"):
            values += 1
        data.append(values.astype(numpy.float32).tobytes())
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + len(data[-1])]}
        offset += len(data[-1])
    text = json.dumps(header).encode()
    path.mkdir()
    (path / "config.json").write_text(json.dumps(config))
    (path / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + b"".join(data))


def measure(mote, file, length):
    command = [mote, "bench", file, "--prompt", length, "--context", length, "--threads", 1, "--json",
               "--repeat", max(8, min(30, 40000 // length))]
    if "block-sparse" not in file.name:
        command += ["--decode", 0]
    result = json.loads(subprocess.run([str(part) for part in command], check=True, capture_output=True).stdout)
    return 1e6 / result["prompt_tokens_per_s_best"], result["arena_bytes"]


def markdown(results, lengths):
    rows = ["| kind | " + " | ".join(f"{n} tokens" for n in lengths) + f" | layers between words {lengths[-1]} apart |",
            "|---|" + "---|" * (len(lengths) + 1)]
    for (kind, _, _, path), measured in results:
        cells = [f"{micros:.0f} µs, {size / 2**20:.1f} MiB" for micros, size in measured]
        steps = path(lengths[-1])
        last = f"{steps} steps in one layer" if kind.startswith("recurrent") else str(steps)
        rows.append(f"| {kind} | " + " | ".join(cells) + f" | {last} |")
    return "\n".join(rows) + "\n"


def text(x, y, value, **attributes):
    extra = "".join(f' {name.replace("_", "-")}="{one}"' for name, one in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{value}</text>'


def panel(left, title, lengths, lines):
    """A line for each kind, both axes logarithmic."""
    width, height, top = 300, 240, 60
    values = [value for line in lines for value in line]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    first, last = math.log2(lengths[0]), math.log2(lengths[-1])
    x = lambda n: left + width * (math.log2(n) - first) / (last - first)
    y = lambda value: top + height * (1 - (math.log10(value) - low) / (high - low))
    out = [text(left, top - 16, title, font_weight="bold")]
    for power in range(low, high + 1):
        at = y(10.0**power)
        out += [f'<line x1="{left}" y1="{at:.1f}" x2="{left + width}" y2="{at:.1f}" stroke="#dddddd"/>',
                text(left - 6, at + 4, f"{10.0**power:g}", text_anchor="end", fill="#666666")]
    out += [text(x(n), top + height + 18, n, text_anchor="middle", fill="#666666") for n in lengths]
    for color, dashes, line in zip(COLORS, DASHES, lines):
        points = " ".join(f"{x(n):.1f},{y(value):.1f}" for n, value in zip(lengths, line))
        out.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2.5" '
                   f'stroke-dasharray="{dashes}"/>')
        out += [f'<circle cx="{x(n):.1f}" cy="{y(value):.1f}" r="3.5" fill="{color}"/>' for n, value in zip(lengths, line)]
    return out


def svg(results, lengths):
    times = [[micros for micros, _ in measured] for _, measured in results]
    sizes = [[size / 2**20 for _, size in measured] for _, measured in results]
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="760" height="434" viewBox="0 0 760 434" role="img" '
           'font-family="sans-serif" font-size="12" fill="#222222">',
           '<title>Time of a token and memory of a session by the length of the text</title>',
           '<rect width="100%" height="100%" rx="8" fill="white"/>',
           text(20, 30, "Kinds of attention", font_size=18, font_weight="bold"),
           text(20, 50, f"{LAYERS} layers of {WIDTH} columns, by the length of the text; both axes logarithmic", fill="#5c5c5c"),
           '<g transform="translate(0 44)">']
    out += panel(60, "microseconds a token, by tokens of the text", lengths, times)
    out += panel(430, "MiB of a session, by tokens of the text", lengths, sizes)
    for i, (color, dashes, ((kind, *_), _)) in enumerate(zip(COLORS, DASHES, results)):
        out += [f'<line x1="{24 + 146 * i}" y1="358" x2="{52 + 146 * i}" y2="358" stroke="{color}" stroke-width="2.5" '
                f'stroke-dasharray="{dashes}"/>', text(58 + 146 * i, 362, kind)]
    return "\n".join([*out, "</g>", "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mote", type=pathlib.Path, default=ROOT / "build" / "mote")
    parser.add_argument("--lengths", default="128,512,2048,4096")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--svg", type=pathlib.Path)
    arguments = parser.parse_args()
    lengths = [int(n) for n in arguments.lengths.split(",")]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            source = pathlib.Path(folder) / kind[0].replace(" ", "-")
            file = source.with_suffix(".mote")
            write_directory(source, kind[1], kind[2]())
            subprocess.run([arguments.mote, "convert", source, "-o", file, "--type", "q8"], check=True,
                           stdout=subprocess.DEVNULL)
            results.append((kind, [measure(arguments.mote, file, n) for n in lengths]))
    table = markdown(results, lengths)
    print(table, end="")
    if arguments.markdown:
        arguments.markdown.write_text(table)
    if arguments.svg:
        arguments.svg.write_text(svg(results, lengths))


if __name__ == "__main__":
    main()
