# SPDX-License-Identifier: Apache-2.0
"""Calls that give texts and tokens."""
import ctypes
import json as json_module
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, Union, overload

from ._answer import Answer
from ._base import Base
from ._calls import run, run_short
from ._chat import Chat
from ._inputs import Ids, Inputs, Path, Picture, Texts, ids_array, one_or_more
from ._library import host
from ._options import SummarizeOptions, TokenizeOptions, TranslateOptions, options_json
from ._reply import Reply
from ._stream import Stream
from ._types import Attention, AttentionMap, Hypothesis, Tokens

if TYPE_CHECKING:
    from typing_extensions import Unpack

Message = Mapping[str, Any]
Prompt = Union[str, Ids, Sequence[Message], Mapping[str, Any]]
Stop = Union[None, str, Sequence[str]]


class TextCalls(Base):
    """Answers, conversations, translations, tokens."""

    def generate(
        self,
        prompt: Prompt,
        *,
        images: Sequence[Picture] = (),
        tokens: Optional[int] = None,
        greedy: Optional[bool] = None,
        temp: Optional[float] = None,
        top_k: Optional[int] = None,
        top_p: Optional[float] = None,
        min_p: Optional[float] = None,
        seed: Optional[int] = None,
        repeat_penalty: Optional[float] = None,
        stop: Stop = None,
        ignore_stop: Optional[bool] = None,
        speculate: Optional[Literal["off", "auto", "lookup", "draft"]] = None,
        speculate_max: Optional[int] = None,
        speculate_match: Optional[int] = None,
        chat: Optional[bool] = None,
        system: Optional[str] = None,
        set: Optional[Mapping[str, Any]] = None,
        context_full: Optional[Literal["stop", "slide"]] = None,
        save_state: Optional[Path] = None,
        load_state: Optional[Path] = None,
        **options: Any,
    ) -> Answer:
        """Returns what continues a prompt, part by part.

        The prompt is a text, which `chat=True` makes a message, token ids, or a conversation: a list of messages, or
        a mapping with "messages", "tools" and variables of the model's chat template.
        """
        given: Dict[str, Any] = {
            "tokens": tokens, "greedy": greedy, "temp": temp, "top_k": top_k, "top_p": top_p, "min_p": min_p,
            "seed": seed, "repeat_penalty": repeat_penalty, "stop": stop, "ignore_stop": ignore_stop, "speculate": speculate,
            "speculate_max": speculate_max, "speculate_match": speculate_match, "chat": chat, "system": system,
            "set": set, "context_full": context_full, "save_state": save_state,
            "load_state": load_state, **options,
        }  # fmt: skip
        inputs = Inputs(1 + len(images))
        if _is_conversation(prompt):
            given["messages"] = True
            prompt = json_module.dumps(prompt, ensure_ascii=False, allow_nan=False)
        if isinstance(prompt, str):
            inputs.set_text(0, prompt, "prompt")
        else:
            inputs.set_ids(0, prompt)
        for at, image in enumerate(images):
            inputs.set_picture(1 + at, image)
        json = options_json(given)
        generate = host().mote_host_generate

        def call(address: int, calls: Any) -> Any:
            with Reply(generate(address, *inputs.arguments(), json, ctypes.byref(calls))) as reply:
                return reply.json()

        return Answer(Stream(self._handle, call, ("text",)), self)

    def chat(
        self,
        *,
        system: Optional[str] = None,
        tokens: Optional[int] = None,
        greedy: Optional[bool] = None,
        temp: Optional[float] = None,
        top_k: Optional[int] = None,
        top_p: Optional[float] = None,
        min_p: Optional[float] = None,
        seed: Optional[int] = None,
        repeat_penalty: Optional[float] = None,
        stop: Stop = None,
        ignore_stop: Optional[bool] = None,
        speculate: Optional[Literal["off", "auto", "lookup", "draft"]] = None,
        speculate_max: Optional[int] = None,
        speculate_match: Optional[int] = None,
        set: Optional[Mapping[str, Any]] = None,
        context_full: Optional[Literal["stop", "slide"]] = None,
        **options: Any,
    ) -> Chat:
        """Begins a conversation, whose say() answers messages. By default it samples as the model's authors say."""
        given: Dict[str, Any] = {
            "system": system, "tokens": tokens, "greedy": greedy, "temp": temp, "top_k": top_k, "top_p": top_p,
            "min_p": min_p, "seed": seed, "repeat_penalty": repeat_penalty, "stop": stop,
            "ignore_stop": ignore_stop, "speculate": speculate, "speculate_max": speculate_max,
            "speculate_match": speculate_match, "set": set, "context_full": context_full, **options,
        }  # fmt: skip
        return Chat(self, self._handle, options_json(given))

    def save_state(self, prompt: Union[str, Ids], path: Path, **options: Any) -> "dict[str, Any]":
        """Computes a prompt and writes the session behind it to a file, which load_state goes on from."""
        return self.generate(prompt, save_state=os.fspath(path), tokens=1, **options).result

    def load_state(self, path: Path, prompt: Union[str, Ids], **options: Any) -> Answer:
        """Returns what continues a saved session and a prompt behind it. `options` are those of generate."""
        return self.generate(prompt, load_state=os.fspath(path), **options)

    @overload
    def translate(
        self,
        texts: Union[str, Texts, Sequence[Ids]],
        *,
        hypotheses: Literal[True],
        **options: "Unpack[TranslateOptions]",
    ) -> List[List[Hypothesis]]: ...

    @overload
    def translate(
        self,
        texts: str,
        *,
        hypotheses: Literal[False] = False,
        **options: "Unpack[TranslateOptions]",
    ) -> str: ...

    @overload
    def translate(
        self,
        texts: Texts,
        *,
        hypotheses: Literal[False] = False,
        **options: "Unpack[TranslateOptions]",
    ) -> List[str]: ...

    def translate(
        self,
        texts: Any,
        *,
        hypotheses: bool = False,
        **options: "Unpack[TranslateOptions]",
    ) -> Any:
        """Returns the translation of a text, or a list of them for several; with `hypotheses` all that were found.

        A model without a tokenizer takes lists of token ids, with `hypotheses`.
        """
        return self._rewrite(host().mote_host_translate, texts, hypotheses, options)

    @overload
    def summarize(self, texts: str, **options: "Unpack[SummarizeOptions]") -> str: ...

    @overload
    def summarize(self, texts: Texts, **options: "Unpack[SummarizeOptions]") -> List[str]: ...

    def summarize(self, texts: Any, **options: "Unpack[SummarizeOptions]") -> Any:
        """Returns a text in short, or a list of them for several."""
        return self._rewrite(host().mote_host_summarize, texts, False, options)

    def _rewrite(
        self, function: Callable[..., Optional[int]], texts: Any, hypotheses: bool, given: Mapping[str, Any]
    ) -> Any:
        values, alone = one_or_more(texts, (str,))
        inputs = Inputs(len(values))
        for at, value in enumerate(values):
            if isinstance(value, str) or not hypotheses:
                inputs.set_text(at, value, f"text {at}")
            else:
                inputs.set_ids(at, value)
        found = run(self._handle, function, inputs, options_json(given), Reply.json)
        if hypotheses:
            return [one["hypotheses"] for one in found]
        translated = [one["text"] for one in found]
        return translated[0] if alone else translated

    @overload
    def tokenize(
        self,
        text: str,
        pair: Optional[str] = None,
        *,
        offsets: Literal[False] = False,
        **options: "Unpack[TokenizeOptions]",
    ) -> List[int]: ...

    @overload
    def tokenize(
        self,
        text: str,
        pair: Optional[str] = None,
        *,
        offsets: Literal[True],
        **options: "Unpack[TokenizeOptions]",
    ) -> Tokens: ...

    def tokenize(
        self,
        text: str,
        pair: Optional[str] = None,
        *,
        offsets: bool = False,
        **options: "Unpack[TokenizeOptions]",
    ) -> Any:
        """Returns the token ids of a text or a pair of texts; with `offsets` also where each came from."""
        inputs = Inputs(1 if pair is None else 2)
        inputs.set_text(0, text)
        if pair is not None:
            inputs.set_text(1, pair, "second text")
        json = options_json({"offsets": bool(offsets), **options})
        with run_short(self._handle, host().mote_host_tokenize, *inputs.arguments(), json) as reply:
            return reply.json() if offsets else reply.ids()

    def detokenize(self, ids: Ids, *, special: Optional[bool] = None, **options: Any) -> str:
        """Returns the text of token ids; with `special` that of special tokens too."""
        held = ids_array(ids) if len(ids) else None
        json = options_json({"special": special, **options})
        address, count = (None, 0) if held is None else (held.ctypes.data, held.size)
        with run_short(self._handle, host().mote_host_detokenize, address, count, json) as reply:
            text: str = reply.json()["text"]
            return text

    def attention(self, text: str) -> Attention:
        """Returns who attends to whom over a text: the weights of every layer and head, by the reference kernels."""
        inputs = Inputs(1, alone=True)
        inputs.set_text(0, text)
        return run(self._handle, _attention, inputs, None, _maps)


def _attention(address: int, text: Any, _: None, calls: Any) -> Optional[int]:
    """Calls the function that has no options."""
    found: Optional[int] = host().mote_host_attention(address, text, calls)
    return found


def _maps(reply: Reply) -> Attention:
    said = reply.json()
    values = reply.values(1)
    maps: List[AttentionMap] = []
    for one in said["maps"]:
        shape = (one["heads"], one["rows"], one["keys"])
        end = one["offset"] + shape[0] * shape[1] * shape[2]
        maps.append(AttentionMap(one["program"], one["op"], one["crosses"], values[one["offset"] : end].reshape(shape)))
    return Attention(said["tokens"], said["answer_ids"], maps)


def _is_conversation(prompt: Prompt) -> bool:
    return isinstance(prompt, Mapping) or (
        isinstance(prompt, (list, tuple)) and len(prompt) > 0 and isinstance(prompt[0], Mapping)
    )
