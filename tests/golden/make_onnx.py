#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden folders NAME_onnx beside those that they are made of: the same weights and expected outputs,
as exporters write them. BERT as torch.onnx did (norms and activation in single operators, weights without names),
also quantized by onnxruntime, dynamically and statically, GPT-2 as optimum does (keys and values before, a causal mask of a table), ViT as
newer exporters do (LayerNormalization, scales of q and k), Whisper as optimum does: an encoder, and a decoder of which
one operator holds both branches; also quantized. Needs numpy, onnx, onnxruntime and safetensors."""
import collections
import json
import math
import pathlib
import shutil

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

MODELS = pathlib.Path(__file__).parent / "models"


class Graph:
    def __init__(self, weights, opset):
        self.weights, self.opset = weights, opset
        self.nodes, self.initializers, self.made = [], {}, 0
        self.ranks = collections.defaultdict(lambda: 3, {"pooler_output": 2})

    def add(self, op, inputs, path="", outputs=1, **attributes):
        """A node named after the module that it is of; its outputs."""
        self.made += 1
        name = f"{path}/{op}_{self.made}"
        names = [f"{name}_output_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value, dtype=np.float32):
        name = f"/Constant_{self.made}_output_0"
        self.made += 1
        tensor = numpy_helper.from_array(np.asarray(value, dtype))
        self.nodes.append(helper.make_node("Constant", [], [name], name[:-9], value=tensor))
        return name

    def weight(self, name, array=None):
        self.initializers[name] = numpy_helper.from_array(
            np.ascontiguousarray(self.weights[name] if array is None else array), name)
        return name

    def axes(self, op, x, axes):
        return self.add(op, [x, self.constant(axes, np.int64)])

    def mean(self, x, path):
        if self.opset >= 18:
            return self.add("ReduceMean", [x, self.constant([-1], np.int64)], path)
        return self.add("ReduceMean", [x], path, axes=[-1])

    def norm(self, x, name, eps, path):
        weight, bias = self.weight(name + ".weight"), self.weight(name + ".bias")
        if self.opset >= 17:
            return self.add("LayerNormalization", [x, weight, bias], path, axis=-1, epsilon=eps)
        middle = self.add("Sub", [x, self.mean(x, path)], path)
        square = self.add("Pow", [middle, self.constant(2.0)], path)
        deviation = self.add("Sqrt", [self.add("Add", [self.mean(square, path), self.constant(eps)], path)], path)
        scaled = self.add("Mul", [self.add("Div", [middle, deviation], path), weight], path)
        return self.add("Add", [scaled, bias], path)

    def linear(self, x, name, path):
        """A weight that was transposed when the graph was folded lost its name."""
        matrix = self.weight(f"onnx::MatMul_{900 + len(self.initializers)}", self.weights[name + ".weight"].T)
        product = self.add("MatMul", [x, matrix], path)
        return self.add("Add", [self.weight(name + ".bias"), product], path)

    def dim(self, x, axis):
        size = self.add("Gather", [self.add("Shape", [x]), self.constant(axis, np.int64)], axis=0)
        return self.axes("Unsqueeze", size, [0])

    def split_heads(self, x, heads, width, path, perm=(0, 2, 1, 3)):
        parts = [self.dim(x, 0), self.dim(x, 1), self.constant([heads], np.int64),
                 self.constant([width // heads], np.int64)]
        split = self.add("Reshape", [x, self.add("Concat", parts, axis=0)], path)
        return self.add("Transpose", [split], path, perm=list(perm))

    def merge_heads(self, x, width, path):
        turned = self.add("Transpose", [x], path, perm=[0, 2, 1, 3])
        parts = [self.dim(turned, 0), self.dim(turned, 1), self.constant([width], np.int64)]
        return self.add("Reshape", [turned, self.add("Concat", parts, axis=0)], path)

    def gelu(self, x, path):
        error = self.add("Erf", [self.add("Div", [x, self.constant(math.sqrt(2))], path)], path)
        product = self.add("Mul", [x, self.add("Add", [error, self.constant(1.0)], path)], path)
        return self.add("Mul", [product, self.constant(0.5)], path)

    def gelu_new(self, x, path):
        cube = self.add("Mul", [self.add("Pow", [x, self.constant(3.0)], path), self.constant(0.044715)], path)
        inner = self.add("Mul", [self.add("Add", [x, cube], path), self.constant(math.sqrt(2 / math.pi))], path)
        outer = self.add("Add", [self.add("Tanh", [inner], path), self.constant(1.0)], path)
        return self.add("Mul", [self.add("Mul", [x, self.constant(0.5)], path), outer], path)

    def graph(self, inputs, outputs, name="main_graph", initializers=True):
        for output, value in outputs.items():
            if value is not None:
                self.nodes.append(helper.make_node("Identity", [value], [output], f"/out/{output}"))
        return helper.make_graph(
            self.nodes, name,
            [helper.make_tensor_value_info(n, t, s) for n, t, s in inputs],
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, [None] * self.ranks[n]) for n in outputs],
            list(self.initializers.values()) if initializers else [])

    def save(self, path, inputs, outputs):
        graph = self.graph(inputs, outputs)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                  producer_name="pytorch", producer_version="2.3.0", ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, str(path))


def begin(name, to=None):
    source, target = MODELS / name, MODELS / (to or name + "_onnx")
    target.mkdir(exist_ok=True)
    for path in source.iterdir():
        if not path.name.startswith("model."):
            shutil.copy(path, target / path.name)
    return json.loads((source / "config.json").read_text()), load_file(source / "model.safetensors"), target


TEXT = [(n, TensorProto.INT64, ["batch", "sequence"]) for n in ("input_ids", "attention_mask", "token_type_ids")]


def bert(config, weights, path_of_file):
    width, heads, eps = config["hidden_size"], config["num_attention_heads"], config["layer_norm_eps"]
    g = Graph(weights, 14)
    mask = g.axes("Unsqueeze", g.axes("Unsqueeze", "attention_mask", [1]), [2])
    mask = g.add("Sub", [g.constant(1.0), g.add("Cast", [mask], to=TensorProto.FLOAT)])
    mask = g.add("Mul", [mask, g.constant(np.finfo(np.float32).min)])
    length = g.dim("input_ids", 1)
    table = g.weight("embeddings.position_ids", np.arange(config["max_position_embeddings"])[None])
    positions = g.add("Slice", [table, g.constant([0], np.int64), length, g.constant([1], np.int64),
                                g.constant([1], np.int64)])
    rows = [g.add("Gather", [g.weight(f"embeddings.{kind}_embeddings.weight"), ids], f"/embeddings/{kind}_embeddings")
            for kind, ids in (("word", "input_ids"), ("token_type", "token_type_ids"), ("position", positions))]
    x = g.add("Add", [g.add("Add", rows[:2], "/embeddings"), rows[2]], "/embeddings")
    x = g.norm(x, "embeddings.LayerNorm", eps, "/embeddings/LayerNorm")
    for layer in range(config["num_hidden_layers"]):
        name, path = f"encoder.layer.{layer}", f"/encoder/layer.{layer}"
        q, k, v = [g.linear(x, f"{name}.attention.self.{part}", f"{path}/attention/self/{part}")
                   for part in ("query", "key", "value")]
        k = g.split_heads(k, heads, width, path, (0, 2, 3, 1))
        v, q = g.split_heads(v, heads, width, path), g.split_heads(q, heads, width, path)
        scores = g.add("Div", [g.add("MatMul", [q, k], path), g.constant(math.sqrt(width // heads))], path)
        shares = g.add("Softmax", [g.add("Add", [scores, mask], path)], path, axis=-1)
        merged = g.merge_heads(g.add("MatMul", [shares, v], path), width, path)
        o = g.linear(merged, f"{name}.attention.output.dense", f"{path}/attention/output/dense")
        x = g.norm(g.add("Add", [o, x], path), f"{name}.attention.output.LayerNorm", eps, path + "/LayerNorm")
        up = g.gelu(g.linear(x, f"{name}.intermediate.dense", f"{path}/intermediate/dense"), path + "/act_fn")
        down = g.linear(up, f"{name}.output.dense", f"{path}/output/dense")
        x = g.norm(g.add("Add", [down, x], path), f"{name}.output.LayerNorm", eps, path + "/LayerNorm")
    outputs = {"last_hidden_state": x}
    if "pooler.dense.weight" in weights:
        first = g.add("Gather", [x, g.constant(0, np.int64)], "/pooler", axis=1)
        pooled = g.add("Gemm", [first, g.weight("pooler.dense.weight"), g.weight("pooler.dense.bias")],
                       "/pooler/dense", transB=1)
        outputs["pooler_output"] = g.add("Tanh", [pooled], "/pooler/activation")
    g.save(path_of_file, TEXT, outputs)


def random_weights(config, rng):
    width, inner = config["hidden_size"], config["intermediate_size"]
    shapes = {f"embeddings.{name}_embeddings": (config[key], width) for name, key in
              (("word", "vocab_size"), ("position", "max_position_embeddings"), ("token_type", "type_vocab_size"))}
    shapes["embeddings.LayerNorm"] = (width,)
    for layer in range(config["num_hidden_layers"]):
        base = f"encoder.layer.{layer}."
        for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            shapes[base + name] = (width, width)
        shapes[base + "intermediate.dense"], shapes[base + "output.dense"] = (inner, width), (width, inner)
        shapes[base + "attention.output.LayerNorm"] = shapes[base + "output.LayerNorm"] = (width,)
    weights = {}
    for name, shape in shapes.items():
        weights[name + ".weight"] = rng.standard_normal(shape).astype(np.float32)
        weights[name + ".bias"] = rng.standard_normal(shape[:1]).astype(np.float32)
    return weights


def small_bert():
    """For fuzzing, which starts from small files, and with its weights in a file beside."""
    config = {"hidden_size": 4, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 6,
              "vocab_size": 12, "max_position_embeddings": 8, "type_vocab_size": 2, "layer_norm_eps": 1e-12}
    folder = MODELS.parent.parent / "fuzz/corpus/onnx"
    folder.mkdir(exist_ok=True)
    bert(config, random_weights(config, np.random.default_rng(1)), folder / "bert")
    onnx.save(onnx.load(folder / "bert"), MODELS.parent.parent / "converter/data/bert_external.onnx",
              save_as_external_data=True, location="bert_external.data", size_threshold=16)


def quantized_bert():
    """As onnxruntime.quantization.quantize_dynamic makes it, for a test of converter/onnx."""
    from onnxruntime.quantization import quantize_dynamic
    folder = MODELS.parent.parent / "converter/data"
    quantize_dynamic(str(MODELS / "bert_onnx/model.onnx"), str(folder / "bert_quantized.onnx"))


class Batches:
    """What onnxruntime's quantizer measures activations with."""

    def __init__(self, vocab):
        rng, shape = np.random.default_rng(3), (2, 7)
        self.batches = [{"input_ids": rng.integers(0, vocab, shape), "attention_mask": np.ones(shape, np.int64),
                         "token_type_ids": np.zeros(shape, np.int64)} for _ in range(4)]

    def __len__(self):
        return len(self.batches)

    def get_next(self):
        return self.batches.pop() if self.batches else None


def static_bert():
    """The small BERT as onnxruntime.quantization.quantize_static makes it, for a test of converter/onnx."""
    from onnxruntime.quantization import CalibrationDataReader, quantize_static
    CalibrationDataReader.register(Batches)
    folder = MODELS.parent.parent
    quantize_static(str(folder / "fuzz/corpus/onnx/bert"), str(folder / "converter/data/bert_static.onnx"),
                    Batches(12), op_types_to_quantize=["MatMul"])


def half_bert():
    """In half precision as onnxruntime makes it, for a test of converter/onnx."""
    from onnxruntime.transformers.float16 import convert_float_to_float16
    model = convert_float_to_float16(onnx.load(MODELS / "bert_onnx/model.onnx"), disable_shape_infer=True)
    onnx.save(model, MODELS.parent.parent / "converter/data/bert_half.onnx")


def gpt2():
    config, weights, target = begin("gpt2")
    width, heads, eps = config["n_embd"], config["n_head"], config["layer_norm_epsilon"]
    base = "transformer." if "transformer.wte.weight" in weights else ""
    g = Graph(weights, 14)
    x = g.add("Add", [g.add("Gather", [g.weight(base + "wte.weight"), "input_ids"]),
                      g.add("Gather", [g.weight(base + "wpe.weight"), "position_ids"])])
    context = config["n_positions"]
    table = g.weight("causal", np.tril(np.ones((1, 1, context, context), bool)))
    mask = g.axes("Unsqueeze", g.axes("Unsqueeze", "attention_mask", [1]), [2])
    mask = g.add("Sub", [g.constant(1.0), g.add("Cast", [mask], to=TensorProto.FLOAT)])
    mask = g.add("Mul", [mask, g.constant(np.finfo(np.float32).min)])
    inputs = TEXT[:2] + [("position_ids", TensorProto.INT64, ["batch", "sequence"])]
    outputs = {"logits": None}

    def conv1d(x, name, path):
        rows = g.add("Reshape", [x, g.constant([-1, g.weights[name + ".weight"].shape[0]], np.int64)], path)
        product = g.add("Gemm", [rows, g.weight(name + ".weight"), g.weight(name + ".bias")], path)
        shape = g.add("Concat", [g.dim(x, 0), g.dim(x, 1), g.constant([g.weights[name + ".weight"].shape[1]], np.int64)],
                      axis=0)
        return g.add("Reshape", [product, shape], path)

    for layer in range(config["n_layer"]):
        name, path = f"{base}h.{layer}", f"/transformer/h.{layer}"
        qkv = conv1d(g.norm(x, name + ".ln_1", eps, path + "/ln_1"), name + ".attn.c_attn", path + "/attn/c_attn")
        q, k, v = g.add("Split", [qkv, g.constant([width] * 3, np.int64)], path, 3, axis=2)
        q, k, v = [g.split_heads(part, heads, width, path) for part in (q, k, v)]
        for kind in ("key", "value"):
            past = f"past_key_values.{layer}.{kind}"
            inputs.append((past, TensorProto.FLOAT, ["batch", heads, "past_sequence", width // heads]))
            joined = g.add("Concat", [past, k if kind == "key" else v], path, axis=2)
            outputs[f"present.{layer}.{kind}"] = joined
            g.ranks[f"present.{layer}.{kind}"] = 4
            k, v = (joined, v) if kind == "key" else (k, joined)
        scores = g.add("MatMul", [q, g.add("Transpose", [k], path, perm=[0, 1, 3, 2])], path)
        scores = g.add("Div", [scores, g.constant(math.sqrt(width // heads))], path)
        keys, queries = g.dim(k, 2), g.dim(q, 2)
        seen = g.add("Slice", [table, g.add("Sub", [keys, queries]), keys, g.constant([2], np.int64)])
        seen = g.add("Slice", [seen, g.constant([0], np.int64), keys, g.constant([3], np.int64)])
        scores = g.add("Where", [seen, scores, g.constant(np.finfo(np.float32).min)], path)
        shares = g.add("Softmax", [g.add("Add", [scores, mask], path)], path, axis=-1)
        merged = g.merge_heads(g.add("MatMul", [shares, v], path), width, path)
        x = g.add("Add", [conv1d(merged, name + ".attn.c_proj", path + "/attn/c_proj"), x], path)
        up = conv1d(g.norm(x, name + ".ln_2", eps, path + "/ln_2"), name + ".mlp.c_fc", path + "/mlp/c_fc")
        x = g.add("Add", [x, conv1d(g.gelu_new(up, path + "/mlp/act"), name + ".mlp.c_proj", path + "/mlp/c_proj")], path)
    x = g.norm(x, base + "ln_f", eps, "/transformer/ln_f")
    head = g.weight("onnx::MatMul_3000", weights[base + "wte.weight"].T)
    outputs["logits"] = g.add("MatMul", [x, head], "/lm_head")
    g.save(target / "model.onnx", inputs, outputs)


def vit():
    config, weights, target = begin("vit_classifier", "vit_classifier_onnx")
    width, heads, eps = config["hidden_size"], config["num_attention_heads"], config["layer_norm_eps"]
    patch, side = config["patch_size"], config["image_size"]
    g = Graph(weights, 18)
    projection = "vit.embeddings.patch_embeddings.projection"
    x = g.add("Conv", ["pixel_values", g.weight(projection + ".weight"), g.weight(projection + ".bias")],
              kernel_shape=[patch] * 2, strides=[patch] * 2, pads=[0] * 4, dilations=[1, 1], group=1)
    x = g.add("Reshape", [x, g.constant([0, width, -1], np.int64)])
    x = g.add("Transpose", [x], perm=[0, 2, 1])
    shape = g.add("Concat", [g.dim("pixel_values", 0), g.constant([-1], np.int64), g.constant([-1], np.int64)], axis=0)
    ones = g.add("ConstantOfShape", [g.constant([3], np.int64)],
                 value=helper.make_tensor("value", TensorProto.INT64, [1], [1]))
    open_dims = g.add("Equal", [shape, g.constant([-1], np.int64)])
    token = g.add("Expand", [g.weight("vit.embeddings.cls_token"), g.add("Where", [open_dims, ones, shape])])
    x = g.add("Add", [g.add("Concat", [token, x], axis=1), g.weight("vit.embeddings.position_embeddings")])
    scale = (width // heads) ** -0.25
    for layer in range(config["num_hidden_layers"]):
        name, path = f"vit.encoder.layer.{layer}", f"/vit/encoder/layer.{layer}"
        normed = g.norm(x, name + ".layernorm_before", eps, path)
        q, k, v = [g.linear(normed, f"{name}.attention.attention.{part}", path) for part in ("query", "key", "value")]
        q, v = g.split_heads(q, heads, width, path), g.split_heads(v, heads, width, path)
        k = g.add("Transpose", [g.split_heads(k, heads, width, path)], path, perm=[0, 1, 3, 2])
        q, k = [g.add("Mul", [part, g.constant(scale)], path) for part in (q, k)]
        shares = g.add("Softmax", [g.add("MatMul", [q, k], path)], path, axis=-1)
        missing = g.add("IsNaN", [shares], path)
        shares = g.add("Where", [missing, g.constant(0.0), shares], path)
        merged = g.merge_heads(g.add("MatMul", [shares, v], path), width, path)
        x = g.add("Add", [g.linear(merged, name + ".attention.output.dense", path), x], path)
        up = g.gelu(g.linear(g.norm(x, name + ".layernorm_after", eps, path), name + ".intermediate.dense", path), path)
        x = g.add("Add", [g.linear(up, name + ".output.dense", path), x], path)
    x = g.norm(x, "vit.layernorm", eps, "/vit/layernorm")
    first = g.add("Gather", [x, g.constant(0, np.int64)], axis=1)
    g.ranks["logits"] = 2
    logits = g.add("Gemm", [first, g.weight("classifier.weight"), g.weight("classifier.bias")], "/classifier", transB=1)
    g.save(target / "model.onnx", [("pixel_values", TensorProto.FLOAT, ["batch", 3, side, side])], {"logits": logits})


class Speech(Graph):
    """Whisper's layers."""

    def __init__(self, config, weights, side, base):
        super().__init__(weights, 17)
        self.width, self.heads, self.base = config["d_model"], config[side + "_attention_heads"], base

    def projection(self, x, name, path):
        """A weight that was transposed when the graph was folded lost its name; keys have no bias."""
        matrix = self.weight(f"onnx::MatMul_{name}", self.weights[f"model.{self.side}.{name}.weight"].T)
        product = self.add("MatMul", [x, matrix], path)
        bias = f"model.{self.side}.{name}.bias"
        if bias not in self.weights:
            return product
        return self.add("Add", [self.weight(self.base + name + ".bias", self.weights[bias]), product], path)

    def speech_norm(self, x, name, path):
        pair = [self.weight(f"{self.base}{name}.{part}", self.weights[f"model.{self.side}.{name}.{part}"])
                for part in ("weight", "bias")]
        return self.add("LayerNormalization", [x, *pair], path, axis=-1, epsilon=1e-5)

    def keys_and_values(self, x, name, path):
        return [self.split_heads(self.projection(x, f"{name}.{part}_proj", path), self.heads, self.width, path)
                for part in ("k", "v")]

    def attend(self, x, k, v, name, path, mask=None):
        q = self.add("Mul", [self.projection(x, f"{name}.q_proj", path),
                             self.constant((self.width // self.heads) ** -0.5)], path)
        q = self.add("Mul", [self.split_heads(q, self.heads, self.width, path), self.constant(1.0)], path)
        turned = self.add("Mul", [self.add("Transpose", [k], path, perm=[0, 1, 3, 2]), self.constant(1.0)], path)
        scores = self.add("MatMul", [q, turned], path)
        if mask is not None:
            scores = self.add("Add", [scores, mask], path)
        shares = self.add("Softmax", [scores], path, axis=-1)
        merged = self.merge_heads(self.add("MatMul", [shares, v], path), self.width, path)
        return self.projection(merged, f"{name}.out_proj", path)

    def feed_forward(self, x, name, path):
        up = self.gelu(self.projection(self.speech_norm(x, name + ".final_layer_norm", path), name + ".fc1", path), path)
        return self.add("Add", [x, self.projection(up, name + ".fc2", path)], path)


class Hearing(Speech):
    side = "encoder"

    def conv(self, x, name, stride):
        pair = [self.weight(f"{self.base}{name}.{part}", self.weights[f"model.encoder.{name}.{part}"])
                for part in ("weight", "bias")]
        x = self.add("Conv", [x, *pair], f"/{name}", kernel_shape=[3], strides=[stride], pads=[1, 1], dilations=[1],
                     group=1)
        return self.gelu(x, f"/{name}")

    def build(self, config, path):
        x = self.add("Transpose", [self.conv(self.conv("input_features", "conv1", 1), "conv2", 2)], perm=[0, 2, 1])
        table = self.weight(self.base + "embed_positions.weight", self.weights["model.encoder.embed_positions.weight"])
        x = self.add("Add", [x, table])
        for layer in range(config["encoder_layers"]):
            name, where = f"layers.{layer}", f"/layers.{layer}"
            normed = self.speech_norm(x, name + ".self_attn_layer_norm", where)
            keys, values = self.keys_and_values(normed, name + ".self_attn", where + "/self_attn")
            x = self.add("Add", [x, self.attend(normed, keys, values, name + ".self_attn", where + "/self_attn")], where)
            x = self.feed_forward(x, name, where)
        x = self.speech_norm(x, "layer_norm", "/layer_norm")
        frames = 2 * config["max_source_positions"]
        self.save(path, [("input_features", TensorProto.FLOAT, ["batch", config["num_mel_bins"], frames])],
                  {"last_hidden_state": x})


class Telling(Speech):
    side = "decoder"

    def inputs(self, config, past):
        inputs = [("input_ids", TensorProto.INT64, ["batch", "sequence"]),
                  ("encoder_hidden_states", TensorProto.FLOAT, ["batch", "source", config["d_model"]])]
        for layer in range(config["decoder_layers"] if past else 0):
            for kind in ("decoder.key", "decoder.value", "encoder.key", "encoder.value"):
                shape = ["batch", self.heads, "past_" + kind[:7], self.width // self.heads]
                inputs.append((f"past_key_values.{layer}.{kind}", TensorProto.FLOAT, shape))
        return inputs + ([("use_cache_branch", TensorProto.BOOL, [1])] if past else [])

    def causal_mask(self, queries, past):
        """0 where the key is not behind the query."""
        scalar = [self.axes("Squeeze", size, [0]) for size in (past, self.add("Add", [past, queries]))]
        zero, one = self.constant(0, np.int64), self.constant(1, np.int64)
        rows = self.axes("Unsqueeze", self.add("Range", [*scalar, one]), [1])
        behind = self.add("Greater", [self.add("Range", [zero, scalar[1], one]), rows])
        mask = self.add("Where", [behind, self.constant(np.finfo(np.float32).min), self.constant(0.0)])
        return self.axes("Unsqueeze", mask, [0, 1])

    def build(self, config, past):
        """The outputs; with `past` the keys and values of the source are those of before."""
        queries = self.dim("input_ids", 1)
        before = self.dim("past_key_values.0.decoder.key", 2) if past else self.constant([0], np.int64)
        tokens = self.weight("model.decoder.embed_tokens.weight")
        table = self.weight("model.decoder.embed_positions.weight")
        rows = self.add("Slice", [table, before, self.add("Add", [before, queries]), self.constant([0], np.int64)])
        x = self.add("Add", [self.add("Gather", [tokens, "input_ids"]), rows])
        mask = self.causal_mask(queries, before)
        outputs = {"logits": None}
        for layer in range(config["decoder_layers"]):
            name, where, held = f"layers.{layer}", f"/model/decoder/layers.{layer}", f"past_key_values.{layer}."
            normed = self.speech_norm(x, name + ".self_attn_layer_norm", where)
            own = self.keys_and_values(normed, name + ".self_attn", where)
            if past:
                own = [self.add("Concat", [f"{held}decoder.{kind}", part], axis=2)
                       for kind, part in zip(("key", "value"), own)]
            x = self.add("Add", [x, self.attend(normed, *own, name + ".self_attn", where + "/self_attn", mask)], where)
            normed = self.speech_norm(x, name + ".encoder_attn_layer_norm", where)
            other = ([held + "encoder.key", held + "encoder.value"] if past else
                     self.keys_and_values("encoder_hidden_states", name + ".encoder_attn", where))
            x = self.add("Add", [x, self.attend(normed, *other, name + ".encoder_attn", where + "/encoder_attn")], where)
            x = self.feed_forward(x, name, where)
            for kind, value in zip(("decoder.key", "decoder.value", "encoder.key", "encoder.value"), (*own, *other)):
                outputs[f"present.{layer}.{kind}"] = value
                self.ranks[f"present.{layer}.{kind}"] = 4
        x = self.speech_norm(x, "layer_norm", "/model/decoder/layer_norm")
        head = self.weight("onnx::MatMul_3000", self.weights["model.decoder.embed_tokens.weight"].T)
        return {**outputs, "logits": self.add("MatMul", [x, head], "/proj_out")}


def merged(config, weights):
    """Both branches in one operator, whose outputs have the names of theirs; weights are outside."""
    branches, initializers = {}, {}
    for past in (True, False):
        g = Telling(config, weights, "decoder", "model.decoder.")
        g.made = 10000 if past else 0
        branches["then_branch" if past else "else_branch"] = g.graph(
            [], g.build(config, past), "with_past" if past else "no_past", initializers=False)
        initializers.update(g.initializers)
    whole = Telling(config, weights, "decoder", "model.decoder.")
    whole.initializers, whole.ranks = initializers, g.ranks
    names = [value.name for value in branches["else_branch"].output]
    whole.nodes.append(helper.make_node("If", ["use_cache_branch"], names, "optimum::if", **branches))
    return whole, {name: None for name in names}


def small_whisper():
    """For fuzzing: an encoder, a mark and a decoder."""
    config = {"d_model": 4, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
              "decoder_attention_heads": 2, "max_source_positions": 6, "num_mel_bins": 3}
    rng = np.random.default_rng(2)
    shapes = {"encoder.conv1": (4, 3, 3), "encoder.conv2": (4, 4, 3), "decoder.embed_tokens": (12, 4),
              "encoder.embed_positions": (6, 4), "decoder.embed_positions": (8, 4)}
    for side in ("encoder", "decoder"):
        layer = f"{side}.layers.0."
        branches = ["self_attn"] + ["encoder_attn"] * (side == "decoder")
        shapes[side + ".layer_norm"] = shapes[layer + "final_layer_norm"] = (4,)
        shapes[layer + "fc1"], shapes[layer + "fc2"] = (6, 4), (4, 6)
        for branch in branches:
            shapes[f"{layer}{branch}_layer_norm"] = (4,)
            shapes.update({f"{layer}{branch}.{part}": (4, 4) for part in ("q_proj", "k_proj", "v_proj", "out_proj")})
    weights = {}
    for name, shape in shapes.items():
        weights[f"model.{name}.weight"] = rng.standard_normal(shape).astype(np.float32)
        if not name.endswith(("k_proj", "embed_positions", "embed_tokens")):
            weights[f"model.{name}.bias"] = rng.standard_normal(shape[:1]).astype(np.float32)
    folder = MODELS.parent.parent / "fuzz/corpus/onnx"
    Hearing(config, weights, "encoder", "").build(config, folder / "encoder")
    whole, outputs = merged(config, weights)
    whole.save(folder / "decoder", whole.inputs(config, True), outputs)
    parts = [folder / "encoder", folder / "decoder"]
    (folder / "whisper").write_bytes(b"ENCODER|DECODER".join(part.read_bytes() for part in parts))
    for part in parts:
        part.unlink()


def whisper():
    from onnxruntime.quantization import QuantType, quantize_dynamic
    config, weights, target = begin("whisper")
    weights = {name: array.astype(np.float32) for name, array in weights.items()}
    data = MODELS.parent.parent / "converter/data"
    Hearing(config, weights, "encoder", "").build(config, target / "encoder_model.onnx")
    whole, outputs = merged(config, weights)
    whole.save(target / "decoder_model_merged.onnx", whole.inputs(config, True), outputs)
    plain = Telling(config, weights, "decoder", "model.decoder.")
    plain.save(data / "whisper_decoder.onnx", plain.inputs(config, False), plain.build(config, False))
    for source, name in ((target / "encoder_model.onnx", "encoder"), (data / "whisper_decoder.onnx", "decoder")):
        quantize_dynamic(str(source), str(data / f"whisper_{name}_quantized.onnx"), weight_type=QuantType.QUInt8)
    (data / "whisper_decoder.onnx").unlink()


golden_config, golden_weights, folder_of_bert = begin("bert")
bert(golden_config, golden_weights, folder_of_bert / "model.onnx")
small_bert()
quantized_bert()
static_bert()
half_bert()
gpt2()
vit()
whisper()
small_whisper()
