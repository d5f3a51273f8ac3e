#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes models/clap, clap_audio and clap_text: tiny models of CLAP, both towers and each with its projection alone, with the
original's vectors. Needs numpy, torch, transformers and safetensors.

`input_features` are decibels as mote takes them: resized to the model's frames as the original does it inside."""
import copy
import sys

import numpy
import torch
import transformers
from golden_model import MODELS, error_of_rounded_weights, random_ids, with_sharp_weights, write

BINS, FRAMES, HEARD = 8, 128, 101  # of a spectrogram that the model sees, and of the second that it hears
AUDIO = {
    "spec_size": 32, "num_mel_bins": BINS, "patch_size": 4, "patch_stride": [4, 4], "window_size": 4, "depths": [2, 2],
    "num_attention_heads": [2, 4], "patch_embeds_hidden_size": 16, "hidden_size": 32, "num_hidden_layers": 2, "mlp_ratio": 3.0,
}
TEXT = {
    "vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 60,
    "max_position_embeddings": 66,
}
PROJECTION = {"projection_dim": 24, "projection_hidden_act": "relu"}
TOKENS, PADDING = 23, 5


def with_statistics(model):
    """Draws the statistics of the batch norm over bins, as of decibels."""
    random = numpy.random.default_rng(5)
    norm = next(module for module in model.modules() if isinstance(module, torch.nn.BatchNorm2d))
    norm.running_mean.copy_(torch.from_numpy(random.normal(-20, 4, BINS)))
    norm.running_var.copy_(torch.from_numpy(random.uniform(60, 160, BINS)))
    return model.eval()


def decibels():
    return torch.from_numpy(numpy.random.default_rng(3).normal(-20, 10, (2, 1, HEARD, BINS)).astype(numpy.float32))


def as_taken(features):
    return torch.nn.functional.interpolate(features, (FRAMES, BINS), mode="bicubic", align_corners=True)[:, 0]


def padded_ids(model):
    ids = random_ids(model, TOKENS, rows=2)
    mask = torch.ones_like(ids)
    ids[1, -PADDING:], mask[1, -PADDING:] = 1, 0
    return {"input_ids": ids, "attention_mask": mask}


def write_audio(features):
    config = transformers.ClapAudioConfig(**AUDIO, **PROJECTION)
    model = with_statistics(with_sharp_weights(transformers.ClapAudioModelWithProjection(config)))
    made = model(features, output_hidden_states=True)
    exact = copy.deepcopy(model).double()(features.double()).audio_embeds
    hidden = [state.flatten(2).transpose(1, 2) for state in made.hidden_states]
    write("clap_audio", "audio", model, {"input_features": as_taken(features), "logits": made.audio_embeds}, hidden,
          (made.audio_embeds - exact).abs().max(), error_of_rounded_weights(model, features))


def write_text():
    config = transformers.ClapTextConfig(**TEXT, **PROJECTION)
    model = with_sharp_weights(transformers.ClapTextModelWithProjection(config))
    inputs = padded_ids(model)
    made = model(**inputs, output_hidden_states=True)
    exact = copy.deepcopy(model).double()(**inputs).text_embeds
    hidden = [state * inputs["attention_mask"][..., None] for state in made.hidden_states]
    write("clap_text", "encoder", model, inputs | {"sentence_embedding": made.text_embeds}, hidden,
          (made.text_embeds - exact).abs().max())


def write_both(features):
    config = transformers.ClapConfig(text_config=TEXT, audio_config=AUDIO, **PROJECTION)
    model = with_statistics(with_sharp_weights(transformers.ClapModel(config)))
    model.logit_scale_a.data.fill_(2.5)
    model.logit_scale_t.data.fill_(1.5)
    inputs = padded_ids(model)
    made = model(input_features=features, **inputs)
    exact = copy.deepcopy(model).double()(input_features=features.double(), **inputs).logits_per_audio
    tensors = inputs | {"input_features": as_taken(features), "audio_embeds": made.audio_embeds, "text_embeds": made.text_embeds,
                        "logits_per_audio": made.logits_per_audio}
    write("clap", "audio", model, tensors, [], (made.logits_per_audio - exact).abs().max())
    transformers.ClapFeatureExtractor(feature_size=BINS, max_length_s=1, frequency_min=50,
                                      truncation="rand_trunc").save_pretrained(MODELS / "clap")


for name in ("clap", "clap_audio", "clap_text"):
    if (MODELS / name).exists():
        sys.exit(f"{MODELS / name} is there: remove it first")
with torch.no_grad():
    write_audio(decibels())
    write_text()
    write_both(decibels())
