# SPDX-License-Identifier: Apache-2.0
"""Calls that give vectors, scores and labels."""
import os
from itertools import islice
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, List, Optional, Sequence, Tuple, Union, overload

import numpy as np
import numpy.typing as npt

from ._base import Base, Progress, checked_count, reporter
from ._calls import run
from ._inputs import Inputs, Picture, Sound, one_or_more, text_inputs
from ._library import host
from ._options import ClassifyOptions, EmbedOptions, options_json
from ._reply import Reply
from ._types import Ranked, Reading

if TYPE_CHECKING:
    from typing_extensions import Unpack

Vectors = npt.NDArray[np.float32]
_SINGLE = (str, bytes, bytearray, memoryview, os.PathLike, np.ndarray)


def _json(reply: Reply) -> Any:
    return reply.json()


class VectorCalls(Base):
    """Vectors of texts and pictures, ranks, labels."""

    @overload
    def embed(
        self,
        inputs: str,
        *,
        batch_size: int = 64,
        progress: Progress = None,
        **options: "Unpack[EmbedOptions]",
    ) -> Vectors: ...

    @overload
    def embed(
        self,
        inputs: Iterator[Union[str, Picture]],
        *,
        batch_size: int = 64,
        progress: Progress = None,
        **options: "Unpack[EmbedOptions]",
    ) -> Iterator[Vectors]: ...

    @overload
    def embed(
        self,
        inputs: Union[Picture, Sequence[Union[str, Picture]]],
        *,
        batch_size: int = 64,
        progress: Progress = None,
        **options: "Unpack[EmbedOptions]",
    ) -> Vectors: ...

    def embed(
        self,
        inputs: Any,
        *,
        batch_size: int = 64,
        progress: Progress = None,
        **options: "Unpack[EmbedOptions]",
    ) -> Any:
        """Returns vectors, float32 [n, width], of texts, pictures or sounds, as the model takes them; of one alone [width].

        An iterator of texts gives an iterator of vectors, which takes `batch_size` of them at a time.
        """
        checked_count(batch_size, "batch_size")
        json = options_json(options)
        given: Any = inputs
        if type(inputs) is list:
            return self._embed_all(given, json, batch_size, reporter(progress))
        if isinstance(inputs, Iterator):
            return self._embed_some(given, json, batch_size)
        values, alone = one_or_more(inputs, _SINGLE)
        vectors = self._embed_all(values, json, batch_size, reporter(progress))
        return vectors[0] if alone else vectors

    def _embed_batch(self, values: List[Any], json: Optional[bytes]) -> Vectors:
        numbers = run(self._handle, host().mote_host_embed, self._inputs(values), json, Reply.numbers)
        return numbers.reshape(len(values), -1 if values else self._width)

    def _embed_some(self, inputs: Iterator[Any], json: Optional[bytes], batch_size: int) -> Iterator[Vectors]:
        while True:
            values = list(islice(inputs, batch_size))
            if not values:
                return
            yield from self._embed_batch(values, json)

    def _embed_all(
        self, values: List[Any], json: Optional[bytes], batch_size: int, told: Optional[Callable[[int, int], None]]
    ) -> Vectors:
        if len(values) <= batch_size and told is None:
            return self._embed_batch(values, json)
        vectors = np.empty((0, self._width), np.float32)
        for at in range(0, len(values), batch_size):
            some = self._embed_batch(values[at : at + batch_size], json)
            if at == 0:
                vectors = np.empty((len(values), some.shape[1]), np.float32)
            vectors[at : at + len(some)] = some
            if told is not None:
                told(min(at + batch_size, len(values)), len(values))
        return vectors

    def rank(
        self,
        query: str,
        texts: Iterable[str],
        *,
        top: Optional[int] = None,
        prompt: Optional[str] = None,
        prompt_name: Optional[str] = None,
        truncate: Optional[bool] = None,
        **options: Any,
    ) -> List[Ranked]:
        """Returns how near texts are to a query by their vectors, the nearest first."""
        given = {"top": top, "prompt": prompt, "prompt_name": prompt_name, "truncate": truncate, **options}
        return self._ranked(host().mote_host_rank, query, texts, options_json(given))

    def rerank(
        self,
        query: str,
        texts: Iterable[str],
        *,
        top: Optional[int] = None,
        truncate: Optional[bool] = None,
        **options: Any,
    ) -> List[Ranked]:
        """Returns the scores that a cross encoder gives texts with a query, the best first."""
        given = {"top": top, "truncate": truncate, **options}
        return self._ranked(host().mote_host_rerank, query, texts, options_json(given))

    def _ranked(
        self, function: Callable[..., Optional[int]], query: str, texts: Iterable[str], json: Optional[bytes]
    ) -> List[Ranked]:
        if isinstance(texts, str):
            raise TypeError("the texts are one str; give a list")
        held = list(texts)
        inputs = Inputs(1 + len(held))
        inputs.set_text(0, query, "query")
        for at, text in enumerate(held):
            inputs.set_text(1 + at, text, f"text {at}")
        found: List[Ranked] = run(self._handle, function, inputs, json, _json)
        return found

    @overload
    def classify(
        self,
        inputs: Union[str, Picture, Sound],
        *,
        labels: Optional[Sequence[str]] = None,
        rate: Optional[int] = None,
        **options: "Unpack[ClassifyOptions]",
    ) -> Reading: ...

    @overload
    def classify(
        self,
        inputs: Union[List[Any], Tuple[Any, ...], Iterator[Any]],
        *,
        labels: Optional[Sequence[str]] = None,
        rate: Optional[int] = None,
        **options: "Unpack[ClassifyOptions]",
    ) -> List[Reading]: ...

    def classify(
        self,
        inputs: Any,
        *,
        labels: Optional[Sequence[str]] = None,
        rate: Optional[int] = None,
        **options: "Unpack[ClassifyOptions]",
    ) -> Any:
        """Returns what the model's head says of a text, picture or sound, or a list of it for several.

        With `pairs=True` a list of pairs of texts is given. `labels` are texts that pictures or sounds are compared with,
        by the tower of texts that the model was opened with (`text_model`).
        """
        json = options_json(options)
        values, alone = one_or_more(inputs, _SINGLE)
        if options.get("pairs"):
            return self._classify(text_inputs(_sides(values)), json)
        if labels is None:
            found = self._classify(self._inputs(values, rate), json)
            return found[0] if alone else found
        if isinstance(labels, str):
            raise TypeError("the labels are one str; give a list")
        both = Inputs(len(values) + len(labels))
        for at, value in enumerate(values):
            if self._takes_sounds:
                both.set_sound(at, value, rate)
            else:
                both.set_picture(at, value)
        for at, label in enumerate(labels):
            both.set_text(len(values) + at, label, f"label {at}")
        found = self._classify(both, json)
        return found[0] if alone else found

    def _classify(self, inputs: Inputs, json: Optional[bytes]) -> List[Reading]:
        found: List[Reading] = run(self._handle, host().mote_host_classify, inputs, json, _json)
        return found


def _sides(pairs: List[Any]) -> List[Any]:
    """Returns the texts of pairs, one behind the other."""
    texts: List[Any] = []
    for at, pair in enumerate(pairs):
        if isinstance(pair, str) or len(pair) != 2:
            raise TypeError(f"input {at} is no pair of texts")
        texts += pair
    return texts
