#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes models/*_sound_labels: tiny models of wav2vec 2.0's kind that label sounds, with the original's logits and hidden
states. Needs numpy, torch, transformers and safetensors."""
import copy
import sys

import numpy
import torch
import transformers
from golden_model import MODELS, config_of, error_of_rounded_weights, with_sharp_weights, write

SIZES = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 52, "conv_dim": [16, 20, 20],
    "conv_kernel": [10, 8, 3], "conv_stride": [5, 4, 2], "num_feat_extract_layers": 3, "num_conv_pos_embeddings": 6,
    "num_conv_pos_embedding_groups": 4, "classifier_proj_size": 20, "vocab_size": 32, "num_buckets": 16, "max_bucket_distance": 32,
    "id2label": {i: name for i, name in enumerate(["yes", "no", "up", "down", "silence"])},
    "label2id": {name: i for i, name in enumerate(["yes", "no", "up", "down", "silence"])},
}
WHISPER = {"d_model": 32, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 52, "decoder_layers": 1,
           "decoder_attention_heads": 4, "decoder_ffn_dim": 52, "num_mel_bins": 80, "max_source_positions": 24, "vocab_size": 100,
           "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 3, "num_hidden_layers": 2}
MODELS_OF = {
    "wav2vec2_sound_labels": ("wav2vec2", "Wav2Vec2ForSequenceClassification", {"use_weighted_layer_sum": True}),
    "hubert_sound_labels": ("hubert", "HubertForSequenceClassification", {"do_stable_layer_norm": True, "feat_extract_norm": "layer"}),
    "whisper_sound_labels": ("whisper", "WhisperForAudioClassification", WHISPER),
    "conformer_sound_labels": ("wav2vec2-conformer", "Wav2Vec2ConformerForSequenceClassification",
                               {"position_embeddings_type": "rotary", "conv_depthwise_kernel_size": 5}),
    "wavlm_sound_labels": ("wavlm", "WavLMForSequenceClassification", {"use_weighted_layer_sum": True}),
}
SAMPLES, SEED = 1100, 3

for name, (kind, architecture, keys) in MODELS_OF.items():
    if (MODELS / name).exists():
        sys.exit(f"{MODELS / name} is there: remove it first")
    config = config_of(kind, SIZES | keys)
    model = with_sharp_weights(getattr(transformers, architecture)(config), SEED)
    hears_features = kind == "whisper"  # [frames, bins] in the file, as mote takes them
    shape = (2, 80, 48) if hears_features else (2, SAMPLES)
    values = torch.from_numpy(numpy.random.default_rng(3).standard_normal(shape, dtype=numpy.float32))
    with torch.no_grad():
        made = model(values, output_hidden_states=True)
        exact = copy.deepcopy(model).double()(values.double())
    difference = (made.logits - exact.logits).abs().max()
    given = {"input_features": values.transpose(1, 2)} if hears_features else {"input_values": values}
    write(name, "audio", model, given | {"logits": made.logits}, made.hidden_states, difference,
          error_of_rounded_weights(model, values))
