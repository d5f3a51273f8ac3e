#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden folders NAME_onnx beside those that they are made of: the same weights and expected outputs,
as exporters write them. BERT as torch.onnx did (norms and activation in single operators, weights without names),
also quantized by onnxruntime, GPT-2 as optimum does (keys and values before, a causal mask of a table), ViT as
newer exporters do (LayerNormalization, scales of q and k). Needs numpy, onnx, onnxruntime and safetensors."""
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

    def save(self, path, inputs, outputs):
        for name, value in outputs.items():
            self.nodes.append(helper.make_node("Identity", [value], [name], f"/out/{name}"))
        graph = helper.make_graph(
            self.nodes, "main_graph",
            [helper.make_tensor_value_info(n, t, s) for n, t, s in inputs],
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, [None] * self.ranks[n]) for n in outputs],
            list(self.initializers.values()))
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


golden_config, golden_weights, folder_of_bert = begin("bert")
bert(golden_config, golden_weights, folder_of_bert / "model.onnx")
small_bert()
quantized_bert()
gpt2()
vit()
