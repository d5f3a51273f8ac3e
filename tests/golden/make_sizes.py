#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes sizes/*.safetensors: pixel values of other sizes than models/* have, and the original's outputs with its
positions resized to that. Needs numpy, torch, transformers and safetensors.

yolos_30x48 is of a file for that size; the others, of files for any size, have pixel_values.WIDTHxHEIGHT and
output.WIDTHxHEIGHT for a square, a wide and a tall picture. Those of Swin are at least as large as a window in each stage;
one has odd numbers of patches, which are filled up."""
import pathlib

import numpy as np
import torch
import transformers
from safetensors.torch import save_file

GOLDEN = pathlib.Path(__file__).parent
SIZES = [(36, 36), (48, 12), (18, 54)]  # width, height; the second has as many patches as the model's own
SWIN_SIZES = {"swin_classifier": [(32, 32), (60, 32), (32, 72), (44, 36)], "swin": [(24, 24), (54, 22), (20, 38), (26, 30)]}


def waves(width, height):
    places = np.arange(3 * height * width)
    values = np.round(64 * (np.sin(places * 0.37) + np.cos(places * 0.011))) / 64
    return torch.tensor(values.astype(np.float32).reshape(1, 3, height, width))


def loaded(kind, name):
    return getattr(transformers, kind).from_pretrained(GOLDEN / "models" / name, dtype=torch.float32).eval()


def unit(vectors):
    vectors = getattr(vectors, "pooler_output", vectors)
    return vectors / vectors.norm(dim=-1, keepdim=True)


def naflex(model, pixels):
    """Returns the vector of patches [height, width, channels] as SigLIP 2's processor makes them, four of padding behind."""
    patch, (height, width) = model.config.vision_config.patch_size, pixels.shape[2:]
    rows, columns = height // patch, width // patch
    patches = pixels.reshape(3, rows, patch, columns, patch).permute(1, 3, 2, 4, 0).reshape(1, rows * columns, -1)
    patches = torch.nn.functional.pad(patches, (0, 0, 0, 4))
    mask = torch.tensor([[1] * (rows * columns) + [0] * 4])
    return model.get_image_features(patches, pixel_attention_mask=mask, spatial_shapes=torch.tensor([[rows, columns]]))


def labels_and_boxes(outputs):
    return torch.cat([outputs.logits, outputs.pred_boxes], dim=-1)


# Each gives the output that mote's file has.
MODELS = {
    "vit_classifier": ("ViTForImageClassification", lambda model, pixels: model(pixels, interpolate_pos_encoding=True).logits),
    "deit_distilled": ("DeiTForImageClassificationWithTeacher", lambda model, pixels: model(pixels, interpolate_pos_encoding=True).logits),
    "dinov2": ("Dinov2Model", lambda model, pixels: model(pixels).pooler_output),
    "dinov3_vit": ("DINOv3ViTModel", lambda model, pixels: model(pixels).pooler_output),
    "siglip2": ("Siglip2Model", lambda model, pixels: unit(naflex(model, pixels))),
    "swin_classifier": ("SwinForImageClassification", lambda model, pixels: model(pixels).logits),
    "swin": ("SwinModel", lambda model, pixels: model(pixels, interpolate_pos_encoding=True).pooler_output),
    "depth_anything": ("DepthAnythingForDepthEstimation", lambda model, pixels: model(pixels).predicted_depth),
    "yolos": ("YolosForObjectDetection", lambda model, pixels: labels_and_boxes(model(pixels))),
    "clip": ("CLIPModel", lambda model, pixels: unit(model.get_image_features(pixels, interpolate_pos_encoding=True))),
    "siglip": ("SiglipModel", lambda model, pixels: unit(model.get_image_features(pixels, interpolate_pos_encoding=True))),
}

with torch.no_grad():
    yolos = loaded("YolosForObjectDetection", "yolos")
    picture = waves(30, 48)
    outputs = yolos(pixel_values=picture)
    save_file({"pixel_values": picture, "logits": outputs.logits.contiguous(), "pred_boxes": outputs.pred_boxes.contiguous()},
              GOLDEN / "sizes/yolos_30x48.safetensors")
    for name, (kind, run) in MODELS.items():
        arrays = {}
        for width, height in SWIN_SIZES.get(name, SIZES):
            model = loaded(kind, name)  # Swin keeps what it found out of the size before
            picture = waves(width, height)
            arrays[f"pixel_values.{width}x{height}"] = picture
            arrays[f"output.{width}x{height}"] = run(model, picture).contiguous()
        save_file(arrays, GOLDEN / f"sizes/{name}.safetensors")
