#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes sizes/yolos_30x48.safetensors: pixel values of another size than models/yolos has, and the original's outputs
with its positions resized to that. Needs numpy, torch, transformers and safetensors."""
import pathlib

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import YolosForObjectDetection

GOLDEN = pathlib.Path(__file__).parent
HEIGHT, WIDTH = 48, 30

model = YolosForObjectDetection.from_pretrained(GOLDEN / "models/yolos", dtype=torch.float32).eval()
places = np.arange(3 * HEIGHT * WIDTH)
waves = np.round(64 * (np.sin(places * 0.37) + np.cos(places * 0.011))) / 64
pixels = torch.tensor(waves.astype(np.float32).reshape(1, 3, HEIGHT, WIDTH))
with torch.no_grad():
    outputs = model(pixel_values=pixels)
save_file({"pixel_values": pixels, "logits": outputs.logits.contiguous(),
           "pred_boxes": outputs.pred_boxes.contiguous()}, GOLDEN / "sizes/yolos_30x48.safetensors")
