# SPDX-License-Identifier: Apache-2.0
"""Trained transformers on a CPU: texts, sounds and pictures in; texts, vectors and labels out.

    import mote

    with mote.open("minilm.mote") as model:
        vectors = model.embed(["a cat", "a dog"])  # float32 [2, width]

docs/python.md has all calls. Options are keywords: the long options of the command `mote`, with underscores for dashes.
"""
from ._answer import Answer
from ._chat import Chat
from ._convert import convert, convert_list, template
from ._error import Cancelled, Error
from ._model import Model
from ._model import open_model as open
from ._types import (
    Attention, AttentionMap, Box, Detection, Fill, Hypothesis, Label, Ranked, Reading, Segment, Span, Speech, Tokens,
    Transcript,
)  # fmt: skip

__version__ = "0.1.0"
__all__ = [
    "Answer", "Attention", "AttentionMap", "Box", "Cancelled", "Chat", "Detection", "Error", "Fill", "Hypothesis",
    "Label", "Model", "Ranked", "Reading", "Segment", "Span", "Speech",
    "Tokens", "Transcript", "convert", "convert_list", "open", "template",
]  # fmt: skip
