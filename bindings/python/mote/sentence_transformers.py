# SPDX-License-Identifier: Apache-2.0
"""SentenceTransformer with the calls of the package sentence-transformers, over a .mote file. Texts are cut as there."""
import importlib
from typing import Any, List, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._adapter import DOCUMENT, QUERY, ModelOrPath, Vectors, opened, prompt_of, refuse

_SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")


class SentenceTransformer:
    """Vectors of texts."""

    def __init__(
        self,
        model_name_or_path: ModelOrPath,
        *,
        device: Optional[str] = None,
        prompts: Optional["dict[str, str]"] = None,
        default_prompt_name: Optional[str] = None,
        similarity_fn_name: Optional[str] = None,
        truncate_dim: Optional[int] = None,
        **options: Any,
    ) -> None:
        """Takes a .mote file or an open model; `options` are those of mote.open().

        `prompts` are added to those of the file.
        """
        if device not in (None, "cpu"):
            raise TypeError(f"mote does not support the argument device={device!r}; it computes on the cpu")
        self.model = opened(model_name_or_path, options)
        about = self.model.info()
        self.prompts = dict(prompts or {})
        self._own_prompts: List[str] = list(about["prompts"])
        self.default_prompt_name = default_prompt_name
        if default_prompt_name is not None:
            self._require_prompt(default_prompt_name)
        self.similarity_fn_name = similarity_fn_name or str(about.get("similarity", "cosine"))
        if self.similarity_fn_name not in _SIMILARITIES:
            raise ValueError(f"similarity_fn_name is {self.similarity_fn_name!r}; there are {', '.join(_SIMILARITIES)}")
        self.truncate_dim = truncate_dim
        self.max_seq_length = int(about["context"])

    def encode(
        self,
        sentences: Union[str, Sequence[str], npt.NDArray[Any]],
        prompt_name: Optional[str] = None,
        prompt: Optional[str] = None,
        batch_size: int = 32,
        show_progress_bar: Optional[bool] = None,
        output_value: Optional[str] = "sentence_embedding",
        precision: str = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: Optional[str] = None,
        normalize_embeddings: bool = False,
        truncate_dim: Optional[int] = None,
        **unknown: Any,
    ) -> Any:
        """Returns the vectors of texts, float32 [n, width], or of one [width].

        `convert_to_tensor` makes them one tensor of torch and `convert_to_numpy=False` a list of such.
        """
        refuse(unknown)
        if output_value != "sentence_embedding":
            raise TypeError(f"mote does not support the argument output_value={output_value!r}")
        if precision != "float32":
            raise TypeError(f"mote does not support the argument precision={precision!r}")
        if device not in (None, "cpu"):
            raise TypeError(f"mote does not support the argument device={device!r}")
        alone = isinstance(sentences, str)
        texts: List[str] = [sentences] if isinstance(sentences, str) else list(sentences)
        given = self._prompt(prompt_name, prompt)
        vectors: Vectors = self.model.embed(
            texts, batch_size=batch_size, progress=bool(show_progress_bar), truncate=True, **given
        )
        width = truncate_dim if truncate_dim is not None else self.truncate_dim
        if width is not None:
            vectors = vectors[:, :width]
        if normalize_embeddings:
            vectors = _normalized(vectors)
        return _as_asked(np.ascontiguousarray(vectors), alone, convert_to_numpy, convert_to_tensor)

    def encode_query(self, sentences: Union[str, Sequence[str]], **options: Any) -> Any:
        """Returns what encode does, with the model's prompt "query" if it has one."""
        return self._encode_as(QUERY, sentences, options)

    def encode_document(self, sentences: Union[str, Sequence[str]], **options: Any) -> Any:
        """Returns what encode does, with the first prompt of "document", "passage" and "corpus" that the model has."""
        return self._encode_as(DOCUMENT, sentences, options)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Vectors:
        """Returns how alike each of the first vectors is to each of the second, float32 [n, m]."""
        first, second = (np.atleast_2d(np.asarray(given, np.float32)) for given in (embeddings1, embeddings2))
        return self._alike(first[:, None, :], second[None, :, :])

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Vectors:
        """Returns how alike each of the first vectors is to the second one of its place, float32 [n]."""
        first, second = (np.atleast_2d(np.asarray(given, np.float32)) for given in (embeddings1, embeddings2))
        return self._alike(first, second)

    def tokenize(self, texts: Sequence[str]) -> List[List[int]]:
        """Returns the token ids of texts, uncut."""
        return [self.model.tokenize(text) for text in texts]

    def get_sentence_embedding_dimension(self) -> int:
        return self.model.width if self.truncate_dim is None else min(self.truncate_dim, self.model.width)

    get_embedding_dimension = get_sentence_embedding_dimension

    def _alike(self, first: Vectors, second: Vectors) -> Vectors:
        """Compares along the last side; a distance is less where they are more alike, so that its negative is given."""
        if self.similarity_fn_name == "euclidean":
            return np.asarray(-np.sqrt(((first - second) ** 2).sum(-1)), np.float32)
        if self.similarity_fn_name == "manhattan":
            return np.asarray(-np.abs(first - second).sum(-1), np.float32)
        if self.similarity_fn_name == "cosine":
            first, second = _normalized(first), _normalized(second)
        if first.ndim == 3:
            return np.asarray(first[:, 0, :] @ second[0].T, np.float32)
        return np.asarray((first * second).sum(-1), np.float32)

    def _encode_as(self, names: Sequence[str], sentences: Union[str, Sequence[str]], options: "dict[str, Any]") -> Any:
        if options.get("prompt") is None and options.get("prompt_name") is None:
            options["prompt_name"] = next((name for name in names if name in self.prompts), None) or prompt_of(
                self.model, names
            )
        return self.encode(sentences, **options)

    def _require_prompt(self, name: str) -> None:
        if name not in self.prompts and name not in self._own_prompts:
            held = sorted({*self.prompts, *self._own_prompts})
            raise ValueError(f"no prompt {name!r}; there are {held}")

    def _prompt(self, name: Optional[str], text: Optional[str]) -> "dict[str, Any]":
        """Returns the option of embed for a prompt, a prompt's name, or the default."""
        if text is not None:
            return {"prompt": text}
        name = name if name is not None else self.default_prompt_name
        if name is None:
            return {}
        self._require_prompt(name)
        return {"prompt": self.prompts[name]} if name in self.prompts else {"prompt_name": name}


def _normalized(vectors: Vectors) -> Vectors:
    """Returns vectors of length 1 along the last side; zeros stay."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, np.float32(1e-12)), np.float32)


def _as_asked(vectors: Vectors, alone: bool, convert_to_numpy: bool, convert_to_tensor: bool) -> Any:
    if convert_to_numpy and not convert_to_tensor:
        return vectors[0] if alone else vectors
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        name = "convert_to_tensor=True" if convert_to_tensor else "convert_to_numpy=False"
        raise TypeError(f"mote does not support the argument {name} without torch") from None
    tensor = torch.from_numpy(vectors)
    if alone:
        return tensor[0]
    return tensor if convert_to_tensor else list(tensor)
