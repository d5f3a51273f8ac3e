#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes models/swin: a tiny Swin of three stages with positions of its patches, and what the original computes of two
pictures. Needs numpy, torch, transformers and safetensors."""
import golden_model
import numpy
import torch
import transformers

config = transformers.SwinConfig(image_size=24, patch_size=2, embed_dim=8, depths=[2, 2, 2], num_heads=[2, 2, 4], window_size=3,
                                 mlp_ratio=2.0, use_absolute_embeddings=True, architectures=["SwinModel"])
model = golden_model.with_sharp_weights(transformers.SwinModel(config))
pixels = torch.from_numpy(numpy.random.default_rng(2).standard_normal((2, 3, 24, 24), dtype=numpy.float32))
with torch.no_grad():
    outputs = model(pixels, output_hidden_states=True)
    exact = model.double()(pixels.double()).last_hidden_state
    model.float()
golden_model.write("swin", "vision", model,
                   {"pixel_values": pixels, "last_hidden_state": outputs.last_hidden_state, "pooler_output": outputs.pooler_output},
                   outputs.hidden_states, (outputs.last_hidden_state - exact).abs().max())
