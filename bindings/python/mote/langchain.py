# SPDX-License-Identifier: Apache-2.0
"""Embeddings for LangChain: `from mote.langchain import MoteEmbeddings`. Needs the package langchain-core."""
from typing import Any, List

from langchain_core.embeddings import Embeddings

from ._adapter import DOCUMENT, QUERY, ModelOrPath, as_lists, opened, prompt_of


class MoteEmbeddings(Embeddings):
    """Vectors of documents and queries, with the model's prompts for them if it has such."""

    def __init__(self, model: ModelOrPath, *, batch_size: int = 64, truncate: bool = True, **options: Any) -> None:
        """Takes a .mote file or an open model; `options` are those of mote.open()."""
        self.model = opened(model, options)
        self.batch_size = batch_size
        self.truncate = truncate

    def embed_documents(self, texts: List[str]) -> List[List[float]]:
        name = prompt_of(self.model, DOCUMENT)
        vectors = self.model.embed(list(texts), batch_size=self.batch_size, prompt_name=name, truncate=self.truncate)
        return as_lists(vectors)

    def embed_query(self, text: str) -> List[float]:
        name = prompt_of(self.model, QUERY)
        return as_lists(self.model.embed([text], prompt_name=name, truncate=self.truncate))[0]
