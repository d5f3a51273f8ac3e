# SPDX-License-Identifier: Apache-2.0
"""Writes the SST-2 classifier of realdata (model.pt, a plain PyTorch encoder) as a Hugging Face directory.

Usage: sst2_to_hf.py MODEL_PT OUT [TOKENIZER_JSON]

The model knows 4998 of BERT's 30522 word pieces and reads every other one as [UNK]. The embedding is spread out to all
of them, so that BERT's own tokenizer serves.
"""
import json
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

checkpoint = torch.load(sys.argv[1], map_location="cpu", weights_only=True)
out, config = Path(sys.argv[2]), checkpoint["config"]
tensors = {name.replace("in_proj_", "in_proj."): tensor for name, tensor in checkpoint["model_state_dict"].items()}
rows = [checkpoint["old_to_new"].get(piece, checkpoint["unk_new_id"]) for piece in range(30522)]
tensors["token_embedding.weight"] = tensors["token_embedding.weight"][rows].contiguous()
out.mkdir(parents=True, exist_ok=True)
save_file(tensors, out / "model.safetensors")
(out / "config.json").write_text(json.dumps({
    "model_type": "torch_encoder", "architectures": ["ForSequenceClassification"], "vocab_size": len(rows),
    "max_position": config["max_position"], "d_model": config["d_model"], "nhead": config["n_heads"],
    "num_layers": config["n_layers"], "dim_feedforward": config["d_ff"], "norm_first": True, "activation": "gelu",
    "id2label": {"0": "negative", "1": "positive"}}, indent=2))
if len(sys.argv) > 3:
    shutil.copy(sys.argv[3], out / "tokenizer.json")
