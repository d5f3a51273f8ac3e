#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a golden model of an encoder of transformers: make_encoder.py MODEL_TYPE NAME [KEY=JSON...]

Writes tests/golden/models/NAME: a tiny model with random weights, and the hidden states that the original computes of two
texts, one of them padded. KEY=JSON are further keys of its config. Needs torch, transformers and safetensors.
"""
import golden_model
import torch
import transformers

SIZES = {"hidden_size": 32, "intermediate_size": 60, "num_hidden_layers": 2, "num_attention_heads": 4,
         "vocab_size": 100, "max_position_embeddings": 64, "pad_token_id": 0}
TOKENS, PADDING = 23, 5

model_type, name, keys = golden_model.arguments(__doc__)
config = golden_model.config_of(model_type, SIZES | keys)
model = golden_model.with_sharp_weights(transformers.AutoModel.from_config(config))
ids = golden_model.random_ids(model, TOKENS, rows=2)
mask = torch.ones_like(ids)
ids[1, -PADDING:], mask[1, -PADDING:] = 0, 0
inputs = {"input_ids": ids, "attention_mask": mask}
with torch.no_grad():
    outputs = model(**inputs, output_hidden_states=True)
    exact = model.double()(**inputs).last_hidden_state
    model.float()
hidden = [state * mask[..., None] for state in outputs.hidden_states]
golden_model.write(name, "encoder", model, inputs | {"last_hidden_state": outputs.last_hidden_state * mask[..., None]},
                   hidden, ((outputs.last_hidden_state - exact) * mask[..., None]).abs().max())
