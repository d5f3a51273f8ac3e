#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes models/mms_ctc: a tiny wav2vec 2.0 with an adapter and a head for each of two languages, as MMS has them, with the
original's logits and hidden states, those of the second language in golden.fra.safetensors. Needs numpy, torch, transformers
and safetensors."""
import copy
import json
import sys

import numpy
import torch
import transformers
from golden_model import MODELS, config_of, error_of_rounded_weights, with_sharp_weights, write
from safetensors.torch import save_file

NAME = "mms_ctc"
VOCABULARIES = {"eng": ["<pad>", "<s>", "</s>", "<unk>", "|", *"aeiost"],
                "fra": ["<pad>", "<s>", "</s>", "<unk>", "|", *"aeiou\u00e9\u00e7st"]}
SIZES = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 52, "conv_dim": [16, 20, 20],
    "conv_kernel": [10, 8, 3], "conv_stride": [5, 4, 2], "num_feat_extract_layers": 3, "num_conv_pos_embeddings": 6,
    "num_conv_pos_embedding_groups": 4, "adapter_attn_dim": 6, "do_stable_layer_norm": True, "feat_extract_norm": "layer",
    "vocab_size": len(VOCABULARIES["eng"]), "pad_token_id": 0,
}
TOKENIZER = {"tokenizer_class": "Wav2Vec2CTCTokenizer", "target_lang": "eng", "pad_token": "<pad>", "bos_token": "<s>",
             "eos_token": "</s>", "unk_token": "<unk>", "word_delimiter_token": "|"}


def of_language(model):
    """Returns the weights that each language has of its own."""
    return {name: value.detach().clone().contiguous() for name, value in model.named_parameters()
            if ".adapter_layer." in name or name.startswith("lm_head.")}


def run(model, values):
    with torch.no_grad():
        return model(values, output_hidden_states=True)


if (MODELS / NAME).exists():
    sys.exit(f"{MODELS / NAME} is there: remove it first")
english = with_sharp_weights(transformers.Wav2Vec2ForCTC(config_of("wav2vec2", SIZES)))
values = torch.from_numpy(numpy.random.default_rng(3).standard_normal((2, 1100), dtype=numpy.float32))
made = run(english, values)
exact = run(copy.deepcopy(english).double(), values.double())
write(NAME, "audio", english, {"input_values": values, "logits": made.logits}, made.hidden_states,
      (made.logits - exact.logits).abs().max(), error_of_rounded_weights(english, values))
sizes = SIZES | {"vocab_size": len(VOCABULARIES["fra"])}
french = with_sharp_weights(transformers.Wav2Vec2ForCTC(config_of("wav2vec2", sizes)), seed=5)
for language, model in (("eng", english), ("fra", french)):
    save_file(of_language(model), MODELS / NAME / f"adapter.{language}.safetensors")
vocabulary = {language: {text: i for i, text in enumerate(texts)} for language, texts in VOCABULARIES.items()}
(MODELS / NAME / "vocab.json").write_text(json.dumps(vocabulary, indent=1, ensure_ascii=False) + "\n")
(MODELS / NAME / "tokenizer_config.json").write_text(json.dumps(TOKENIZER, indent=1) + "\n")
loaded = transformers.Wav2Vec2ForCTC.from_pretrained(MODELS / NAME, target_lang="fra", ignore_mismatched_sizes=True).eval()
made = run(loaded, values)
arrays = {"input_values": values, "logits": made.logits} | {f"hidden.{i}": state for i, state in enumerate(made.hidden_states)}
save_file({name: value.contiguous() for name, value in arrays.items()}, MODELS / NAME / "golden.fra.safetensors")
