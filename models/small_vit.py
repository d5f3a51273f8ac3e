# SPDX-License-Identifier: Apache-2.0
"""A vision transformer small enough to be trained by numpy in minutes, saved as transformers' ViT is.

Layers are x += attention(norm(x)), x += down(relu(up(norm(x)))); labels are of the first, learned row. Every
gradient is written out below the value that it is of.
"""
import json

import numpy as np

EPS = 1e-6


class SmallVit:
    """patch_values: numbers of a patch; patches: how many there are, in a row."""

    def __init__(self, patch_values, patches, labels, width=48, heads=4, inner=128, layers=3, seed=1):
        self.width, self.heads, self.inner, self.layers = width, heads, inner, layers
        rng = np.random.default_rng(seed)

        def matrix(rows, cols):
            return (rng.standard_normal((rows, cols)) / np.sqrt(rows)).astype(np.float32)

        def zeros(*shape):
            return np.zeros(shape, np.float32)

        p = {"patch.w": matrix(patch_values, width), "patch.b": zeros(width), "first": zeros(width),
             "positions": (0.1 * rng.standard_normal((patches + 1, width))).astype(np.float32),
             "norm.w": zeros(width) + 1, "norm.b": zeros(width),
             "labels.w": 0.1 * matrix(width, labels), "labels.b": zeros(labels)}
        for i in range(layers):
            for norm in ("norm1", "norm2"):
                p[f"{i}.{norm}.w"], p[f"{i}.{norm}.b"] = zeros(width) + 1, zeros(width)
            for name, rows, cols in (("qkv", width, 3 * width), ("o", width, width), ("up", width, inner),
                                     ("down", inner, width)):
                p[f"{i}.{name}.w"], p[f"{i}.{name}.b"] = matrix(rows, cols), zeros(cols)
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
        x = np.concatenate([np.broadcast_to(self.p["first"], (len(x), 1, self.width)), x], 1) + self.p["positions"]
        for i in range(self.layers):
            x = x + self.attention(self.norm(x, f"{i}.norm1"), i)
            up = self.linear(self.norm(x, f"{i}.norm2"), f"{i}.up")
            self.kept[f"{i}.relu"] = up > 0
            x = x + self.linear(np.maximum(up, 0), f"{i}.down")
        self.rows = x.shape[1]
        return self.linear(self.norm(x[:, 0], "norm"), "labels")

    def train(self, patches, wanted, rate, decay=0.02, smoothing=0.05):
        """A step of AdamW on the cross entropy; the loss and how many were right."""
        logits = self.logits(patches)
        shares = np.exp(logits - logits.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        count, labels = shares.shape
        target = np.full_like(shares, smoothing / labels)
        target[np.arange(count), wanted] += 1 - smoothing
        loss = -(target * np.log(shares + 1e-9)).sum(-1).mean()
        self.g = {}
        first = self.norm_back(self.linear_back((shares - target) / count, "labels"), "norm")
        g = np.zeros((count, self.rows, self.width), np.float32)
        g[:, 0] = first
        for i in reversed(range(self.layers)):
            inner = self.linear_back(g, f"{i}.down") * self.kept[f"{i}.relu"]
            g = g + self.norm_back(self.linear_back(inner, f"{i}.up"), f"{i}.norm2")
            g = g + self.norm_back(self.attention_back(g, i), f"{i}.norm1")
        self.g["positions"] = g.sum(0)
        self.g["first"] = g[:, 0].sum(0)
        self.linear_back(g[:, 1:], "patch")
        self.steps += 1
        for name, value in self.p.items():
            gradient = self.g[name].astype(np.float32)
            first, second = self.moments[name]
            first += 0.1 * (gradient - first)
            second += 0.02 * (gradient * gradient - second)
            step = first / (1 - 0.9**self.steps) / (np.sqrt(second / (1 - 0.98**self.steps)) + 1e-8)
            value -= np.float32(rate) * (step + (decay * value if name.endswith(".w") else 0))
        return loss, int((logits.argmax(-1) == wanted).sum())

    def tensors(self, side, channels):
        """As transformers names them. A grey picture is read in `channels` equal colours."""
        p, result = self.p, {}

        def put(name, array):
            result[name] = np.ascontiguousarray(array, np.float32)

        def linear(name, weight, bias):
            put(name + ".weight", weight.T)
            put(name + ".bias", bias)

        kernel = (p["patch.w"].T / channels).reshape(self.width, 1, *side)
        put("vit.embeddings.patch_embeddings.projection.weight", np.repeat(kernel, channels, 1))
        put("vit.embeddings.patch_embeddings.projection.bias", p["patch.b"])
        put("vit.embeddings.cls_token", p["first"][None, None])
        put("vit.embeddings.position_embeddings", p["positions"][None])
        for i in range(self.layers):
            base = f"vit.encoder.layer.{i}."
            for part, name in enumerate(("query", "key", "value")):
                cut = slice(part * self.width, (part + 1) * self.width)
                linear(f"{base}attention.attention.{name}", p[f"{i}.qkv.w"][:, cut], p[f"{i}.qkv.b"][cut])
            linear(base + "attention.output.dense", p[f"{i}.o.w"], p[f"{i}.o.b"])
            linear(base + "intermediate.dense", p[f"{i}.up.w"], p[f"{i}.up.b"])
            linear(base + "output.dense", p[f"{i}.down.w"], p[f"{i}.down.b"])
            for norm, name in (("norm1", "layernorm_before"), ("norm2", "layernorm_after")):
                put(f"{base}{name}.weight", p[f"{i}.{norm}.w"])
                put(f"{base}{name}.bias", p[f"{i}.{norm}.b"])
        put("vit.layernorm.weight", p["norm.w"])
        put("vit.layernorm.bias", p["norm.b"])
        linear("classifier", p["labels.w"], p["labels.b"])
        return result

    def config(self, image, patch, channels, labels):
        return {"architectures": ["ViTForImageClassification"], "model_type": "vit", "hidden_act": "relu",
                "hidden_size": self.width, "num_hidden_layers": self.layers, "num_attention_heads": self.heads,
                "intermediate_size": self.inner, "image_size": image, "patch_size": patch, "num_channels": channels,
                "layer_norm_eps": EPS, "qkv_bias": True, "attention_probs_dropout_prob": 0.0,
                "hidden_dropout_prob": 0.0, "id2label": {str(i): label for i, label in enumerate(labels)},
                "label2id": {label: i for i, label in enumerate(labels)}}


def save_safetensors(path, tensors):
    """The format is a length, a JSON header and the data."""
    header, offset = {}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in tensors.values():
            file.write(array.tobytes())
