# SPDX-License-Identifier: Apache-2.0
"""Conversions of models as their authors publish them, and chat templates."""
import ctypes
import json
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union, cast

from . import _declarations as d
from ._error import Cancelled, Error
from ._inputs import Inputs, Path, path_bytes
from ._library import converter, host
from ._options import options_json
from ._reply import Reply

_Callback: Dict[str, Any] = dict(cast(Any, d.mote_convert_calls._fields_))


class _Conversion:
    """A conversion on a thread of its own, which another waits for."""

    def __init__(self, source: bytes, output: bytes, options: Optional[bytes]) -> None:
        self.cancelled = False
        self.stages: List[Any] = []  # what progress was told and nobody has seen yet
        self.result: Optional[int] = None
        self.changed = threading.Semaphore(0)
        self.ended = False
        self._arguments = (source, output, options)

    def run(self) -> None:
        try:
            calls = d.mote_convert_calls(
                stop=_Callback["stop"](self._stop), progress=_Callback["progress"](self._told)
            )
            self.result = converter().mote_convert(*self._arguments, ctypes.byref(calls))
        finally:
            self.ended = True
            self.changed.release()

    def _stop(self, _: object) -> int:
        return 1 if self.cancelled else 0

    def _told(self, _: object, stage: bytes, part: float) -> None:
        self.stages.append((stage.decode("utf-8", "replace"), part))
        self.changed.release()

    def wait(self, progress: Optional[Callable[[str, float], None]]) -> None:
        """Waits for the end. Where `progress` or a signal's handler raises, the conversion leaves nothing behind."""
        thread = threading.Thread(target=self.run, name="mote convert", daemon=True)
        try:
            thread.start()
            while not self.ended:
                self.changed.acquire()
                while self.stages:
                    stage, part = self.stages.pop(0)
                    if progress is not None:
                        progress(stage, part)
        except BaseException:
            self.cancelled = True
            while thread.ident is not None and not self.ended:
                self.changed.acquire()
            if self.result is not None:
                converter().mote_convert_free(self.result)
            raise


def _taken(result: Optional[int]) -> Any:
    """Returns the JSON of a result and frees it; raises where it failed."""
    if result is None:
        raise MemoryError("mote has no memory for a conversion")
    library = converter()
    try:
        status = library.mote_convert_status(result)
        if status != d.OK:
            sentence = library.mote_convert_sentence(result).decode("utf-8", "replace")
            kind = Cancelled if status == d.CANCELLED else Error
            raise kind(sentence, host().mote_status_name(status).decode())
        return json.loads(library.mote_convert_json(result))
    finally:
        library.mote_convert_free(result)


def convert(
    source: Path,
    output: Path,
    *,
    type: Optional[str] = None,
    head_type: Optional[str] = None,
    calibrate: Optional[Path] = None,
    lora: Union[None, str, Sequence[str]] = None,
    chat_format: Optional[str] = None,
    thinking: Optional[str] = None,
    pooling: Optional[str] = None,
    normalize: Optional[bool] = None,
    tower: Optional[str] = None,
    picture_size: Optional[str] = None,
    any_picture_size: Optional[str] = None,
    language: Optional[str] = None,
    ignore_key: Union[None, str, Sequence[str]] = None,
    no_tokenizer: Optional[bool] = None,
    small_tables: Optional[bool] = None,
    long_context: Optional[bool] = None,
    progress: Optional[Callable[[str, float], None]] = None,
    **options: Any,
) -> "dict[str, Any]":
    """Converts a model's directory or file to a .mote file; returns what became of it.

    `progress` is told the stage and the part of it that is done. A failure leaves `output` as it was.
    """
    given = options_json(
        {
            "type": type, "head_type": head_type, "calibrate": calibrate, "lora": lora, "chat_format": chat_format,
            "thinking": thinking, "pooling": pooling, "normalize": normalize, "tower": tower,
            "picture_size": picture_size, "any_picture_size": any_picture_size, "language": language,
            "ignore_key": ignore_key, "no_tokenizer": no_tokenizer, "small_tables": small_tables,
            "long_context": long_context, **options,
        }  # fmt: skip
    )
    conversion = _Conversion(path_bytes(source), path_bytes(output), given)
    converter()
    conversion.wait(progress)
    found: "dict[str, Any]" = _taken(conversion.result)
    return found


def convert_list() -> "dict[str, Any]":
    """Returns what options and sources may name: "architectures", "types", "head_types", "chat_formats"."""
    found: "dict[str, Any]" = _taken(converter().mote_convert_list())
    return found


def template(
    template: str,
    conversation: Union[Sequence[Mapping[str, Any]], Mapping[str, Any]],
    *,
    date: Optional[str] = None,
    no_answer: Optional[bool] = None,
    set: Optional[Mapping[str, Any]] = None,
    **options: Any,
) -> str:
    """Returns what a chat template in Jinja makes of a conversation."""
    inputs = Inputs(2)
    inputs.set_text(0, template, "template")
    inputs.set_text(1, json.dumps(conversation, ensure_ascii=False, allow_nan=False), "conversation")
    given = options_json({"date": date, "no_answer": no_answer, "set": set, **options})
    with Reply(host().mote_host_template(*inputs.arguments(), given)) as reply:
        return reply.bytes().decode("utf-8", "replace")
