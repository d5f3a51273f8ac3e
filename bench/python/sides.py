# SPDX-License-Identifier: Apache-2.0
"""The sides that peers.py compares: how each makes its model of a Hugging Face directory, and embeds texts.

All compute in f32 but those that say otherwise: OpenVINO takes bf16 where the processor has it, unless it is told f32.
"""
import contextlib
import pathlib
import shutil
from dataclasses import dataclass
from typing import Callable, Dict, Tuple

SOURCE = "source"  # the directory's copy


def _mote(kind):
    def make(source, folder):
        import mote

        mote.convert(str(source), str(folder / f"{kind}.mote"), type=kind)

    def load(folder, threads):
        import mote

        model = mote.open(str(folder / f"{kind}.mote"), threads=threads)
        return lambda texts, batch: model.embed(texts, batch_size=batch, truncate=True)

    return make, load


def _torch_threads(threads):
    import torch

    torch.set_num_threads(threads)


def _sentence_transformers(backend, precision=None):
    def make(source, folder):
        if backend == "torch":
            return
        from sentence_transformers import SentenceTransformer

        made = folder / backend
        if made.exists():
            return
        SentenceTransformer(str(source), backend=backend, model_kwargs={"export": True}, device="cpu").save_pretrained(str(made))

    def load(folder, threads):
        from sentence_transformers import SentenceTransformer

        _torch_threads(threads)
        options = {}
        if backend == "onnx":
            import onnxruntime

            session = onnxruntime.SessionOptions()
            session.intra_op_num_threads = threads
            options = {"session_options": session, "provider": "CPUExecutionProvider"}
        if backend == "openvino":
            options = {"ov_config": {"INFERENCE_NUM_THREADS": threads, **({"INFERENCE_PRECISION_HINT": precision} if precision else {})}}
        path = folder / (SOURCE if backend == "torch" else backend)
        model = SentenceTransformer(str(path), backend=backend, device="cpu", model_kwargs=options)
        return lambda texts, batch: model.encode(texts, batch_size=batch, normalize_embeddings=True)

    return make, load


def _make_fastembed(source, folder):
    """fastembed runs the ONNX file that sentence-transformers exports."""
    if not (folder / "onnx").exists():
        _sentence_transformers("onnx")[0](source, folder)
    made = folder / "fastembed"
    made.mkdir(exist_ok=True)
    for file in (*source.glob("*.json"), *source.glob("*.txt"), folder / "onnx/onnx/model.onnx"):
        with contextlib.suppress(FileNotFoundError):
            shutil.copy(file, made)


def _load_fastembed(folder, threads):
    from fastembed import TextEmbedding

    model = TextEmbedding("sentence-transformers/all-MiniLM-L6-v2", specific_model_path=str(folder / "fastembed"), threads=threads)
    model.model.tokenizer.enable_truncation(max_length=256)  # its file says 128
    return lambda texts, batch: list(model.embed(texts, batch_size=batch))


def _ctranslate2(compute):
    def make(source, folder):
        from ctranslate2.converters import TransformersConverter

        TransformersConverter(str(source)).convert(str(folder / f"ctranslate2-{compute}"), quantization=compute, force=True)

    def load(folder, threads):
        import ctranslate2
        import numpy
        from tokenizers import Tokenizer

        encoder = ctranslate2.Encoder(str(folder / f"ctranslate2-{compute}"), device="cpu", inter_threads=1,
                                      intra_threads=threads, compute_type=compute)
        tokenizer = Tokenizer.from_file(str(folder / SOURCE / "tokenizer.json"))
        tokenizer.enable_truncation(max_length=256)
        tokenizer.no_padding()

        def embed(texts, batch):
            order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))  # texts of like lengths, as others batch them
            vectors = [None] * len(texts)
            for begin in range(0, len(order), batch):
                part = order[begin:begin + batch]
                ids = [one.ids for one in tokenizer.encode_batch([texts[i] for i in part])]
                states = numpy.array(encoder.forward_batch(ids).last_hidden_state)
                lengths = numpy.array([len(one) for one in ids])
                mask = (numpy.arange(states.shape[1])[None, :] < lengths[:, None])[..., None]
                sums = (states * mask).sum(1) / lengths[:, None]
                for i, vector in zip(part, sums / numpy.linalg.norm(sums, axis=1, keepdims=True)):
                    vectors[i] = vector
            return vectors

        return embed

    return make, load


@dataclass
class Kind:
    """A side: make(source, folder) makes its files once, load(folder, threads) returns embed(texts, batch)."""

    modules: Tuple[str, ...]
    imports: str
    make: Callable[[pathlib.Path, pathlib.Path], None]
    load: Callable[[pathlib.Path, int], Callable]


_ST = "from sentence_transformers import SentenceTransformer"
SIDES: Dict[str, Kind] = {
    "mote, f32": Kind(("mote",), "import mote", *_mote("f32")),
    "mote, q8": Kind(("mote",), "import mote", *_mote("q8")),
    "fastembed": Kind(("fastembed", "sentence_transformers", "optimum"), "from fastembed import TextEmbedding", _make_fastembed, _load_fastembed),
    "sentence-transformers, torch": Kind(("sentence_transformers",), _ST, *_sentence_transformers("torch")),
    "sentence-transformers, ONNX": Kind(("sentence_transformers", "optimum", "onnxruntime"), _ST, *_sentence_transformers("onnx")),
    "sentence-transformers, OpenVINO": Kind(("sentence_transformers", "optimum", "openvino"), _ST, *_sentence_transformers("openvino")),
    "sentence-transformers, OpenVINO in f32": Kind(("sentence_transformers", "optimum", "openvino"), _ST,
                                                   *_sentence_transformers("openvino", "f32")),
    "CTranslate2, f32": Kind(("ctranslate2", "transformers"), "import ctranslate2", *_ctranslate2("float32")),
    "CTranslate2, int8": Kind(("ctranslate2", "transformers"), "import ctranslate2", *_ctranslate2("int8")),
}


def prepare(source, folder, names):
    """Copies the directory and makes the sides' files, each once."""
    copy = folder / SOURCE
    if not copy.exists():
        shutil.copytree(source, copy)
    for name in names:
        done = folder / f"{name}.made"
        if not done.exists():
            SIDES[name].make(copy, folder)
            done.touch()
