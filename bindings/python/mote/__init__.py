# SPDX-License-Identifier: Apache-2.0
"""Trained transformers on a CPU: texts, sounds and pictures in; texts, vectors and labels out.

    import mote

    with mote.open("minilm.mote") as model:
        vectors = model.embed(["a cat", "a dog"])  # float32 [2, width]

docs/python.md has all calls. Options are keywords: the long options of the command `mote`, with underscores for dashes.
"""
from typing import TYPE_CHECKING, Any

from ._answer import Answer
from ._chat import Chat
from ._convert import convert, convert_list, template
from ._error import Cancelled, Error
from ._get import get
from ._model import Model
from ._model import open_model as open
from ._types import (
    Attention, AttentionMap, Box, Detection, Fill, Hypothesis, Label, Ranked, Reading, Segment, Span, Speech, Tokens,
    Transcript,
)  # fmt: skip

if TYPE_CHECKING:
    from .fastembed import TextEmbedding
    from .sentence_transformers import SentenceTransformer

__version__ = "0.1.0"
__all__ = [
    "Answer", "Attention", "AttentionMap", "Box", "Cancelled", "Chat", "Detection", "Error", "Fill", "Hypothesis",
    "Label", "Model", "Ranked", "Reading", "Segment", "SentenceTransformer", "Span", "Speech", "TextEmbedding",
    "Tokens", "Transcript", "convert", "convert_list", "get", "open", "template",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Imports the classes after other packages' when they are first asked for."""
    if name == "SentenceTransformer":
        from .sentence_transformers import SentenceTransformer

        return SentenceTransformer
    if name == "TextEmbedding":
        from .fastembed import TextEmbedding

        return TextEmbedding
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
