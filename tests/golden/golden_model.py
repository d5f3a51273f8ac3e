# SPDX-License-Identifier: Apache-2.0
"""Functions that make_decoder.py and make_encoder.py share."""
import copy
import json
import pathlib
import sys

import numpy
import torch
import transformers
from safetensors.torch import save_file

MODELS = pathlib.Path(__file__).resolve().parent / "models"


def arguments(doc):
    """Returns model type, name and further keys of the config."""
    if len(sys.argv) < 3 or any("=" not in key for key in sys.argv[3:]):
        sys.exit(doc.strip())
    if (MODELS / sys.argv[2]).exists():
        sys.exit(f"{MODELS / sys.argv[2]} is there: remove it first, or choose another name")
    keys = dict(key.split("=", 1) for key in sys.argv[3:])
    return sys.argv[1], sys.argv[2], {key: json.loads(value) for key, value in keys.items()}


def config_of(model_type, keys):
    """Returns the config; a key that its class does not have is left out, unless it was given."""
    known = transformers.AutoConfig.for_model(model_type)
    given = {key.split("=", 1)[0] for key in sys.argv[3:]}
    return type(known)(**{key: value for key, value in keys.items() if key in given or hasattr(known, key)})


def with_sharp_weights(model, seed=1):
    """Draws weights under which each part of the computation shows in the outputs: attention is neither uniform nor of
    one token, norms' weights are not 1, biases not 0."""
    random = numpy.random.default_rng(seed)
    for name, parameter in sorted(model.named_parameters()):
        drawn = random.standard_normal(tuple(parameter.shape), dtype=numpy.float32)
        if parameter.dim() > 1:
            drawn *= 1.3 / numpy.sqrt(parameter.shape[-1])
        else:
            drawn = 0.1 * drawn + (0.0 if name.endswith("bias") else 1.0)
        parameter.data.copy_(torch.from_numpy(numpy.asarray(drawn)))
    model.tie_weights()
    return model.eval()


def random_ids(model, tokens, rows=1, seed=2):
    """Returns ids [rows, tokens] without special tokens."""
    vocab = model.config.get_text_config().vocab_size
    return torch.from_numpy(numpy.random.default_rng(seed).integers(3, vocab, (rows, tokens)))


def prompt_with_clear_answer(model, tokens, count):
    """Returns a prompt and its `count` greedy ids, of which none ends the text and none is nearly tied with another."""
    for seed in range(2, 1000):
        ids = random_ids(model, tokens, seed=seed)
        made = model.generate(ids, do_sample=False, max_new_tokens=count, return_dict_in_generate=True,
                              output_logits=True)
        best = torch.stack(made.logits).topk(2).values
        if len(made.logits) == count and (best[..., 0] - best[..., 1]).min() > 0.01:
            return ids, made.sequences[:, tokens:]
    sys.exit("no prompt of 1000 has a clear continuation: other weights may have")


def error_of_rounded_weights(model, values):
    """Returns the relative error of the last hidden states of the first row of `values`, in float64, where each row of the
    matrices is rounded to 8 bits: how much the model, whatever runs it, makes of such roundings."""
    exact, rounded = copy.deepcopy(model).double(), copy.deepcopy(model).double()
    for parameter in rounded.parameters():
        if parameter.dim() > 1:
            rows = parameter.data.reshape(parameter.shape[0], -1)
            unit = (rows.abs().amax(1, keepdim=True) / 127).clamp(min=1e-30)
            parameter.data.copy_(((rows / unit).round() * unit).reshape(parameter.shape))
    with torch.no_grad():
        one, other = (made(values[:1].double(), output_hidden_states=True).hidden_states[-1] for made in (exact, rounded))
    return float((one - other).norm() / one.norm())


def write(name, family, model, tensors, hidden, difference, rounded=None):
    """Writes the model, its tensors and golden.json; `difference` is that of float32 and float64, `rounded` the error of
    rounded weights."""
    folder = MODELS / name
    model.save_pretrained(folder)
    tensors = tensors | {f"hidden.{i}": state for i, state in enumerate(hidden)}
    save_file({key: value.detach().contiguous() for key, value in tensors.items()}, folder / "golden.safetensors")
    record = {"name": name, "family": family, "model_type": model.config.model_type,
              "architecture": type(model).__name__, "torch": torch.__version__.split("+")[0],
              "transformers": transformers.__version__, "float64_difference": float(difference),
              "tolerance": max(1e-4, 20 * float(difference))}
    if rounded is not None:
        record["rounded_weights"] = rounded
    (folder / "golden.json").write_text(json.dumps(record, indent=1) + "\n")
    print(f"{folder}: {sum(p.numel() for p in model.parameters())} parameters, tolerance {record['tolerance']:.1e}")
