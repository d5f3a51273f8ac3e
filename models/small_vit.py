# SPDX-License-Identifier: Apache-2.0
"""A vision transformer small enough to be trained by numpy in minutes, saved as transformers' ViT or AST is.

Layers are x += attention(norm(x)), x += down(relu(up(norm(x)))); labels are of the mean of the learned rows.
Every gradient is written out below the value that it is of.
"""
import json
import math
import struct
import time

import numpy as np

EPS = 1e-6
MOMENTUM = 0.95


def write_idx(path, array):
    """The format of MNIST's files: a type, the sizes, the bytes."""
    array = np.asarray(array, np.uint8)
    path.write_bytes(struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes())


def orthogonal(matrix):
    """Near the matrix whose singular values are 1 instead (Newton and Schulz; coefficients of Muon, Jordan 2024)."""
    x = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    x = x / (np.linalg.norm(x) + 1e-7)
    for _ in range(5):
        square = x @ x.T
        x = 3.4445 * x + (2.0315 * (square @ square) - 4.775 * square) @ x
    return x.T if matrix.shape[0] > matrix.shape[1] else x


class SmallVit:
    """patch_values: numbers of a patch; patches: how many there are, in a row behind `learned` rows."""

    def __init__(self, patch_values, patches, labels, learned=1, width=48, heads=4, inner=128, layers=3, seed=1):
        self.width, self.heads, self.inner, self.layers, self.learned = width, heads, inner, layers, learned
        rng = np.random.default_rng(seed)

        def matrix(rows, cols):
            return (rng.standard_normal((rows, cols)) / np.sqrt(rows)).astype(np.float32)

        def zeros(*shape):
            return np.zeros(shape, np.float32)

        p = {"patch.w": matrix(patch_values, width), "patch.b": zeros(width),
             "first": 0.1 * matrix(learned, width), "positions": 0.1 * matrix(1, (patches + learned) * width),
             "labels.w": 0.1 * matrix(width, labels), "labels.b": zeros(labels)}
        p["positions"] = p["positions"].reshape(-1, width)
        for norm in ["norm"] + [f"{i}.{norm}" for i in range(layers) for norm in ("norm1", "norm2")]:
            p[f"{norm}.w"], p[f"{norm}.b"] = zeros(width) + 1, zeros(width)
        if learned > 1:  # AST's norm of the mean
            p["pooled.w"], p["pooled.b"] = zeros(width) + 1, zeros(width)
        self.matrices = []
        for i in range(layers):
            for name, rows, cols in (("qkv", width, 3 * width), ("o", width, width), ("up", width, inner),
                                     ("down", inner, width)):
                p[f"{i}.{name}.w"], p[f"{i}.{name}.b"] = matrix(rows, cols), zeros(cols)
                self.matrices.append(f"{i}.{name}.w")
        self.p = p
        self.moments = {k: (np.zeros_like(v), np.zeros_like(v)) for k, v in p.items()}
        self.steps = 0

    def norm(self, x, name):
        middle = x - x.mean(-1, keepdims=True)
        inverse = 1 / np.sqrt((middle * middle).mean(-1, keepdims=True) + EPS)
        unit = middle * inverse
        self.kept[name] = unit, inverse
        return unit * self.p[name + ".w"] + self.p[name + ".b"]

    def norm_back(self, g, name):
        unit, inverse = self.kept[name]
        self.g[name + ".w"] = (g * unit).reshape(-1, self.width).sum(0)
        self.g[name + ".b"] = g.reshape(-1, self.width).sum(0)
        g = g * self.p[name + ".w"]
        return inverse * (g - g.mean(-1, keepdims=True) - unit * (g * unit).mean(-1, keepdims=True))

    def linear(self, x, name):
        self.kept[name] = x
        return x @ self.p[name + ".w"] + self.p[name + ".b"]

    def linear_back(self, g, name):
        x = self.kept[name]
        flat = g.reshape(-1, g.shape[-1])
        self.g[name + ".w"] = x.reshape(-1, x.shape[-1]).T @ flat
        self.g[name + ".b"] = flat.sum(0)
        return g @ self.p[name + ".w"].T

    def attention(self, x, i):
        batch, rows, _ = x.shape
        qkv = self.linear(x, f"{i}.qkv").reshape(batch, rows, 3, self.heads, -1).transpose(2, 0, 3, 1, 4)
        q, k, v = qkv
        scale = np.float32(1 / np.sqrt(q.shape[-1]))
        scores = (q @ k.transpose(0, 1, 3, 2)) * scale
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        self.kept[f"{i}.attention"] = q, k, v, shares, scale
        merged = (shares @ v).transpose(0, 2, 1, 3).reshape(batch, rows, self.width)
        return self.linear(merged, f"{i}.o")

    def attention_back(self, g, i):
        q, k, v, shares, scale = self.kept[f"{i}.attention"]
        batch, heads, rows, columns = q.shape
        g = self.linear_back(g, f"{i}.o").reshape(batch, rows, heads, columns).transpose(0, 2, 1, 3)
        of_shares = g @ v.transpose(0, 1, 3, 2)
        of_scores = shares * (of_shares - (of_shares * shares).sum(-1, keepdims=True)) * scale
        parts = np.stack([of_scores @ k, of_scores.transpose(0, 1, 3, 2) @ q, shares.transpose(0, 1, 3, 2) @ g])
        return self.linear_back(parts.transpose(1, 3, 0, 2, 4).reshape(batch, rows, -1), f"{i}.qkv")

    def logits(self, patches):
        """[batch, patches, patch_values] to [batch, labels]."""
        self.kept = {}
        x = self.linear(patches, "patch")
        x = np.concatenate([np.broadcast_to(self.p["first"], (len(x), self.learned, self.width)), x], 1)
        x = x + self.p["positions"]
        for i in range(self.layers):
            x = x + self.attention(self.norm(x, f"{i}.norm1"), i)
            up = self.linear(self.norm(x, f"{i}.norm2"), f"{i}.up")
            self.kept[f"{i}.relu"] = up > 0
            x = x + self.linear(np.maximum(up, 0), f"{i}.down")
        self.shape = x.shape
        mean = self.norm(x[:, : self.learned], "norm").mean(1)
        return self.linear(self.norm(mean, "pooled") if self.learned > 1 else mean, "labels")

    def gradients(self, of_logits):
        self.g = {}
        of_mean = self.linear_back(of_logits, "labels")
        if self.learned > 1:
            of_mean = self.norm_back(of_mean, "pooled")
        g = np.zeros(self.shape, np.float32)
        g[:, : self.learned] = self.norm_back(np.repeat(of_mean[:, None] / self.learned, self.learned, 1), "norm")
        for i in reversed(range(self.layers)):
            inner = self.linear_back(g, f"{i}.down") * self.kept[f"{i}.relu"]
            g = g + self.norm_back(self.linear_back(inner, f"{i}.up"), f"{i}.norm2")
            g = g + self.norm_back(self.attention_back(g, i), f"{i}.norm1")
        self.g["positions"] = g.sum(0)
        self.g["first"] = g[:, : self.learned].sum(0)
        self.linear_back(g[:, self.learned :], "patch")

    def update(self, rate, decay):
        """Matrices of layers move along orthogonal ones (Muon), everything else as AdamW does."""
        self.steps += 1
        for name, value in self.p.items():
            gradient = self.g[name].astype(np.float32)
            first, second = self.moments[name]
            if name in self.matrices:
                first += (MOMENTUM - 1) * first + gradient
                step = 0.2 * math.sqrt(max(value.shape)) * orthogonal(gradient + MOMENTUM * first)
            else:
                first += 0.1 * (gradient - first)
                second += 0.02 * (gradient * gradient - second)
                step = first / (1 - 0.9**self.steps) / (np.sqrt(second / (1 - 0.98**self.steps)) + 1e-8)
            value -= np.float32(rate) * (step + (decay * value if name.endswith(".w") else 0))

    def train(self, patches, wanted, rate, decay=0.05, smoothing=0.05):
        """A step on the cross entropy; the loss and how many were right."""
        logits = self.logits(patches)
        shares = np.exp(logits - logits.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        count, labels = shares.shape
        target = np.full_like(shares, smoothing / labels)
        target[np.arange(count), wanted] += 1 - smoothing
        self.gradients((shares - target) / count)
        self.update(rate, decay)
        return -(target * np.log(shares + 1e-9)).sum(-1).mean(), int((logits.argmax(-1) == wanted).sum())

    def fit(self, steps, examples, labels, patches_of, rate=3e-3, count=128, log=50):
        """Steps on `count` examples each, of which patches_of makes patches; the rate rises for 50 and falls along a cosine."""
        rng, began = np.random.default_rng(3), time.time()
        hits = losses = 0
        for step in range(1, steps + 1):
            now = rate * min(1, step / 50) * 0.5 * (1 + math.cos(math.pi * step / steps)) + 1e-5
            chosen = rng.integers(0, len(examples), count)
            loss, correct = self.train(patches_of(examples[chosen]), labels[chosen], now)
            hits, losses = hits + correct, losses + loss
            if step % log == 0:
                print(f"step {step}: loss {losses / log:.3f}, right {100 * hits / count / log:.2f} %, "
                      f"{time.time() - began:.0f} s", flush=True)
                hits = losses = 0
        return self

    def right(self, patches, wanted):
        """The share of right labels."""
        parts = np.array_split(patches, max(1, len(patches) // 200))
        return (np.concatenate([self.logits(part).argmax(-1) for part in parts]) == wanted).mean()

    def named(self):
        """Views of the parameters as transformers names and shapes them, but for the patches' kernel."""
        p, ast = self.p, self.learned > 1
        base = "audio_spectrogram_transformer." if ast else "vit."
        head = "classifier.dense" if ast else "classifier"
        yield base + "embeddings.patch_embeddings.projection.bias", p["patch.b"]
        yield base + "embeddings.cls_token", p["first"][None, :1]
        if ast:
            yield base + "embeddings.distillation_token", p["first"][None, 1:]
        yield base + "embeddings.position_embeddings", p["positions"][None]
        modules = [(base + "layernorm", "norm", slice(None)), (head, "labels", slice(None))]
        if ast:
            modules.append(("classifier.layernorm", "pooled", slice(None)))
        for i in range(self.layers):
            layer = f"{base}encoder.layer.{i}."
            for part, name in enumerate(("query", "key", "value")):
                cut = slice(part * self.width, (part + 1) * self.width)
                modules.append((f"{layer}attention.attention.{name}", f"{i}.qkv", cut))
            for name, own in (("attention.output.dense", "o"), ("intermediate.dense", "up"), ("output.dense", "down"),
                              ("layernorm_before", "norm1"), ("layernorm_after", "norm2")):
                modules.append((layer + name, f"{i}.{own}", slice(None)))
        for name, own, cut in modules:
            yield name + ".weight", p[own + ".w"][..., cut].T
            yield name + ".bias", p[own + ".b"][cut]

    def kernel_name(self):
        base = "audio_spectrogram_transformer" if self.learned > 1 else "vit"
        return base + ".embeddings.patch_embeddings.projection.weight"

    def save(self, path, side, channels=1):
        """Safetensors of halves: a length, a JSON header and the data. A grey picture has `channels` equal colours."""
        kernel = (self.p["patch.w"].T / channels).reshape(self.width, 1, side, side)
        tensors = {self.kernel_name(): np.repeat(kernel, channels, 1), **dict(self.named())}
        header, offset = {}, 0
        for name, array in tensors.items():
            header[name] = {"dtype": "F16", "shape": list(array.shape), "data_offsets": [offset, offset + 2 * array.size]}
            offset += 2 * array.size
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(path, "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for array in tensors.values():
                file.write(np.ascontiguousarray(array, np.float16).tobytes())

    def load(self, path):
        data = path.read_bytes()
        length = int.from_bytes(data[:8], "little")
        entries = json.loads(data[8 : 8 + length])

        def tensor(name):
            start, end = entries[name]["data_offsets"]
            return np.frombuffer(data[8 + length + start : 8 + length + end], np.float16).reshape(entries[name]["shape"])

        self.p["patch.w"][...] = tensor(self.kernel_name()).astype(np.float32).sum(1).reshape(self.width, -1).T
        for name, view in self.named():
            view[...] = tensor(name)
        return self

    def config(self, labels):
        """What config.json says of ViT and AST alike."""
        return {"hidden_act": "relu", "hidden_size": self.width, "num_hidden_layers": self.layers,
                "num_attention_heads": self.heads, "intermediate_size": self.inner, "layer_norm_eps": EPS,
                "qkv_bias": True, "attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.0,
                "id2label": {str(i): label for i, label in enumerate(labels)},
                "label2id": {label: i for i, label in enumerate(labels)}}
