# SPDX-License-Identifier: Apache-2.0
"""Models for compare.py, in mote's format and in those of its peers. Each is made once, when first asked for."""
import contextlib
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import wave

ROOT = pathlib.Path(__file__).resolve().parent.parent
CALIBRATION_TEXTS = 16


def installed(*names):
    return all(importlib.util.find_spec(name) is not None for name in names)


def pseudo_ids(count, vocab):
    return [(i * 7919 + 100) % vocab for i in range(count)]


def graph_inputs(names, batch, length, seed=0):
    """Arrays for the inputs of a peer's graph: texts of `length` tokens, pictures of 224 x 224 pixels, ten seconds."""
    import numpy
    random = numpy.random.default_rng(seed)
    makers = {
        "input_ids": lambda: numpy.array(pseudo_ids(seed + batch * length, 30000)[seed:], numpy.int64).reshape(batch, length),
        "attention_mask": lambda: numpy.ones((batch, length), numpy.int64),
        "pixel_values": lambda: random.standard_normal((batch, 3, 224, 224), numpy.float32),
        "input_values": lambda: random.standard_normal((batch, 160000), numpy.float32),
    }
    return {name: makers[name]() for name in names}


def run_quietly(command):
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)


class Models:
    """Files and folders in the folder `work`."""

    def __init__(self, work, mote):
        self.work, self.mote = work, mote
        work.mkdir(parents=True, exist_ok=True)

    def make(self, name, build):
        """The path of `name`, which build(path) makes if it is missing; what fails halfway leaves nothing by that name."""
        path = self.work / name
        if not path.exists():
            print(f"making {path}", file=sys.stderr)
            partial = path.with_name("partial-" + name)
            shutil.rmtree(partial, ignore_errors=True)
            build(partial)
            partial.rename(path)
        return path

    def random(self, shape, kind=None):
        name = shape if kind is None else f"{shape}-{kind}.gguf"
        command = [sys.executable, ROOT / "bench" / "make_random_model.py", shape]
        return self.make(name, lambda out: run_quietly([*command, out, *(["--gguf", kind] if kind else [])]))

    def q4_k_m(self, shape):
        """Random weights in 8 bits, quantized again by llama.cpp."""
        def build(out):
            import ctypes
            import llama_cpp
            options = llama_cpp.llama_model_quantize_default_params()
            options.ftype, options.allow_requantize = llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_K_M, True
            source = str(self.random(shape, "Q8_0")).encode()
            if llama_cpp.llama_model_quantize(source, str(out).encode(), ctypes.byref(options)) != 0:
                raise RuntimeError(f"llama.cpp did not quantize {shape}")
        return self.make(f"{shape}-Q4_K_M.gguf", build)

    def converted(self, source, kind=None, options=()):
        """A GGUF keeps its types; others get `kind`."""
        name = f"{source.stem if source.is_file() else source.name}{'' if kind is None else '-' + kind}.mote"
        options = [*options, *(["--type", kind] if kind else [])]
        return self.make(name, lambda out: run_quietly([self.mote, "convert", source, "-o", out, *options]))

    def speech(self):
        """Half a minute of sentences, spoken by espeak-ng."""
        def build(out):
            from speech import SENTENCES
            run_quietly(["espeak-ng", "-v", "en-us", "-s", "150", "-w", out, " ".join(SENTENCES[:16])])
            with wave.open(str(out)) as sound:
                parameters, frames = sound.getparams(), sound.readframes(30 * sound.getframerate())
            with wave.open(str(out), "wb") as sound:
                sound.setparams(parameters)
                sound.writeframes(frames)
        return self.make("speech.wav", build)

    def whisper_cpp(self, directory, kind):
        """whisper.cpp's program, the model in its format, and the sound. WHISPER_CPP is the folder of its programs."""
        programs = pathlib.Path(os.environ["WHISPER_CPP"])
        written = "f32" if kind == "f32" else "f16"
        command = [sys.executable, ROOT / "bench" / "whisper_ggml.py", directory]
        model = self.make(f"{directory.name}-{written}.bin", lambda out: run_quietly([*command, out, written]))
        if kind != "f32":
            quantize = [programs / "whisper-quantize", model]
            model = self.make(f"{directory.name}-{kind}.bin", lambda out: run_quietly([*quantize, out, kind]))
        return programs / "whisper-cli", model, self.speech()

    def translator(self, shape):
        """A folder of CTranslate2's, in int8."""
        command = [sys.executable, ROOT / "bench" / "make_random_translator.py", shape]
        return self.make(f"{shape}-ctranslate2-int8", lambda out: run_quietly([*command, out]))

    def onnx(self, directory):
        return self.make(f"{directory.name}.onnx", lambda out: export_onnx(directory, out))

    def onnx_int8(self, directory):
        def build(out):
            from onnxruntime.quantization import QuantType, quantize_dynamic
            kinds = ["MatMul", "Gemm"] if has_convolutions(directory) else None
            quantize_dynamic(str(self.onnx(directory)), str(out), weight_type=QuantType.QInt8, op_types_to_quantize=kinds)
        return self.make(f"{directory.name}-int8.onnx", build)

    def openvino_int8(self, directory):
        """A folder with model.xml."""
        return self.make(f"{directory.name}-openvino-int8", lambda out: quantize_openvino(self.onnx(directory), out))

    def ctranslate2_int8(self, directory):
        def build(out):
            from ctranslate2.converters import TransformersConverter
            TransformersConverter(str(directory)).convert(str(out), quantization="int8")
        return self.make(f"{directory.name}-ctranslate2-int8", build)

    def llama_generate(self):
        """llama_generate.c, compiled against the library in the Python package llama_cpp."""
        package = pathlib.Path(importlib.util.find_spec("llama_cpp").origin).parent
        flags = ["-O2", f"-I{package.parent / 'include'}", f"-L{package / 'lib'}", "-lllama"]
        flags += [f"-Wl,{option},{package / 'lib'}" for option in ("-rpath", "-rpath-link")]
        source = ROOT / "bench" / "llama_generate.c"
        return self.make("llama_generate", lambda out: run_quietly(["cc", source, "-o", out, *flags]))


def config_of(directory):
    return json.loads((directory / "config.json").read_text())


def has_convolutions(directory):
    """In 8 bits ONNX Runtime multiplies them slower than in floats."""
    return config_of(directory)["model_type"] in ("vit", "clip", "wav2vec2")


def export_onnx(directory, path):
    import torch
    import transformers
    config = config_of(directory)
    names = {"vit": ["pixel_values"], "clip": ["pixel_values"], "wav2vec2": ["input_values"]}.get(
        config["model_type"], ["input_ids", "attention_mask"])
    name = "CLIPVisionModelWithProjection" if config["model_type"] == "clip" else config["architectures"][0]

    class First(torch.nn.Module):
        def __init__(self):
            super().__init__()
            kind = getattr(transformers, name)
            self.model = kind.from_pretrained(directory, attn_implementation="eager", dtype=torch.float32)

        def forward(self, *values):
            return self.model(**dict(zip(names, values)))[0]

    inputs = tuple(torch.from_numpy(array) for array in graph_inputs(names, 1, 32).values())
    options = {"input_names": names, "output_names": ["hidden"]}
    if config["model_type"] == "gemma3_text":  # whose masks tracing does not follow
        axis = {1: torch.export.Dim("sequence", min=2, max=config["max_position_embeddings"])}
        torch.onnx.export(First().eval(), inputs, str(path), dynamic_shapes=(tuple(axis for _ in names),), dynamo=True,
                          external_data=False, **options)
        return
    axes = {name: {0: "batch", 1: "sequence"} for name in names if name in ("input_ids", "attention_mask")}
    torch.onnx.export(First().eval(), inputs, str(path), dynamic_axes=axes, opset_version=17, dynamo=False, **options)


def quantize_openvino(onnx, folder):
    """Statically, weights and activations in 8 bits, their ranges taken from made-up inputs."""
    import nncf
    import openvino
    graph = openvino.Core().read_model(str(onnx))
    names = [value.any_name for value in graph.inputs]
    texts = nncf.Dataset([graph_inputs(names, 1, 128, seed) for seed in range(CALIBRATION_TEXTS)])
    with contextlib.redirect_stdout(sys.stderr):  # its progress
        model = nncf.quantize(graph, texts, subset_size=CALIBRATION_TEXTS,
                              model_type=nncf.ModelType.TRANSFORMER)
    folder.mkdir()
    openvino.save_model(model, str(folder / "model.xml"), compress_to_fp16=False)
