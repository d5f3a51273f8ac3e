# SPDX-License-Identifier: Apache-2.0
"""TextEmbedding with the calls of the package fastembed, over a .mote file. Texts are cut as there."""
from typing import Any, Iterable, Iterator, Optional, Sequence, Union

from ._adapter import DOCUMENT, QUERY, ModelOrPath, Vectors, opened, prompt_of, refuse


class TextEmbedding:
    """Vectors of texts, one at a time."""

    def __init__(
        self,
        model_name: ModelOrPath,
        cache_dir: Optional[str] = None,
        threads: Optional[int] = None,
        providers: Optional[Sequence[Any]] = None,
        cuda: Any = False,
        device_ids: Optional[Sequence[int]] = None,
        lazy_load: bool = False,
        **options: Any,
    ) -> None:
        """Takes a .mote file or an open model; `options` are those of mote.open()."""
        refuse({"cache_dir": cache_dir, "providers": providers, "cuda": cuda, "device_ids": device_ids})
        refuse({"lazy_load": lazy_load})
        given = options if threads is None else {"threads": threads, **options}
        self.model = opened(model_name, given)

    @property
    def embedding_size(self) -> int:
        return self.model.width

    def embed(
        self,
        documents: Union[str, Iterable[str]],
        batch_size: int = 256,
        parallel: Optional[int] = None,
        **unknown: Any,
    ) -> Iterator[Vectors]:
        """Gives a vector for each text, by the model's own default prompt if it has one."""
        refuse({"parallel": parallel, **unknown})
        return self._embed(documents, batch_size, None)

    def query_embed(self, query: Union[str, Iterable[str]], **unknown: Any) -> Iterator[Vectors]:
        """Gives a vector for each query, with the model's prompt "query" if it has one."""
        refuse(unknown)
        return self._embed(query, 256, prompt_of(self.model, QUERY))

    def passage_embed(self, texts: Union[str, Iterable[str]], **unknown: Any) -> Iterator[Vectors]:
        """Gives a vector for each text, with the model's prompt of documents if it has one."""
        refuse(unknown)
        return self._embed(texts, 256, prompt_of(self.model, DOCUMENT))

    def _embed(self, texts: Union[str, Iterable[str]], batch_size: int, prompt_name: Optional[str]) -> Iterator[Vectors]:
        several = iter([texts]) if isinstance(texts, str) else iter(texts)
        return self.model.embed(several, batch_size=batch_size, prompt_name=prompt_name, truncate=True)
