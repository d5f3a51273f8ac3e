# SPDX-License-Identifier: Apache-2.0
"""Embeddings for LlamaIndex: `from mote.llama_index import MoteEmbedding`. Needs the package llama-index-core."""
import asyncio
from typing import Any, List, Sequence

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr

from ._adapter import DOCUMENT, QUERY, ModelOrPath, as_lists, opened, prompt_of
from ._model import Model

_OWN = ("embed_batch_size", "callback_manager", "num_workers", "embeddings_cache", "rate_limiter")


class MoteEmbedding(BaseEmbedding):
    """Vectors of texts and queries, with the model's prompts for them if it has such."""

    truncate: bool = True

    _model: Model = PrivateAttr()

    def __init__(self, model: ModelOrPath, *, truncate: bool = True, **options: Any) -> None:
        """Takes a .mote file or an open model; `options` are those of BaseEmbedding and of mote.open()."""
        own = {name: options.pop(name) for name in _OWN if name in options}
        held = opened(model, options)
        super().__init__(model_name=held.name, **own)
        self.truncate = truncate
        self._model = held

    @classmethod
    def class_name(cls) -> str:
        return "MoteEmbedding"

    def _vectors(self, texts: List[str], names: Sequence[str]) -> List[List[float]]:
        name = prompt_of(self._model, names)
        return as_lists(self._model.embed(texts, prompt_name=name, truncate=self.truncate))

    def _get_query_embedding(self, query: str) -> List[float]:
        return self._vectors([query], QUERY)[0]

    def _get_text_embedding(self, text: str) -> List[float]:
        return self._vectors([text], DOCUMENT)[0]

    def _get_text_embeddings(self, texts: List[str]) -> List[List[float]]:
        return self._vectors(texts, DOCUMENT)

    async def _aget_query_embedding(self, query: str) -> List[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> List[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)
