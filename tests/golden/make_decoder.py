#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a golden model of a decoder of transformers: make_decoder.py MODEL_TYPE NAME [KEY=JSON...]

Writes tests/golden/models/NAME: a tiny model with random weights, and the logits, hidden states and greedy ids that the
original computes. KEY=JSON are further keys of its config. Needs torch, transformers and safetensors.
"""
import golden_model
import torch
import transformers

SIZES = {"hidden_size": 32, "intermediate_size": 60, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 100, "max_position_embeddings": 64,
         "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
TOKENS, GREEDY = 37, 24

model_type, name, keys = golden_model.arguments(__doc__)
config = golden_model.config_of(model_type, SIZES | keys)
model = golden_model.with_sharp_weights(transformers.AutoModelForCausalLM.from_config(config))
ids, greedy = golden_model.prompt_with_clear_answer(model, TOKENS, GREEDY)
with torch.no_grad():
    outputs = model(input_ids=ids, output_hidden_states=True, use_cache=False)
    exact = model.double()(input_ids=ids, use_cache=False).logits
    model.float()
golden_model.write(name, "decoder", model, {"input_ids": ids, "logits": outputs.logits, "greedy_ids": greedy},
                   outputs.hidden_states, (outputs.logits - exact).abs().max())
